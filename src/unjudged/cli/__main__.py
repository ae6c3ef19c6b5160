"""`python -m unjudged.cli`."""

import sys

from unjudged.cli import main

sys.exit(main())
