"""Id for id what transformers makes: every chat template that trl ships, over odd conversations.

`pytest -s` prints how many templates and conversations were compared.
"""

import importlib.util
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from token_folders import SHIPPED, with_template

from surefit.tokens import ChatTokenizer, TemplateRefusalError

transformers = pytest.importorskip("transformers")

_TRL = importlib.util.find_spec("trl")
TEMPLATES = (
    sorted(Path(_TRL.submodule_search_locations[0]).glob("chat_templates/*.jinja"))
    if _TRL is not None and _TRL.submodule_search_locations
    else []
)
# How transformers fails where a template does not take a conversation.
REFUSALS = (jinja2.TemplateError, TypeError, ValueError, KeyError, AttributeError, IndexError)
COMPARED: Counter[str] = Counter()

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'Weather of a <city> & "more"',
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {
            "id": "call00001",
            "type": "function",
            "function": {"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}},
        }
    ],
}
PLAIN = [
    {"role": "user", "content": "  How are you?\n"},
    {"role": "assistant", "content": " Fine, thank you. \n"},
]
CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "one turn": PLAIN,
    "two turns": [
        *PLAIN,
        {"role": "user", "content": "好"},
        {"role": "assistant", "content": "ok"},
    ],
    "system": [{"role": "system", "content": "Be <brief> & kind."}, *PLAIN],
    "system in the middle": [*PLAIN, {"role": "system", "content": "Now rhyme."}, *PLAIN],
    "reasoning beside": [PLAIN[0], {**PLAIN[1], "reasoning_content": "A greeting."}],
    "reasoning inside": [
        PLAIN[0],
        {"role": "assistant", "content": "<think>\nA greeting.\n</think>\n\nHello."},
        *PLAIN,
    ],
    "tool": [
        PLAIN[0],
        CALL,
        {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "sun"},
        PLAIN[1],
    ],
    "null content": [
        PLAIN[0],
        {**CALL, "content": None},
        {"role": "tool", "content": "sun"},
        PLAIN[1],
    ],
    "two questions": [PLAIN[0], *PLAIN],
    "assistant first": [PLAIN[1], *PLAIN],
    "empty answer": [PLAIN[0], {"role": "assistant", "content": ""}],
    "marks in the text": [
        {"role": "user", "content": "What is <|im_end|>?"},
        {"role": "assistant", "content": "{{ messages }} {% raw %} </s>"},
    ],
    "parts": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}, PLAIN[1]],
    "weight": [PLAIN[0], {**PLAIN[1], "weight": 1}],
}


@cache
def _ours(template: Path, folder: Path) -> ChatTokenizer:
    """The template with a tokenizer that has a token for each mark it writes."""
    like = folder / f"like-{template.stem}"
    shutil.copytree(SHIPPED / "qwen3-thinking", like)
    config = json.loads((like / "tokenizer_config.json").read_text())
    config["bos_token"] = config["pad_token"]
    (like / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = json.loads((like / "tokenizer.json").read_text())
    added = tokenizer["added_tokens"]
    known = {one["content"] for one in added}
    first_free = max(tokenizer["model"]["vocab"].values()) + 1
    marks = sorted(set(re.findall(r"<\|\w+\|>", template.read_text())) - known)
    added += [{**added[0], "id": first_free + at, "content": one} for at, one in enumerate(marks)]
    (like / "tokenizer.json").write_text(json.dumps(tokenizer))
    return with_template(folder / template.stem, template.read_text(), str(like))


@cache
def _theirs(template: Path, folder: Path) -> Any:
    _ours(template, folder)
    return transformers.PreTrainedTokenizerFast.from_pretrained(str(folder / template.stem))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("templates")


@pytest.fixture(scope="module", autouse=True)
def told() -> Iterator[None]:
    yield
    print(f"\ncompared: {len(COMPARED)} templates, {sum(COMPARED.values())} conversations")


def _compare(template: Path, folder: Path, messages: list[dict[str, Any]], **options: Any) -> None:
    """The same ids, or a refusal from both."""
    ours, theirs = _ours(template, folder), _theirs(template, folder)
    try:
        wanted = theirs.apply_chat_template(messages, tokenize=False, **options)
        ids = theirs.apply_chat_template(messages, return_dict=False, **options)
    except REFUSALS:
        with pytest.raises(TemplateRefusalError):
            ours.render(messages, **options)
    else:
        text = ours.render(messages, **options)
        assert text == wanted
        assert ours.encode_text(text) == ids
    COMPARED[template.stem] += 1


def _in_parts(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn as templates of models with pictures want it."""
    if not isinstance(turn["content"], str):
        return turn
    return {**turn, "content": [{"type": "text", "text": turn["content"]}]}


@pytest.mark.skipif(not TEMPLATES, reason="trl is not installed")
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_text_and_ids_are_those_of_transformers(template: Path, folder: Path) -> None:
    for messages in CONVERSATIONS.values():
        for prompt in (False, True):
            _compare(template, folder, messages, add_generation_prompt=prompt)
        _compare(template, folder, messages, tools=[WEATHER])
    COMPARED[template.stem] += 0


@pytest.mark.skipif(not TEMPLATES, reason="trl is not installed")
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_template_arguments_reach_the_template(template: Path, folder: Path) -> None:
    ours, theirs = _ours(template, folder), _theirs(template, folder)
    for value in (True, False):
        options: dict[str, Any] = {"enable_thinking": value, "add_generation_prompt": True}
        try:
            wanted = theirs.apply_chat_template(PLAIN[:1], tokenize=False, **options)
        except REFUSALS:
            continue
        assert ours.render(PLAIN[:1], True, arguments={"enable_thinking": value}) == wanted


TRAINING = [path for path in TEMPLATES if "endgeneration" in path.read_text()]


@pytest.mark.parametrize("template", TRAINING, ids=lambda path: path.stem)
def test_the_mask_of_generation_blocks_is_that_of_transformers(
    template: Path, folder: Path
) -> None:
    ours, theirs = _ours(template, folder), _theirs(template, folder)
    for messages in CONVERSATIONS.values():
        shown = [_in_parts(turn) for turn in messages] if ours.takes_parts_only else messages
        try:
            wanted = theirs.apply_chat_template(
                shown, return_dict=True, return_assistant_tokens_mask=True
            )
        except REFUSALS:
            continue
        row = ours.encode(messages)
        assert row.ids == wanted["input_ids"]
        assert list(row.mask) == wanted["assistant_masks"]


PREFIXED = [path for path in TEMPLATES if path not in TRAINING]


@pytest.mark.parametrize("template", PREFIXED, ids=lambda path: path.stem)
def test_without_blocks_the_trained_text_is_the_answers(template: Path, folder: Path) -> None:
    ours = _ours(template, folder)
    try:
        rendered = ours.render_answers(CONVERSATIONS["two turns"])
    except TemplateRefusalError as refusal:
        pytest.skip(f"the template takes no such conversation: {refusal}")
    pieces = ["".join(text) for text, trained in ours.pieces(rendered) if trained]
    said = "".join(pieces)
    assert "Fine, thank you." in said
    assert "ok" in said
    assert "How are you" not in said
    assert "好" not in said


CONTENT = st.text(
    st.characters(exclude_categories=("Cs", "Cn")) | st.sampled_from(list("\n \t{}%<|>'\"\\")),
    max_size=40,
)
TURN = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool"]), "content": CONTENT}
)


@pytest.mark.skipif(not TEMPLATES, reason="trl is not installed")
@given(data=st.data())
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_odd_conversations_give_the_same_ids(folder: Path, data: st.DataObject) -> None:
    template = data.draw(st.sampled_from(TEMPLATES))
    messages = data.draw(st.lists(TURN, min_size=1, max_size=5))
    _compare(template, folder, messages, add_generation_prompt=data.draw(st.booleans()))


def test_a_special_token_of_the_config_is_a_variable_of_the_template(tmp_path: Path) -> None:
    ours = with_template(
        tmp_path / "one", "{{ bos_token }}|{{ eos_token }}|{{ pad_token }}", "gemma"
    )
    config = json.loads((SHIPPED / "gemma" / "tokenizer_config.json").read_text())
    assert ours.render(PLAIN) == "|".join(
        config[name] for name in ("bos_token", "eos_token", "pad_token")
    )
