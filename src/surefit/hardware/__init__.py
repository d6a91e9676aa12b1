"""The machine that a plan is made for: this one, or one of the catalogue."""

from surefit.hardware.catalog import flavours, gpus, named_hardware
from surefit.hardware.detect import detect_machine
from surefit.hardware.machine import Device, Hardware

__all__ = ["Device", "Hardware", "detect_machine", "flavours", "gpus", "named_hardware"]
