"""The trace engine: four layers grown to all are what a trace of all is."""

import pytest

from surefit.plan.tracing import TraceRequest

pytestmark = pytest.mark.process
CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 9,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 500,
}
LORA = {"type": "lora", "rank": 8}


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
def test_growth_is_within_a_percent_of_the_whole(method: str, checkpointing: bool) -> None:
    from surefit.train.trace.tracing import trace

    request = TraceRequest.model_validate(
        {
            "config": CONFIG,
            "method": {"type": "full"} if method == "full" else LORA | {"type": method},
            "targets": () if method == "full" else ("q_proj", "v_proj"),
            "precision": "bfloat16",
            "lengths": (256,),
            "gradient_checkpointing": checkpointing,
        }
    )
    grown, whole = trace(request), trace(request.model_copy(update={"whole": True}))
    assert (grown.traced_layers, whole.traced_layers) == (4, 9)
    assert grown.allocated == pytest.approx(whole.allocated, rel=0.01)
    assert grown.reserved == pytest.approx(whole.reserved, rel=0.01)
    assert sum(grown.account.values()) == grown.allocated
