"""Recipes from files: values, places, and the words of every refusal."""

import re
from pathlib import Path

import pytest

from surefit.errors import RecipeError, UsageError
from surefit.recipe import (
    EXAMPLE,
    LoadedRecipe,
    fields,
    load_recipe,
    naming_places,
    recipe_from,
    recipe_schema,
)

GOOD = """\
model: starter
data:
  train: chats.jsonl
  eval: 5%
method:
  type: lora
  rank: 8
goal:
  learning_rate: 3e-5
  batch: 8
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a file into an empty folder and stand there."""
    monkeypatch.chdir(tmp_path)

    def _write(text: str | bytes, name: str = "recipe.yaml") -> Path:
        path = Path(name)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return _write


def refused(path: Path, *changes: str) -> RecipeError:
    with pytest.raises(RecipeError) as caught:
        load_recipe(path, changes)
    return caught.value


def test_a_recipe_is_read_with_its_text_and_folder(write, tmp_path):
    loaded = load_recipe(write(GOOD))
    assert isinstance(loaded, LoadedRecipe)
    assert loaded.text == GOOD
    assert loaded.base_folder == tmp_path
    assert loaded.recipe.data.eval_share == 0.05


def test_a_number_with_an_exponent_and_no_point_is_a_number(write):
    assert load_recipe(write(GOOD)).recipe.goal.learning_rate == 3e-5


@pytest.mark.parametrize(
    ("written", "read"), [("1_000", 1000), ("12", 12), ('"12"', 12), ("12.0", 12)]
)
def test_a_whole_number_is_what_it_looks_like(write, written, read):
    path = write(f"model: starter\ndata: {{train: a.jsonl}}\ngoal: {{seed: {written}}}\n")
    assert load_recipe(path).recipe.goal.seed == read


@pytest.mark.parametrize(
    "written", ["true", "yes", "1:30", "2.5", ".inf", ".nan", "many", "[1]", "0x10"]
)
def test_what_is_no_whole_number_is_refused_with_the_value(write, written):
    error = refused(write(f"model: starter\ndata: {{train: a.jsonl}}\ngoal:\n  batch: {written}\n"))
    assert error.where == "recipe.yaml:4: goal.batch"
    assert "it is" in error.what


@pytest.mark.parametrize("name", ["on", "no", "yes", "null_island", "2026-11-30", "12e"])
def test_words_of_old_yaml_stay_text(write, name):
    assert load_recipe(write(f"model: {name}\ndata: {{train: a.jsonl}}\n")).recipe.model == name


@pytest.mark.parametrize(
    ("line", "field", "hint"),
    [
        ("modle: x", "modle", "did you mean model?"),
        ("goal: {epohcs: 3}", "goal.epohcs", "`goal.epochs`"),
        ("goal: {lr: 3e-4}", "goal.lr", "`goal.learning_rate: 0.0003`"),
        ("batch: 4", "batch", "`goal.batch: 4`"),
        ("how: {batch: 4}", "how.batch", "`goal.batch: 4`"),
        ("goal: {learning-rate: 1e-4}", "goal.learning-rate", "`goal.learning_rate: 0.0001`"),
        ("per_device_train_batch_size: 2", "per_device_train_batch_size", "`how.micro_batch: 2`"),
        ("num_train_epochs: 2", "num_train_epochs", "`goal.epochs: 2`"),
        ("max_seq_length: 512", "max_seq_length", "`goal.max_length: 512`"),
        ("lora_r: 8", "lora_r", "`method.rank: 8`"),
        ("output_dir: out", "output_dir", "--name"),
        ("zzzz: 1", "zzzz", "--example"),
    ],
)
def test_an_unknown_key_is_refused_with_the_place_it_belongs(write, line, field, hint):
    error = refused(write(f"model: starter\ndata: {{train: a.jsonl}}\n{line}\n"))
    assert error.where == f"recipe.yaml:3: {field}"
    assert hint in error.next_step


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("model: starter\ndata: {trian: a.jsonl}\n", "data.trian"),
        ("model: starter\ndata: {dataset: a.jsonl}\n", "data.dataset"),
        ("modle: starter\ndata: {train: a.jsonl}\n", "modle"),
    ],
)
def test_a_misspelt_key_is_the_cause_and_not_what_it_leaves_missing(write, text, field):
    error = refused(write(text))
    assert error.where.endswith(field)
    assert "missing" not in str(error)


def test_a_key_at_the_wrong_level_names_the_right_one(write):
    error = refused(write("model: starter\ndata: {train: a.jsonl, batch: 4}\n"))
    assert error.why == "batch belongs under goal"


@pytest.mark.parametrize(
    ("method", "line", "words"),
    [
        ("{type: dpo, rank: 4}", 3, "set `method.type: lora`"),
        ("{type: fulll}", 3, "set `method.type: full`"),
        ("{rank: 4}", 3, "add `type: lora`"),
        ("lora", 3, "{type: lora}"),
        ("{type: full, rank: 4}", 3, "delete rank"),
    ],
)
def test_a_method_is_told_apart_by_its_type(write, method, line, words):
    error = refused(write(f"model: starter\ndata: {{train: a.jsonl}}\nmethod: {method}\n"))
    assert error.where is not None
    assert error.where.startswith(f"recipe.yaml:{line}: method")
    assert words in error.next_step


def test_a_field_of_another_method_names_its_owner(write):
    error = refused(
        write("model: starter\ndata: {train: a.jsonl}\nmethod:\n  type: full\n  rank: 4\n")
    )
    assert error.where == "recipe.yaml:5: method.rank"
    assert "rank belongs to lora" in error.why


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("model: a\nmodel: b\n", 2, "stands twice (first on line 1)"),
        ("goal:\n  batch: 1\n  batch: 2\n", 3, "stands twice"),
        ("model: !!python/object/apply:os.system [ls]\n", 1, "tag"),
        ("model: !secret x\n", 1, "tag"),
        ("model: &a x\ndata: *a\n", 1, "anchors"),
        ("data: *a\n", 1, "aliases"),
        ("model: a\n\tdata: b\n", 2, "tab"),
        ("model: a\ndata:\n  train: b\n eval: c\n", 4, "indentation"),
        ("model: a: b\n", 1, "colon"),
        ("model: 'a\n", 2, "quote"),
        ("model: [a\n", 2, "not closed"),
        ("model: @a\n", 1, "quote the value"),
        ("model: a\n---\nmodel: b\n", 2, "second document"),
        ("? [a]\n: b\n", 1, "key must be a word"),
        ("model: " + "[" * 50 + "]" * 50 + "\n", 1, "nesting"),
    ],
)
def test_text_that_is_no_recipe_is_refused_with_its_line(write, text, line, words):
    error = refused(write(text))
    assert error.where == f"recipe.yaml:{line}"
    assert words in error.what


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "empty"), ("# only\n", "empty"), ("- a\n", "a list"), ("5\n", "one value")],
)
def test_something_else_than_a_table_is_refused(write, text, words):
    assert words in refused(write(text)).why


def test_a_binary_file_is_refused(write):
    assert "UTF-8" in refused(write(b"model\n\xff\xfe\x00")).what
    assert "U+0000" in refused(write(b"PK\x00\x01")).what


def test_a_huge_file_is_refused_before_it_is_read(write):
    assert "too large" in refused(write(b"#" * 1_000_001)).what


def test_a_missing_file_names_the_nearest(write):
    write(GOOD)
    assert "recipe.yaml" in refused(Path("recpie.yaml")).next_step


def test_a_folder_is_refused_with_a_file_in_it(write):
    write(GOOD)
    assert "recipe.yaml" in refused(Path()).next_step


def test_json_is_read_with_its_lines(write):
    error = refused(
        write('{"model": "starter",\n "data": {"train": "a"},\n\t"goal": {"epochs": 0}}', "r.json")
    )
    assert error.where == "r.json:3: goal.epochs"
    assert "this is no JSON" in refused(write('{"model": }', "r.json")).what


def test_several_problems_are_reported_together_in_the_order_of_the_file(write):
    error = refused(
        write("model: 3\ndata: {train: a}\ngoal: {epochs: -1, batch: 0}\nhow: {lr: 1}\n")
    )
    assert [problem["field"] for problem in error.details["problems"]] == [
        "model",
        "goal.epochs",
        "goal.batch",
        "how.lr",
    ]
    assert error.where == "recipe.yaml:1: model"
    assert error.as_text().count("also: recipe.yaml:") == 3


def test_the_message_names_field_and_value_once(write):
    error = refused(write("model: a\ndata: {train: a}\ngoal:\n  epochs: -1\n"))
    assert error.as_text().splitlines()[0] == (
        "error: recipe.yaml:4: goal.epochs must be greater than 0; it is -1"
    )


@pytest.mark.parametrize(
    ("line", "field"),
    [("how: {micro_batch: 3}", "how.micro_batch"), ("how: {micro_batch: 16}", "how.micro_batch")],
)
def test_a_micro_batch_that_does_not_divide_the_batch_is_refused(write, line, field):
    error = refused(write(f"model: a\ndata: {{train: a}}\n{line}\n"))
    assert error.where == f"recipe.yaml:3: {field}"
    assert "how.micro_batch" in error.next_step


@pytest.mark.parametrize(
    ("value", "hint"), [("0%", "5%"), ("100%", "5%"), ("0.05", "5%"), ("5", "5%")]
)
def test_a_share_that_leaves_no_rows_or_lacks_its_sign_is_refused(write, value, hint):
    error = refused(write(f"model: a\ndata: {{train: a, eval: {value}}}\n"))
    assert hint in error.next_step


def test_a_part_with_all_fields_commented_out_says_nothing(write):
    recipe = load_recipe(write("model: a\ndata: {train: a}\ngoal:\n  # epochs: 3\n")).recipe
    assert recipe.goal.epochs == 1


def test_set_changes_the_recipe_and_keeps_the_text(write):
    loaded = load_recipe(write(GOOD), ["goal.epochs=3", "method={type: full}", "how.micro_batch=2"])
    assert loaded.recipe.goal.epochs == 3
    assert loaded.recipe.method.type == "full"
    assert loaded.recipe.how.micro_batch == 2
    assert loaded.text == GOOD


def test_the_last_of_two_changes_counts(write):
    assert load_recipe(write(GOOD), ["goal.epochs=3", "goal.epochs=4"]).recipe.goal.epochs == 4


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ("goal.epochs=x", "--set goal.epochs=x: goal.epochs"),
        ("goal.epohcs=3", "--set goal.epohcs=3: goal.epohcs"),
        ("method.type=dpo", "--set method.type=dpo: method.type"),
    ],
)
def test_a_wrong_change_is_refused_like_the_file(write, change, where):
    assert refused(write(GOOD), change).where == where


@pytest.mark.parametrize(
    "change", ["goal.epochs", "=3", "goal..epochs=3", "model.x=3", "method={type: lora"]
)
def test_a_change_that_is_no_change_is_refused(write, change):
    with pytest.raises(UsageError, match="--set"):
        load_recipe(write(GOOD), [change])


def test_a_file_named_on_the_command_line_is_found_from_there(write, tmp_path, monkeypatch):
    (tmp_path / "recipes").mkdir()
    write(GOOD, "recipes/recipe.yaml")
    write("{}", "mine.jsonl")
    loaded = load_recipe(Path("recipes/recipe.yaml"), ["data.train=mine.jsonl"])
    assert loaded.recipe.data.train == str(tmp_path / "mine.jsonl")


def test_values_without_a_file_name_the_field(tmp_path):
    with pytest.raises(RecipeError) as caught:
        recipe_from({"model": "a", "data": {"train": "b"}, "goal": {"epochs": 0}}, tmp_path)
    assert caught.value.where == "goal.epochs"


def test_the_example_is_a_recipe_and_shows_every_field(write):
    assert load_recipe(write(EXAMPLE)).recipe.model == "starter"
    # A line that is switched off begins with `# ` and a key; a line of prose has no colon after one word.
    complete = re.sub(r"^( *)# ( *\w+:)", r"\1\2", EXAMPLE, flags=re.MULTILINE)
    shown = load_recipe(write(complete)).recipe.model_dump(exclude_unset=True)
    paths = {
        f"{part}.{key}" for part, keys in shown.items() if isinstance(keys, dict) for key in keys
    }
    paths |= {key for key, value in shown.items() if not isinstance(value, dict)}
    of_lora = {f.path for f in fields() if not f.part or "lora" in f.part.split(", ")}
    assert paths == of_lora


def test_every_field_has_words_for_its_type_and_a_description():
    for field in fields():
        assert field.type_words, field.path
        assert field.description, field.path


def test_the_schema_refuses_unknown_keys_and_tells_methods_apart():
    schema = recipe_schema()
    assert schema["additionalProperties"] is False
    assert schema["properties"]["method"]["discriminator"]["propertyName"] == "type"


def test_a_later_error_about_a_field_gets_the_line_of_the_recipe(write):
    loaded = load_recipe(write(GOOD), ["goal.epochs=3"])
    assert loaded.place_of("method.rank") == "recipe.yaml:7: method.rank"
    assert loaded.place_of("goal.epochs") == "--set goal.epochs=3: goal.epochs"
    assert loaded.place_of("goal.max_length") == "recipe.yaml:8: goal.max_length"
    with pytest.raises(RecipeError) as caught, naming_places(loaded):
        raise RecipeError("too large", "why", "next", where="method.rank")
    assert caught.value.where == "recipe.yaml:7: method.rank"
    assert str(caught.value).startswith("error: recipe.yaml:7: method.rank: too large")


def test_an_error_about_another_file_keeps_its_place(write):
    loaded = load_recipe(write(GOOD))
    with pytest.raises(RecipeError) as caught, naming_places(loaded):
        raise RecipeError("broken", "why", "next", where="chats.jsonl:3")
    assert caught.value.where == "chats.jsonl:3"
