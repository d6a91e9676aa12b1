"""Laws that can be read off the source text: no foreign code, no shell, no unsafe loader."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from policy.project import (
    ROOT,
    SOURCE,
    TESTS,
    dotted,
    name_of,
    python_files,
    syntax_tree,
    tracked_files,
)

TRAINING_STACK = {
    "torch",
    "transformers",
    "peft",
    "trl",
    "accelerate",
    "numpy",
    "safetensors",
    "datasets",
    "bitsandbytes",
}
# Calls that run what a file holds.
UNSAFE_CALLS = {
    "yaml.load": "yaml.safe_load",
    "yaml.unsafe_load": "yaml.safe_load",
    "yaml.full_load": "yaml.safe_load",
    "pickle.load": "JSON",
    "pickle.loads": "JSON",
    "cloudpickle.load": "JSON",
    "joblib.load": "JSON",
    "marshal.loads": "JSON",
    "os.system": "an argv list",
    "os.popen": "an argv list",
    "eval": "a table",
    "exec": "a table",
}
HOLLOW_NAMES = re.compile(r"(Manager|Handler|Helper|Util|Utils|Base|Info)$")
# Folders of whoever wrote this, which mean nothing to whoever reads it.
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:ro" + "ot|wo" + r"rk|Users/\w+|tmp/\w+)/\w")


def own_code() -> list[Path]:
    """Everything that we wrote and that runs: source, tests, measurements, the docs' generator."""
    return [path for path in python_files(ROOT) if "fixtures" not in path.parts]


def calls(path: Path) -> Iterator[ast.Call]:
    """Every call in a file."""
    return (node for node in ast.walk(syntax_tree(path)) if isinstance(node, ast.Call))


def place(path: Path, node: ast.expr | ast.stmt) -> str:
    """Where a node stands, to click on."""
    return f"{name_of(path)}:{node.lineno}"


def imported_modules(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """The absolute names that a file imports, inside functions too."""
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module, node


def test_only_the_worker_imports_the_training_stack() -> None:
    outside = [
        f"{place(path, node)} imports {module}"
        for path in python_files(SOURCE)
        if not path.is_relative_to(SOURCE / "train")
        for module, node in imported_modules(path)
        if module.split(".")[0] in TRAINING_STACK
    ]
    assert not outside


def test_nobody_imports_the_worker() -> None:
    outside = [
        place(path, node)
        for path in python_files(SOURCE)
        if not path.is_relative_to(SOURCE / "train")
        for module, node in imported_modules(path)
        if module == "surefit.train" or module.startswith("surefit.train.")
    ]
    assert not outside


def test_no_call_runs_what_a_file_holds() -> None:
    found = [
        f"{place(path, call)}: {dotted(call.func)}, use {UNSAFE_CALLS[dotted(call.func)]}"
        for path in own_code()
        for call in calls(path)
        if dotted(call.func) in UNSAFE_CALLS and not path.is_relative_to(TESTS)
    ]
    assert not found


def test_no_shell_and_no_remote_code_anywhere() -> None:
    found = [
        f"{place(path, call)}: {keyword.arg}"
        for path in own_code()
        for call in calls(path)
        for keyword in call.keywords
        if keyword.arg in {"shell", "trust_remote_code"}
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
    ]
    assert not found


def test_torch_load_takes_weights_only() -> None:
    found = [
        place(path, call)
        for path in own_code()
        for call in calls(path)
        if dotted(call.func) == "torch.load" and not _says(call, "weights_only", True)
    ]
    assert not found


def _says(call: ast.Call, name: str, value: object) -> bool:
    return any(
        keyword.arg == name
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is value
        for keyword in call.keywords
    )


def test_transformers_loads_safetensors_only() -> None:
    found = [
        place(path, call)
        for path in python_files(SOURCE / "train")
        for call in calls(path)
        if re.search(r"Auto\w*Model\w*\.from_pretrained$", dotted(call.func))
        and not _says(call, "use_safetensors", True)
    ]
    assert not found, "pass use_safetensors=True: a .bin file is a program"


# Where `except Exception` may stand, and how often: the two top levels, and a place that calls a
# library which raises nothing narrower.
BROAD_EXCEPTS = {
    "src/surefit/cli/entry.py": 1,
    "src/surefit/supervise/watch.py": 1,
    "src/surefit/tokens/tokenizer.py": 1,
}


def test_broad_except_stands_only_at_the_top_levels() -> None:
    found = Counter(
        name_of(path)
        for path in python_files(SOURCE)
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.ExceptHandler) and _is_broad(node)
    )
    assert not found - Counter(BROAD_EXCEPTS)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether it takes whatever comes and keeps it: one that raises again hides nothing."""
    takes_all = handler.type is None or dotted(handler.type) in {"Exception", "BaseException"}
    last = handler.body[-1]
    return takes_all and not (isinstance(last, ast.Raise) and last.exc is None)


def test_class_names_say_what_a_thing_is() -> None:
    hollow = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in python_files(SOURCE)
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.ClassDef) and HOLLOW_NAMES.search(node.name)
    ]
    assert not hollow


def test_public_things_of_the_source_have_docstrings() -> None:
    silent = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in python_files(SOURCE)
        for node in syntax_tree(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node) is None
    ]
    silent += [
        name_of(path)
        for path in python_files(SOURCE)
        if syntax_tree(path).body and ast.get_docstring(syntax_tree(path)) is None
    ]
    assert not silent


def test_no_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    found = [
        f"{name_of(path)}:{number}: {line.strip()[:80]}"
        for path in tracked_files()
        if "fixtures" not in path.parts and path.suffix not in {".safetensors", ".jsonl", ".lock"}
        for number, line in enumerate(_text_of(path).splitlines(), start=1)
        if MACHINE_PATH.search(line) or str(ROOT) in line
    ]
    assert not found


def _text_of(path: Path) -> str:
    content = path.read_bytes()
    return "" if b"\0" in content else content.decode("utf-8", errors="replace")
