"""`python -m surefit.train.answer RUN_FOLDER [--base]`: answers of a run's result, or of its base.

A line of JSON in, a line of JSON out; words go to stderr.

    in   {"messages": [{"role": "user", "content": "..."}], "max_new_tokens": 64}
    out  {"ready": true}                                   once, when the model is loaded
    out  {"text": "...", "finished": true, "tokens": 12}   finished: the model ended its turn
    out  {"error": {"what": ..., "why": ..., "next": ...}} no answer to this one; ask on
"""

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from surefit.errors import OutsideError, SurefitError, UsageError, WorkerExit
from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder
from surefit.tokens import TemplateRefusalError, load_chat_tokenizer
from surefit.train.environment import restart_in, worker_environment

DEFAULT_NEW_TOKENS = 256


class Answerer:
    """A loaded model with its tokenizer; answers greedily."""

    def __init__(self, model: Any, tokenizer: Any, device: Any, positions: int | None) -> None:
        self.model, self.tokenizer, self.device = model, tokenizer, device
        self.positions = positions
        model.eval()

    def _prompt(self, messages: list[dict[str, Any]]) -> list[int]:
        """The conversation as tokens; a model without a chat template goes on with the last text."""
        if self.tokenizer.template.is_missing:
            text = self.tokenizer.render_text(str(messages[-1].get("content", "")))
            ids: list[int] = self.tokenizer.encode_batch([text])[0].ids
            return ids
        rendered = self.tokenizer.render(messages, add_generation_prompt=True)
        return list(self.tokenizer.encode_text(rendered))

    def answer(self, messages: list[dict[str, Any]], max_new_tokens: int) -> dict[str, Any]:
        """The model's answer to a conversation.

        Raises:
            TemplateRefusalError: the chat template does not take this conversation.
            UsageError: the conversation leaves the model no room for an answer.
        """
        import torch

        prompt = self._prompt(messages)
        if self.positions is not None:
            max_new_tokens = min(max_new_tokens, self.positions - len(prompt))
        if max_new_tokens < 1:
            raise UsageError(
                "this conversation is too long to be answered",
                f"it has {len(prompt):,} tokens, and the model was made for {self.positions:,}",
                "begin a new conversation, or ask a shorter question",
            )
        ids = torch.tensor([prompt], device=self.device)
        ends = list(self.tokenizer.end_of_turn_ids)
        with torch.no_grad():
            made = self.model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=max_new_tokens,
                do_sample=False,
                eos_token_id=ends,
                pad_token_id=self.tokenizer.pad_id,
            )[0, len(prompt) :].tolist()
        finished = bool(made) and made[-1] in ends
        text = self.tokenizer.decode(made[:-1] if finished else made, skip_special_tokens=True)
        return {"text": text, "finished": finished, "tokens": len(made)}


def load(run: RunFolder, plan: Plan, use_base: bool) -> Answerer:
    """Load the run's result, or its base model.

    Raises:
        UsageError: the run has no result yet.
        OutsideError: the model cannot be read.
    """
    import torch
    import transformers

    from surefit.train.model import choose_device, load_base, load_trained

    if not use_base and not run.model.is_dir():
        raise UsageError(
            f"the run {run.id} has no trained model",
            f"there is no folder {run.model}: the run is not done",
            f"look at the run with `surefit show {run.id}`",
        )
    transformers.utils.logging.disable_progress_bar()
    training, base_folder = plan.training, Path(plan.model.folder)
    torch.set_num_threads(training.threads)
    device = choose_device(training)
    is_adapter = training.method.type != "full"
    model = load_base(base_folder, training, device) if use_base or is_adapter else None
    if not use_base:
        model = load_trained(model, run.model, training, device)
    tokenizer = load_chat_tokenizer(base_folder).with_arguments(training.template_arguments)
    return Answerer(model, tokenizer, device, plan.model.max_positions)


def serve(answerer: Answerer, source: TextIO, sink: TextIO) -> None:
    """Answer line by line until the input ends."""
    _write(sink, {"ready": True})
    for line in source:
        if not line.strip():
            continue
        try:
            messages, limit = read_question(line)
            _write(sink, answerer.answer(messages, limit))
        except SurefitError as error:
            _write(sink, error.as_dict())
        except TemplateRefusalError as error:
            _write(sink, _not_taken(error).as_dict())


def read_question(line: str) -> tuple[list[dict[str, Any]], int]:
    """Messages and the number of new tokens.

    Raises:
        UsageError: the line is no question.
    """
    try:
        question = json.loads(line)
        messages, limit = question["messages"], question.get("max_new_tokens", DEFAULT_NEW_TOKENS)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _no_question(f"{type(error).__name__}: {error}") from error
    if not isinstance(messages, list) or not messages or not isinstance(limit, int) or limit < 1:
        raise _no_question(
            "`messages` must be a list with a message, `max_new_tokens` a number from 1"
        )
    return messages, limit


def _not_taken(error: TemplateRefusalError) -> UsageError:
    return UsageError(
        "the model's chat template does not take this conversation",
        str(error),
        "begin with a message of the role `user`, and let `user` and `assistant` take turns",
    )


def _no_question(why: str) -> UsageError:
    return UsageError(
        "this line is no question",
        why,
        'send a line such as {"messages": [{"role": "user", "content": "Hello"}]}',
    )


def _write(sink: TextIO, answer: dict[str, Any]) -> None:
    sink.write(json.dumps(answer, ensure_ascii=False) + "\n")
    sink.flush()


def main(arguments: list[str]) -> int:
    """Serve answers; returns an exit code."""
    names = [argument for argument in arguments if argument != "--base"]
    if len(names) != 1:
        sys.stderr.write("usage: python -m surefit.train.answer RUN_FOLDER [--base]\n")
        return 64
    run = RunFolder(Path(names[0]).absolute())
    try:
        plan = run.read(run.plan, Plan)
        if plan is None:
            raise OutsideError(
                f"{run.path} holds no plan that can be read",
                f"{run.plan.name} is missing or damaged",
                "list your runs with `surefit runs`",
            )
        restart_in(worker_environment(plan.training))
        # Only answers may reach the reader of our output; libraries that print go to stderr.
        sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        logging.captureWarnings(True)
        serve(load(run, plan, "--base" in arguments), sys.stdin, sink)
    except SurefitError as error:
        sys.stderr.write(error.as_text() + "\n")
        return error.worker_exit
    except (KeyboardInterrupt, BrokenPipeError):
        return WorkerExit.DONE
    return WorkerExit.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
