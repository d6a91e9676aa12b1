"""Arguments of the recipe reach the chat template wherever it is rendered; unread ones are named."""

import json
from pathlib import Path
from typing import Any

import pytest
from prepared_rows import answers_in, prepared_rows
from token_folders import tokenizer_named, with_template

from surefit.data import DatasetReport, check_data
from surefit.recipe.data_spec import DataSpec
from surefit.tokens import ChatTokenizer

STYLED = (
    "{%- for m in messages -%}{{- '<|im_start|>' + m.role + '\n' -}}"
    "{%- if m.role == 'assistant' and style is defined -%}{{- '(' + style + ') ' -}}{%- endif -%}"
    "{{- m.content + '<|im_end|>\n' -}}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}"
    "{%- if enable_thinking is defined and not enable_thinking -%}{{- '<think></think>' -}}{%- endif -%}{%- endif -%}"
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))


@pytest.fixture
def styled(tmp_path: Path) -> ChatTokenizer:
    return with_template(tmp_path / "model", STYLED)


def checked(folder: Path, tokenizer: ChatTokenizer, arguments: Any) -> DatasetReport:
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"Ask {number}"},
                {"role": "assistant", "content": f"Reply {number}"},
            ]
        }
        for number in range(12)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = DataSpec(train="rows.jsonl", template_arguments=arguments)
    return check_data(
        spec, folder, tokenizer, max_length=512, batch=1, seed=1, into=folder / "prepared"
    )


def test_preview_and_prepared_rows_hold_what_the_argument_changes(
    tmp_path: Path, styled: ChatTokenizer
) -> None:
    report = checked(tmp_path, styled, {"style": "kind"})
    assert report.verdict == "ok"
    assert "(kind) Reply 0<|im_end|>" in [
        text for text, learned in report.samples[0].pieces if learned
    ]
    row = prepared_rows(tmp_path / "prepared", "train")[0]
    assert answers_in(styled, row) == "(kind) Reply 0<|im_end|>"


def test_other_arguments_are_prepared_anew(tmp_path: Path, styled: ChatTokenizer) -> None:
    for style in ("kind", "curt"):
        checked(tmp_path, styled, {"style": style})
        row = prepared_rows(tmp_path / "prepared", "train")[0]
        assert answers_in(styled, row).startswith(f"({style})")


def test_the_prompt_of_a_chat_takes_the_argument(styled: ChatTokenizer) -> None:
    told = styled.with_arguments({"enable_thinking": False})
    question = [{"role": "user", "content": "Hi"}]
    assert told.render(question, add_generation_prompt=True).endswith("<think></think>")
    assert not styled.render(question, add_generation_prompt=True).endswith("<think></think>")
    assert told.sha256 == styled.sha256


def test_a_name_that_is_never_read_is_refused_with_the_nearest(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("qwen3-thinking", tmp_path)
    report = checked(tmp_path, tokenizer, {"enable_thinkin": False})
    (finding,) = [one for one in report.findings if one.code == "SD416"]
    assert report.verdict == "refuse"
    assert "enable_thinkin" in finding.message
    assert finding.next == "did you mean enable_thinking?"


def test_a_template_without_arguments_says_so(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("chatml", tmp_path)
    report = checked(tmp_path, tokenizer, {"enable_thinking": False})
    (finding,) = [one for one in report.findings if one.code == "SD416"]
    assert finding.why == "it reads no argument of its own"
