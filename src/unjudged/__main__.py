"""`python -m unjudged`."""

import sys

from unjudged.cli import main

sys.exit(main())
