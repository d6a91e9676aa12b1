"""`surefit hardware`: what this machine can train on."""

from typing import TYPE_CHECKING

import click

from surefit.cli.drawing import heading, paragraph
from surefit.cli.output import json_option, print_json, width_now

if TYPE_CHECKING:
    from surefit.hardware.machine import Device, Hardware


@click.command("hardware")
@click.argument("word", metavar="[WORD]", required=False)
@click.option("--all", "everything", is_flag=True, help="List the whole catalogue.")
@json_option
def hardware_command(word: str | None, everything: bool, as_json: bool) -> None:
    """Show what this machine can train on; or GPUs and rented flavours of the catalogue.

    With WORD, those whose name holds it: `surefit hardware l40s`.
    """
    if word or everything:
        _catalogue((word or "").lower(), as_json)
        return
    from surefit.hardware import detect_machine
    from surefit.home import home_folder

    machine = detect_machine(home_folder())
    if as_json:
        print_json(machine.model_dump(mode="json"))
    else:
        click.echo(_text(machine))


def _catalogue(word: str, as_json: bool) -> None:
    """GPUs and flavours whose name holds the word; memory as CUDA reports it."""
    from dataclasses import asdict

    from surefit.errors import Refused
    from surefit.hardware import flavours, gpus

    cards = [one for one in gpus().values() if word in one.key or word in one.name.lower()]
    keys = {one.key for one in cards}
    rented = [one for one in flavours().values() if word in one.key or one.gpu in keys]
    if not cards and not rented:
        raise Refused(
            f"nothing in the catalogue is called {word!r}",
            "it looks in the names of GPUs and of rented flavours",
            "list everything with `surefit hardware --all`",
        )
    if as_json:
        print_json(
            {"gpus": [asdict(one) for one in cards], "flavours": [asdict(one) for one in rented]}
        )
        return
    lines = [heading("GPU             memory     bfloat16  GB/s   TFLOPS  memory known")]
    for card in cards:
        fast = "yes" if card.bf16 else "no"
        rate = f"{card.tflops:g}" if card.tflops else "-"
        size = f"{card.memory_gib:.1f} GiB"
        lines.append(
            f"{card.key:<14} {size:>10}  {fast:<8}  {card.bandwidth_gb_s:<5g}  {rate:<6}  {card.confidence}"
        )
    if rented:
        lines += [
            "",
            heading("Flavour          GPUs               RAM      disk      an hour  read on"),
        ]
    for one in rented:
        each, price = f"{one.count} x {one.gpu}", f"${one.dollars_per_hour:.2f}"
        lines.append(
            f"{one.key:<16} {each:<18} {one.ram_gb:>4g} GB  {one.disk_gb:>5g} GB  {price:>7}  {one.date}"
        )
    click.echo("\n".join(lines))


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
