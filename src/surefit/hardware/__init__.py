"""The machine that a plan is made for."""

from surefit.hardware.detect import detect_machine
from surefit.hardware.machine import Device, Hardware

__all__ = ["Device", "Hardware", "detect_machine"]
