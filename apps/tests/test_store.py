#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `cubby store`: entries and formats, loads that are killed, and what it refuses.
# Usage: test_store.py PROGRAM [names of tests].
import sys
import unittest

import store_support
from store_entries import *  # noqa: F403
from store_loads import *  # noqa: F403
from store_refusals import *  # noqa: F403

if __name__ == "__main__":
    store_support.PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
