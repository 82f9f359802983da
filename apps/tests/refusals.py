# SPDX-License-Identifier: Apache-2.0
# How the tests of the programs look at a refusal: one line that says what was wrong, and a status.
import unittest


class RefusedCase(unittest.TestCase):
    program = None  # a static method that runs the program

    def refused(self, *arguments, says, status=2, **options):
        done = self.program(*arguments, **options)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, (arguments, text))
        self.assertEqual(text.count("\n"), 1, text)
        for part in (says,) if isinstance(says, str) else says:
            self.assertIn(part, text)
