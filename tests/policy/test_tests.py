"""Tests that cannot fail are no tests."""

import ast
from functools import cache
from pathlib import Path

import pytest
from policy.project import TESTS, dotted, name_of, python_files, syntax_tree

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions_of(tree: ast.Module) -> list[Function]:
    """All functions of a file, methods too."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def asserts(node: ast.AST, trusted: frozenset[str]) -> bool:
    """Whether something in a function can make a test fail on purpose."""
    for part in ast.walk(node):
        if isinstance(part, ast.Assert) and not isinstance(part.test, ast.Constant):
            return True
        if isinstance(part, ast.Raise) and part.exc and "AssertionError" in ast.dump(part.exc):
            return True
        if isinstance(part, ast.Call):
            name = dotted(part.func).rpartition(".")[2]
            if name in {"raises", "warns", "fail"} or name in trusted:
                return True
    return False


@cache
def shared_assertions() -> frozenset[str]:
    """Names of the tests' own functions that assert, directly or by one that does."""
    functions = [
        function
        for path in python_files(TESTS)
        for function in functions_of(syntax_tree(path))
        if not function.name.startswith("test_")
    ]
    known: frozenset[str] = frozenset()
    while True:
        found = frozenset(one.name for one in functions if asserts(one, known))
        if found == known:
            return known
        known = found


def hollow_tests(tree: ast.Module, trusted: frozenset[str]) -> list[str]:
    """The tests of a file that assert nothing."""
    return [
        function.name
        for function in functions_of(tree)
        if function.name.startswith("test_") and not asserts(function, trusted)
    ]


@pytest.mark.parametrize("path", python_files(TESTS), ids=name_of)
def test_every_test_can_fail(path: Path) -> None:
    assert not hollow_tests(syntax_tree(path), shared_assertions())


def test_a_test_without_assertion_is_found() -> None:
    bodies = {"a": "run()", "b": "assert True", "c": "assert run()"}
    source = "".join(f"def test_{name}():\n    {body}\n" for name, body in bodies.items())
    assert hollow_tests(ast.parse(source), frozenset()) == ["test_a", "test_b"]
