"""`surefit hardware`: what this machine can train on."""

from typing import TYPE_CHECKING

import click

from surefit.cli.drawing import heading, paragraph
from surefit.cli.output import json_option, print_json, width_now

if TYPE_CHECKING:
    from surefit.hardware.machine import Device, Hardware


@click.command("hardware")
@json_option
def hardware_command(as_json: bool) -> None:
    """Show what this machine can train on: devices, memory, cores, disk."""
    from surefit.hardware import detect_machine
    from surefit.home import home_folder

    machine = detect_machine(home_folder())
    if as_json:
        print_json(machine.model_dump(mode="json"))
    else:
        click.echo(_text(machine))


def _text(machine: "Hardware") -> str:
    from surefit.units import bytes_text

    lines = [heading(machine.name)]
    for device in machine.devices:
        lines += _device(device)
    cores = f"{machine.cpu_cores} usable, {machine.load:.1f} in use by others now"
    memory = f"{bytes_text(machine.ram_free_bytes)} free of {bytes_text(machine.ram_total_bytes)}"
    disk = f"{bytes_text(machine.disk_free_bytes)} free under {machine.disk_folder}"
    return "\n".join([*lines, f"  cores   {cores}", f"  memory  {memory}", f"  disk    {disk}"])


def _device(device: "Device") -> list[str]:
    from surefit.units import bytes_text

    width = width_now()
    memory = f"{bytes_text(device.free_bytes)} free of {bytes_text(device.total_bytes)}"
    speed = (
        f"about {device.flops / 1e9:,.0f} GFLOPS; {device.flops_reason}"
        if device.flops
        else device.flops_reason
    )
    fast = "fast" if device.bf16_is_fast else "slow"
    lines = [f"  device  {device.name} ({device.kind}), {memory}"]
    if speed:
        lines.append(paragraph(f"speed: {speed}", 10, width))
    return [*lines, paragraph(f"bfloat16 is {fast}: {device.bf16_reason}", 10, width)]
