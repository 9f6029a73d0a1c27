# SPDX-License-Identifier: Apache-2.0
"""__main__.py  `python -m tilewright`: the console script, also if it is not on the PATH."""
import sys

from ._command import main

sys.exit(main())
