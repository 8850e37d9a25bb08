"""Entry point of ``python -m hetviz``."""

import sys

from hetviz.cli import main

if __name__ == "__main__":
    sys.exit(main())
