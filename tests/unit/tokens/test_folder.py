"""A folder without a fast tokenizer or a chat template is refused in words."""

import json
import shutil
from pathlib import Path

import pytest
from token_folders import SHIPPED

from surefit.errors import Refused
from surefit.tokens import TemplateRefusalError, load_chat_tokenizer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED / "chatml", tmp_path / "model"))


def _config(folder: Path, **changes: object) -> None:
    file = folder / "tokenizer_config.json"
    config = {**json.loads(file.read_text()), **changes}
    file.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="there is no model folder"):
        load_chat_tokenizer(tmp_path / "nothing")


def test_a_slow_tokenizer_is_refused_with_the_way_to_convert_it(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "tokenizer.model")
    with pytest.raises(Refused, match=r"tokenizer\.model") as caught:
        load_chat_tokenizer(folder)
    assert "save_pretrained" in caught.value.next_step


def test_a_model_without_a_chat_template_reads_texts_and_refuses_conversations(
    folder: Path,
) -> None:
    _config(folder, chat_template=None)
    tokenizer = load_chat_tokenizer(folder)
    assert tokenizer.template.is_missing
    text = tokenizer.encode_batch([tokenizer.render_text("The sea.")])[0]
    assert set(text.mask) == {1}
    with pytest.raises(TemplateRefusalError, match="no chat template"):
        tokenizer.encode([{"role": "user", "content": "x"}])


def test_the_template_file_goes_before_the_config(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("from the file")
    assert load_chat_tokenizer(folder).render([{"role": "user", "content": "x"}]) == "from the file"


def test_of_named_templates_the_default_is_taken(folder: Path) -> None:
    named = [{"name": "rag", "template": "rag"}, {"name": "default", "template": "plain"}]
    _config(folder, chat_template=named)
    assert load_chat_tokenizer(folder).render([{"role": "user", "content": "x"}]) == "plain"


def test_a_template_with_a_syntax_error_names_the_line(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("one\n{% if %}")
    with pytest.raises(Refused, match="line 2"):
        load_chat_tokenizer(folder)


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_a_broken_file_is_named(folder: Path, name: str) -> None:
    (folder / name).write_text("{")
    with pytest.raises(Refused, match=name.replace(".", r"\.")):
        load_chat_tokenizer(folder)


def test_the_hash_changes_with_the_template_only_where_it_matters(folder: Path) -> None:
    before = load_chat_tokenizer(folder).sha256
    _config(folder, model_max_length=99)
    assert load_chat_tokenizer(folder).sha256 == before
    (folder / "chat_template.jinja").write_text("another")
    assert load_chat_tokenizer(folder).sha256 != before
