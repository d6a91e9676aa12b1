"""A worker with one fault in one rank: `rank_faults.py FAULT RUN_FOLDER`. The parent of the ranks is whole."""

import os
import sys
import time
from typing import Any

from surefit.train.__main__ import leave, main

AT_STEP = 3


def break_rank(fault: str) -> None:
    """Put the fault into this process."""
    import torch

    sys.modules["bitsandbytes"] = None  # type: ignore[assignment]
    from surefit.train import checkpoint, model, sharding, trainer

    first = os.environ["RANK"] == "0"
    usual = trainer.TokenTrainer.finish_step

    def at_a_step(self: Any, stop_asked: bool = False) -> bool:
        if not first and self.state.global_step + 1 == AT_STEP:
            if fault == "raises":
                raise RuntimeError("the fault of this test")
            if fault == "exits":
                os._exit(3)
            if fault == "hangs":
                time.sleep(600)
            if fault == "nan":
                self._losses = [torch.tensor(float("nan"))]
        return usual(self, stop_asked)

    trainer.TokenTrainer.finish_step = at_a_step  # type: ignore[method-assign]
    if fault == "ddp_instead":
        # What accelerate does with an FSDP configuration on a CPU.
        model.shard = lambda one, _training: one
        trainer.TokenTrainer._prepare_model = (  # type: ignore[method-assign]
            lambda self, one, **_: sharding.copy_in_every_rank(one, self.training)
        )
    if fault == "saves_its_share":
        checkpoint.gathered = lambda weights: {
            name: sharding.local(weight.detach()) for name, weight in weights.items()
        }
    if fault == "no_average":
        trainer.TokenTrainer._prepare_model = lambda _self, one, **_: one  # type: ignore[method-assign]


if __name__ == "__main__":
    if "RANK" in os.environ:
        break_rank(sys.argv[1])
    leave(main(sys.argv[2:]))
