"""No secret reaches a file, however it is cut up; ordinary words stay."""

import random

import pytest

from surefit.supervise.redaction import Redactor, secret_values

SECRETS = [
    b"hf_AbCdEfGh1234567890",
    b"sk-proj-abc123DEF456",
    b"ghp_0123456789abcdefABCD",
    b"Bearer abc.def-123456",
    b"Authorization: bearer   0123456789",
    b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    b"https://user:hunter22@example.org/x",
    b"my own secret value",
]
LEAKS = [
    b"AbCdEfGh",
    b"abc123DEF",
    b"0123456789",
    b"abc.def",
    b"c2lnbmF0",
    b"hunter22",
    b"own secret",
]
ORDINARY = (
    b"hf_transfer and hf_hub_download and task-management and sk-learn 3.5e-4\r 50%|##  |\n"
    b"bearer of bad news: Key error 'token' at https://example.org:443/a@b\n"
)


def through(text: bytes, cuts: list[int], secrets: list[str]) -> bytes:
    redactor, out, before = Redactor(secrets), b"", 0
    for cut in [*cuts, len(text)]:
        out += redactor.feed(text[before:cut])
        before = cut
    return out + redactor.finish()


def test_every_way_to_cut_gives_the_same_text_without_secrets() -> None:
    text = ORDINARY + b"\n".join(b"before " + one + b" after" for one in SECRETS) + b"\n"
    known = ["my own secret value"]
    whole = through(text, [], known)
    assert not [leak for leak in LEAKS if leak in whole]
    assert whole.startswith(ORDINARY)
    assert whole.count(b"[redacted]") == len(SECRETS)
    for cut in range(1, len(text)):
        assert through(text, [cut], known) == whole, cut
    chance = random.Random(3)
    for _ in range(200):
        cuts = sorted(chance.sample(range(1, len(text)), 20))
        assert through(text, cuts, known) == whole, cuts


def test_what_cannot_be_a_secret_is_not_held_back() -> None:
    redactor = Redactor()
    assert redactor.feed(b"step 3 of 9\nnext ") == b"step 3 of 9\nnext "
    assert redactor.feed(b"wo") == b""
    assert redactor.feed(b"rd\n") == b"word\n"


def test_an_endless_line_is_not_kept_in_memory() -> None:
    redactor, out = Redactor(["swordfish-swordfish"]), 0
    for _ in range(50):
        out += len(redactor.feed(b"x" * 100_000))
    assert out > 50 * 100_000 - 200_000
    tail = redactor.feed(b"swordfish-sword") + redactor.feed(b"fish\n") + redactor.finish()
    assert b"swordfish" not in tail


@pytest.mark.parametrize(
    "name", ["HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "wandb_api_key"]
)
def test_values_with_secret_names_are_secrets(name: str) -> None:
    assert secret_values({name: "value-of-it", "PATH": "/bin", "USE_TOKEN": "1"}) == {"value-of-it"}
