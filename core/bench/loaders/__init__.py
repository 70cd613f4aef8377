"""Public benchmark files in the form in which their publishers give them, one function a set; nothing is downloaded.

A loader returns every row of a file; which rows may be learnt from is decided in `core.bench.tasks`.
"""
