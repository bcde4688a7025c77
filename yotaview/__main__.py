"""Run the debugger: python -m yotaview."""

import sys

from yotaview.cli import main

if __name__ == "__main__":
    sys.exit(main())
