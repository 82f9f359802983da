#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `cubby kmer`: its counts against other programs and an oracle, its files, and what it refuses.
# Usage: test_kmer.py PROGRAM [names of tests]; with CUBBY_TEST_SHARD=1/2 every other test, beginning with the first.
import sys
import unittest

import kmer_support
from kmer_counts import *  # noqa: F403
from kmer_ends import *  # noqa: F403
from kmer_files import *  # noqa: F403
from kmer_hostile import *  # noqa: F403
from kmer_limits import *  # noqa: F403
from kmer_outputs import *  # noqa: F403
from kmer_places import *  # noqa: F403
from kmer_refusals import *  # noqa: F403
from kmer_support import load_tests  # noqa: F401
from kmer_whole import *  # noqa: F403

if __name__ == "__main__":
    kmer_support.PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
