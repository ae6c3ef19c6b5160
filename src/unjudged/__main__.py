"""The program: `unjudged`, and `python -m unjudged`."""

import os
import sys


def main() -> int:
    """Run one verb; an interrupt that comes before the command line is loaded ends it as any other does."""
    try:
        from unjudged.cli import main as command_line
    except KeyboardInterrupt:
        os.write(2, b"unjudged: interrupted\n")
        os._exit(130)  # Python would end by the signal, because it came within an import
    return command_line()


if __name__ == "__main__":
    sys.exit(main())
