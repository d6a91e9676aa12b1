"""The starter model's tokenizer: byte-level BPE, trained on its own chats, with a ChatML template.

As in GPT-2 a word and the space before it are one token. A space as a token of its own was tried: the
model then learns to copy a word from the question only after five times the training.
"""

import json
from itertools import islice
from pathlib import Path

from conversations import Conversations
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SAMPLE_CHATS = 6_000
WORD_WEIGHT = 300
TEMPLATE = (
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'assistant' -%}"
    "{{- '<|im_start|>assistant\\n' -}}"
    "{%- generation -%}{{- message['content'] + '<|im_end|>' -}}{%- endgeneration -%}"
    "{{- '\\n' -}}"
    "{%- else -%}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' -}}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)


def train_tokenizer(seed: int, vocabulary: int) -> Tokenizer:
    """Learn the merges from a sample of the chats the model will be trained on."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD, START, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    source = Conversations(seed, copying_chats=0)
    texts = (message["content"] for chat in islice(source, SAMPLE_CHATS) for message in chat)
    # Roles and the words of the facts count more, so that each becomes one token.
    frequent = ["system", "user", "assistant", *(f" {word}" for word in source.words)]
    tokenizer.train_from_iterator([*frequent * WORD_WEIGHT, *texts], trainer)
    return tokenizer


def write_tokenizer(tokenizer: Tokenizer, folder: Path, max_positions: int) -> None:
    """Write tokenizer.json and tokenizer_config.json as transformers reads them."""
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": PAD,
        "bos_token": None,
        "unk_token": None,
        "model_max_length": max_positions,
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(
        json.dumps(settings, indent=2) + "\n", encoding="utf-8"
    )
