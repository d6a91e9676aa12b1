"""The worker: reads a run folder, trains what its plan says, and proves the result.

`python -m surefit.train RUN_FOLDER` is its only entrance for runs; nobody imports it. `run.py`
reads top to bottom. Everything that needs torch is imported after the `import` phase has begun, so
that a slow or broken installation shows as such.
"""
