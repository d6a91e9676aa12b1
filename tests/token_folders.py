"""Folders with a tokenizer and a chat template, small enough to try every rule on."""

import json
import shutil
from pathlib import Path

from surefit.tokens import ChatTokenizer, load_chat_tokenizer

SHIPPED = Path(__file__).parent / "fixtures" / "tokenizers"
FAMILIES = ("chatml", "gemma", "llama3", "mistral", "qwen3-thinking")

LAST_ANSWER_ONLY = (
    "{%- for m in messages -%}{%- if m.role != 'assistant' or loop.last -%}"
    "{{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' -}}{%- endif -%}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}"
)
END_OUTSIDE_THE_BLOCK = (
    "{%- for m in messages -%}{{- '<|im_start|>' + m.role + '\n' -}}{%- if m.role == 'assistant' -%}"
    "{%- generation -%}{{- m.content -}}{%- endgeneration -%}{%- else -%}{{- m.content -}}{%- endif -%}"
    "{{- '<|im_end|>\n' -}}{%- endfor -%}"
)
END_INSIDE_THE_BLOCK = (
    "{%- for m in messages -%}{{- '<|im_start|>' + m.role + '\n' -}}{%- if m.role == 'assistant' -%}"
    "{%- generation -%}{{- m.content + '<|im_end|>' -}}{%- endgeneration -%}{{- '\n' -}}"
    "{%- else -%}{{- m.content + '<|im_end|>\n' -}}{%- endif -%}{%- endfor -%}"
)
# Phi 3 ends the whole text, but not a prompt, with a token of its own; Phi 4 has a mark inside headers.
PHI3 = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>\n' + message['content'] + '<|end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
)
PHI4 = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '<|im_sep|>' + message['content'] + '<|im_end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}"
)
_PHI3_TOKENS = ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>")
_VARIANTS = {"last-answer": LAST_ANSWER_ONLY, "end-outside": END_OUTSIDE_THE_BLOCK}


def tokenizer_named(name: str, folder: Path) -> ChatTokenizer:
    """A tokenizer of the fixtures, or a variant of one made in `folder`."""
    if name in _VARIANTS:
        return with_template(folder / name, _VARIANTS[name])
    if name == "phi3":
        return with_template(folder / name, PHI3, special=_PHI3_TOKENS, eos_token="<|endoftext|>")
    if name == "phi4":
        return with_template(folder / name, PHI4, special=("<|im_sep|>",))
    if name == "no-template":
        return without_template(folder / name)
    if name == "ascii-words":
        return _ascii_words(folder / name)
    return load_chat_tokenizer(SHIPPED / name)


def with_template(
    folder: Path, template: str, like: str = "chatml", special: tuple[str, ...] = (), **config: str
) -> ChatTokenizer:
    """A copy of a shipped tokenizer with another chat template and further special tokens."""
    if not folder.exists():
        shutil.copytree(SHIPPED / like, folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text()) | config
    settings.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "chat_template.jinja").write_text(template)
    _add_special(folder / "tokenizer.json", special)
    return load_chat_tokenizer(folder)


def _add_special(file: Path, tokens: tuple[str, ...]) -> None:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    tokenizer.add_special_tokens(list(tokens))
    tokenizer.save(str(file))


def without_template(folder: Path, like: str = "chatml") -> ChatTokenizer:
    """A copy of a shipped tokenizer that has no chat template, as base models have none."""
    shutil.copytree(SHIPPED / like, folder, dirs_exist_ok=True)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return load_chat_tokenizer(folder)


def _ascii_words(folder: Path) -> ChatTokenizer:
    """A tokenizer that knows the printable ASCII characters and nothing else."""
    known = [chr(code) for code in range(32, 127)] + ["\n"]
    special = ["<unk>", "<|im_start|>", "<|im_end|>"]
    vocabulary = {text: number for number, text in enumerate(special + known)}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [
            {
                "id": number,
                "content": text,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for number, text in enumerate(special)
        ],
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": "[\\s\\S]"},
            "behavior": "Isolated",
            "invert": False,
        },
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    template = json.loads((SHIPPED / "chatml" / "tokenizer_config.json").read_text())[
        "chat_template"
    ]
    config = {"eos_token": "<|im_end|>", "unk_token": "<unk>", "chat_template": template}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return load_chat_tokenizer(folder)
