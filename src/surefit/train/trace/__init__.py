"""The trace engine: the recipe's real modules, run for two steps on tensors without contents.

`python -m surefit.train.trace` is its only entrance: a TraceRequest as JSON on standard input, a
TraceResult on standard output. No weights, no GPU; seconds. See docs/concepts/trace.md.

    building.py    the model: transformers' class, peft's adapters, a 4-bit linear with real storages
    recording.py   every storage from its birth to its death, read from torch's dispatch
    steps.py       loading, two optimizer steps, an evaluation, as the plan or a framework makes them
    growing.py     from four layers to as many as there are
    allocator.py   what the CUDA caching allocator takes for it
    account.py     the peak, its moment and the tensors alive there
"""
