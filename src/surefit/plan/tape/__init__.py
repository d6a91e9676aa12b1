"""A training step over sizes instead of numbers: which blocks exist when, without torch."""

from surefit.plan.tape.shape import LayerShape, Software
from surefit.plan.tape.step import Step, peaks_of, run_step
from surefit.plan.tape.tensors import Tape

__all__ = ["LayerShape", "Software", "Step", "Tape", "peaks_of", "run_step"]
