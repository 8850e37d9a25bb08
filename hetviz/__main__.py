"""Entry point of ``python -m hetviz``, the same as ``python -m hetviz.cli``."""

import runpy

if __name__ == "__main__":
    runpy.run_module("hetviz.cli", run_name="__main__")
