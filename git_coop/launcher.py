#!python
"""The program ``git-coop``, as it is installed.

A script of ours and not the one generated for an entry point: that one imports ``re``, a noticeable part of what
a hook may cost at every turn. Installing it puts the environment's interpreter into the first line, so that
whatever it imports is found there, in an editable install as well.
"""

import gc
import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the programs beside this one are no modules, and every import would look among them

gc.set_threshold(50_000)  # what a short run makes lives to its end: a search for cycles while modules load finds none

from git_coop.__main__ import leave, main  # noqa: E402

leave(main())
