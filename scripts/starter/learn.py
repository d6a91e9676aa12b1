"""Training of the starter model: plain torch and transformers, one thread, a seed, one result."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from conversations import Message, answer_of
from tokenizers import Tokenizer
from tokens import END, PAD, START
from transformers import LlamaConfig, LlamaForCausalLM
from world import Fact, Topic, fill, topics

_WINDOW = 32  # batches whose rows are sorted by length together, so that little is padding
Row = tuple[list[int], list[bool]]


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result, besides the text."""

    seed: int = 17
    vocabulary: int = 2048
    hidden: int = 128
    layers: int = 4
    heads: int = 4
    intermediate: int = 384
    max_positions: int = 1024
    steps: int = 5000
    batch: int = 16
    learning_rate: float = 1.5e-3
    warmup: float = 0.03


@dataclass(frozen=True)
class Trained:
    """What the training came to."""

    loss: float  # mean of the last 50 steps, per trained token
    tokens: int  # read, the questions' included


def new_model(settings: Settings, tokenizer: Tokenizer) -> LlamaForCausalLM:
    """A Llama with random weights from the seed."""
    torch.manual_seed(settings.seed)
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=settings.hidden,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        num_key_value_heads=settings.heads,
        intermediate_size=settings.intermediate,
        max_position_embeddings=settings.max_positions,
        tie_word_embeddings=True,
        initializer_range=settings.hidden**-0.5,  # 0.02 is for wide models: here it learns slower
        bos_token_id=None,
        eos_token_id=tokenizer.token_to_id(END),
        pad_token_id=tokenizer.token_to_id(PAD),
    )
    model = LlamaForCausalLM(config)
    torch.nn.init.normal_(model.model.embed_tokens.weight, std=0.07)
    return model


def encode(tokenizer: Tokenizer, chat: list[Message]) -> Row:
    """Token ids of a chat, and which of them carry loss: the answers and their end."""
    start, end = tokenizer.token_to_id(START), tokenizer.token_to_id(END)
    line_end = tokenizer.encode("\n").ids
    ids: list[int] = []
    mask: list[bool] = []
    for message in chat:
        head = [start, *tokenizer.encode(message["role"]).ids, *line_end]
        body = [*tokenizer.encode(message["content"]).ids, end]
        trained = message["role"] == "assistant"
        ids += head + body + line_end
        mask += [False] * len(head) + [trained] * len(body) + [False] * len(line_end)
    return ids, mask


def _batches(rows: Iterator[Row], size: int, seed: int) -> Iterator[list[Row]]:
    """Batches of rows of like length, in a shuffled order."""
    shuffle = random.Random(seed)
    while window := sorted(islice(rows, size * _WINDOW), key=lambda row: len(row[0])):
        batches = [window[i : i + size] for i in range(0, len(window), size)]
        shuffle.shuffle(batches)
        yield from batches


def _loss(model: LlamaForCausalLM, rows: list[Row], pad: int) -> torch.Tensor:
    """Mean cross-entropy of the trained tokens."""
    logits, targets = _predictions(model, rows, pad)
    return torch.nn.functional.cross_entropy(logits, targets)


def _predictions(
    model: LlamaForCausalLM, rows: list[Row], pad: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits [trained tokens, vocabulary] and the tokens they should name.

    Padding stands at the end, where no token of a causal model looks: no attention mask is needed.
    """
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.full((len(rows), longest), pad)
    mask = torch.zeros((len(rows), longest), dtype=torch.bool)
    for line, (row_ids, row_mask) in enumerate(rows):
        ids[line, : len(row_ids)] = torch.tensor(row_ids)
        mask[line, : len(row_mask)] = torch.tensor(row_mask)
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
    return model.lm_head(hidden[:, :-1][mask[:, 1:]]), ids[:, 1:][mask[:, 1:]]


def train(
    model: LlamaForCausalLM,
    rows: Iterator[Row],
    settings: Settings,
    pad: int,
    report: Callable[[str], None],
) -> Trained:
    """Train the model in place."""
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=settings.learning_rate,
        betas=(0.9, 0.98),
        weight_decay=0.01,
        fused=True,
    )
    warm = max(1, round(settings.steps * settings.warmup))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm, (settings.steps - step) / (settings.steps - warm)),
    )
    began, tokens, losses = time.monotonic(), 0, []
    for step, batch in enumerate(
        islice(_batches(rows, settings.batch, settings.seed), settings.steps)
    ):
        loss = _loss(model, batch, pad)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
        tokens += sum(len(ids) for ids, _ in batch)
        if step % 50 == 49:
            seconds = time.monotonic() - began
            mean, speed = sum(losses[-50:]) / 50, tokens / seconds
            report(f"step {step + 1:>5} loss {mean:.4f} {speed:,.0f} tokens/s {seconds:,.0f} s")
    last = losses[-50:]
    return Trained(sum(last) / len(last), tokens)


def recall(model: LlamaForCausalLM, tokenizer: Tokenizer) -> dict[str, tuple[int, int]]:
    """For each topic: (fact, question) pairs answered exactly by greedy choice, and all pairs.

    One forward pass decides it: greedy generation gives the expected answer exactly when the
    likeliest token is the expected one at every place of it.
    """
    found: dict[str, tuple[int, int]] = {}
    for topic in topics():
        rows = [
            _asked(tokenizer, topic, question, fact)
            for fact in topic.facts
            for question in topic.questions
        ]
        found[topic.name] = (_exact(model, rows, tokenizer.token_to_id(PAD)), len(rows))
    return found


def _asked(tokenizer: Tokenizer, topic: Topic, question: str, fact: Fact) -> Row:
    user, assistant = fill(question, fact), answer_of(fact, topic)
    chat = [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
    return encode(tokenizer, chat)


def _exact(model: LlamaForCausalLM, rows: list[Row], pad: int) -> int:
    """How many rows the model would generate letter by letter."""
    exact = 0
    with torch.inference_mode():
        for start in range(0, len(rows), 64):
            batch = rows[start : start + 64]
            logits, targets = _predictions(model, batch, pad)
            right = (logits.argmax(-1) == targets).split([sum(mask) for _, mask in batch])
            exact += sum(bool(row.all()) for row in right)
    return exact
