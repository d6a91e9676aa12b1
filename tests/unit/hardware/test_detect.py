"""This machine, and GPUs as nvidia-smi tells of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from surefit.hardware import detect_machine
from surefit.hardware.nvidia import detect_nvidia, parse_nvidia
from surefit.units import MIB


def test_this_machine_is_plausible(tmp_path: Path) -> None:
    machine = detect_machine(tmp_path / "not" / "yet" / "there")
    cpu = machine.devices[-1]
    assert cpu.kind == "cpu"
    assert machine.cpu_cores >= 1
    assert 0 <= machine.load <= machine.cpu_cores
    assert 0 < machine.ram_free_bytes <= machine.ram_total_bytes
    assert cpu.free_bytes == machine.ram_free_bytes
    assert machine.disk_free_bytes > 0
    assert machine.disk_folder.endswith("not/yet/there")


def test_detection_loads_no_torch() -> None:
    code = (
        "import sys, pathlib, surefit.hardware; surefit.hardware.detect_machine(pathlib.Path('/tmp'));"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_gpus_are_read_from_the_drivers_lines() -> None:
    answer = (
        "0, NVIDIA H200, 143771, 143156, 9.0\n1, Tesla T4, 15360, 14910, 7.5\n"
        "2, Broken, [N/A], [N/A], [N/A]\nnonsense\n"
    )
    first, second = parse_nvidia(answer)
    assert (first.name, first.free_bytes, first.bf16_is_fast) == ("NVIDIA H200", 143156 * MIB, True)
    assert (second.name, second.total_bytes, second.bf16_is_fast) == (
        "Tesla T4",
        15360 * MIB,
        False,
    )
    assert "7.5" in second.bf16_reason


@pytest.mark.parametrize(
    "script", ["exit 9", "sleep 60", "echo 'NVIDIA-SMI has failed'; exit 0", "printf '\\377'"]
)
def test_a_driver_program_that_fails_or_hangs_means_no_gpu(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr("surefit.hardware.nvidia._TIMEOUT_SECONDS", 0.3)
    assert detect_nvidia() == ()


def test_a_driver_program_that_answers_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, NVIDIA L4, 23034, 22700, 8.9'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    machine = detect_machine(tmp_path)
    assert [one.kind for one in machine.devices] == ["cuda", "cpu"]
