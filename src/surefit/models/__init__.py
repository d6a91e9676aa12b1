"""What a model is, read from its files as data: config, headers, and the rules of its family."""

from surefit.models.facts import LinearShape, ModelFacts, ParameterCounts
from surefit.models.families import FAMILIES
from surefit.models.folder import resolve_model_folder
from surefit.models.reading import read_model_facts

__all__ = [
    "FAMILIES",
    "LinearShape",
    "ModelFacts",
    "ParameterCounts",
    "read_model_facts",
    "resolve_model_folder",
]
