"""`python -m surefit.train.trace < request.json > result.json`."""

import os
import sys

# Nothing is fetched, and no library says anything on the way.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from pydantic import ValidationError

from surefit.errors import SurefitError, WorkerExit
from surefit.plan.tracing import TraceRequest


def main() -> int:
    """Read a request, write its result; 78 with an error in JSON where it cannot be traced."""
    try:
        request = TraceRequest.model_validate_json(sys.stdin.buffer.read())
    except ValidationError as error:
        sys.stderr.write(f"{error}\n")
        return int(WorkerExit.CONFIGURATION)
    from surefit.train.trace.tracing import trace

    try:
        result = trace(request)
    except SurefitError as error:
        sys.stderr.write(error.as_text() + "\n")
        return int(WorkerExit.CONFIGURATION)
    sys.stdout.write(result.model_dump_json() + "\n")
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
