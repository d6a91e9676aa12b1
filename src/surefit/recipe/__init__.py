"""What a person wants: the recipe, read from YAML, JSON, a form or Python, with errors that name the line."""

from surefit.recipe.data_spec import DataSpec
from surefit.recipe.example import EXAMPLE
from surefit.recipe.fields import RecipeField, fields, recipe_schema
from surefit.recipe.load import LoadedRecipe, load_recipe, naming_places, recipe_from
from surefit.recipe.schema import (
    FullMethod,
    Goal,
    How,
    Limits,
    LoraMethod,
    Method,
    Recipe,
)

__all__ = [
    "EXAMPLE",
    "DataSpec",
    "FullMethod",
    "Goal",
    "How",
    "Limits",
    "LoadedRecipe",
    "LoraMethod",
    "Method",
    "Recipe",
    "RecipeField",
    "fields",
    "load_recipe",
    "naming_places",
    "recipe_from",
    "recipe_schema",
]
