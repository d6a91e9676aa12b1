"""A Hub for tests: real HTTP on loopback, in the Hugging Face Hub's own protocol.

    with FakeHub() as hub:
        hub.add_model("ann/tiny", folder, gated="manual")
        hub.add_token("hf_ann1", "ann", role="read")
        hub.fail(r"/resolve/", cut_after=5000)
        ...  # HF_ENDPOINT=hub.url

Whatever speaks to the Hub speaks to it: `huggingface_hub`, `transformers`, surefit. Large files are
redirected to a second port, as the Hub redirects to its storage, so that a token that follows them
there is seen. `hub.requests` holds what was asked. Written against huggingface_hub 2.4.

A further part of the Hub is a module with `ROUTES`, and a line in `routes.py`.
"""

from surefit.hub.fake.faults import Fault
from surefit.hub.fake.hub import FakeHub, Seen
from surefit.hub.fake.store import FakeRepo

__all__ = ["FakeHub", "FakeRepo", "Fault", "Seen"]
