#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `cubby kmer`: its counts against other programs and an oracle, its files, and what it refuses.
# Usage: test_kmer.py PROGRAM [names of tests]; with CUBBY_TEST_SHARD=1/2 every other test, beginning with the first.
import os
import sys
import unittest

import kmer_support
from kmer_counts import *  # noqa: F403
from kmer_files import *  # noqa: F403
from kmer_refusals import *  # noqa: F403


def each_test(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from each_test(one)
        else:
            yield one


def load_tests(_loader, suite, _pattern):
    """Called by unittest: all tests, or the share of them that the environment names."""
    which, shares = map(int, os.environ.get("CUBBY_TEST_SHARD", "1/1").split("/"))
    return unittest.TestSuite(list(each_test(suite))[which - 1::shares])


if __name__ == "__main__":
    kmer_support.PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
