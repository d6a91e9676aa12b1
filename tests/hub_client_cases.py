"""`python hub_client_cases.py FOLDER`: what the installed client raises for each fault, a log a case.

Runs in a process of its own: the client reads its address when it is loaded.
"""

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path


def main(folder: Path) -> None:
    """Write FOLDER/<case>/log.txt with the traceback of every case."""
    from hub_on_loopback import model_files

    from surefit.hub.fake import FakeHub

    with FakeHub() as hub:
        os.environ.update(
            HF_ENDPOINT=hub.url, HF_HOME=str(folder / "cache"), HF_HUB_DISABLE_XET="1"
        )
        from huggingface_hub import HfApi, hf_hub_download, snapshot_download

        hub.add_model("ann/open", model_files())
        hub.add_model("ann/gated", model_files(), gated="manual")
        hub.add_dataset("ann/gated-rows", {"train.jsonl": "{}"}, gated="manual")
        hub.add_model("ann/cut", model_files())
        hub.add_token("hf_bob1", "bob")
        limited = {
            "RateLimit": '"resolvers";r=0;t=0',
            "RateLimit-Policy": '"fixed window";q=3000;w=300',
        }
        hub.fail(r"limited", status=429, headers=limited)
        hub.fail(r"down", status=503)
        hub.fail(r"GET /models/ann/cut", cut_after=1000)

        def one(name: str, token: str | None = None) -> str:
            return hf_hub_download(name, "config.json", token=token or False)

        cases: dict[str, Callable[[], object]] = {
            "GATED-no-token": lambda: one("ann/gated"),
            "GATED-not-let-in": lambda: one("ann/gated", "hf_bob1"),
            "GATED-data": lambda: snapshot_download("ann/gated-rows", repo_type="dataset", token=False),
            "NOT_FOUND_OR_PRIVATE-missing": lambda: one("ann/missing"),
            "NOT_FOUND_OR_PRIVATE-with-token": lambda: one("ann/missing", "hf_bob1"),
            "NOT_FOUND_OR_PRIVATE-revision": lambda: snapshot_download("ann/open", revision="v9", token=False),
            "TOKEN_BAD": lambda: HfApi(token="hf_nobody1").model_info("ann/open"),
            "TOKEN_READONLY-create": lambda: HfApi(token="hf_bob1").create_repo("ann/new"),
            "TOKEN_READONLY-upload": lambda: HfApi(token="hf_bob1").upload_file(
                path_or_fileobj=b"x", path_in_repo="x.txt", repo_id="ann/open"
            ),
            "RATE_LIMIT": lambda: HfApi(token=False).model_info("ann/limited"),
            "HUB_DOWN": lambda: HfApi(token=False).model_info("ann/down"),
            "HUB_DOWN-cut": lambda: hf_hub_download("ann/cut", "model.safetensors", token=False),
        }  # fmt: skip
        for name, act in cases.items():
            write_log(folder / name, act)
        offline = folder / "HUB_DOWN-refused"
    # The server is gone: nobody listens there any more.
    write_log(offline, lambda: snapshot_download("ann/other", token=False))


def write_log(folder: Path, act: Callable[[], object]) -> None:
    """The traceback of a call that fails, as a training script would print it."""
    folder.mkdir(parents=True)
    with (folder / "log.txt").open("w") as log:
        try:
            act()
        except Exception:  # noqa: BLE001 - whatever the client raises is what is looked at
            traceback.print_exc(file=log)
        else:
            log.write("nothing was raised\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
