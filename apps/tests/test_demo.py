#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The program of `make demo`: it measures the engines of the default run, and says what to build for all else. Usage: test_demo.py PROGRAM
# [names of tests].
import sys
import unittest

import bench_support
from bench_support import Folder, cubby

ENGINES = "dlht,dramhit,dramhit-pipe,iceberg,reference,folklore,line-locks,tbb,cuckoo,lfht,limit"


class Demo(Folder):
    def test_measures_the_engines_of_the_default_run(self):
        for text in ((), ("--key-kind", "12-40")):
            with self.subTest(text=text):
                engines = ENGINES if not text else "dlht,iceberg,tbb,cuckoo"
                data, _ = self.run_json("--engine", engines, "--workload", "get,miss,insdel,put", "--keys", "1k", *text)
                self.check_schema(data)
                self.assertEqual({r["engine"] for r in data["results"]}, set(engines.split(",")))

    def test_says_what_to_build_for_what_it_lacks(self):
        for words in (("bench", "--engine", "seph"), ("bench", "--value-size", "64"), ("bench", "--key-size", "16"), ("bench", "--full"),
                      ("kmer", "count", "x"), ("store", "load"), ("completion", "bash"), ("manual", "cubby")):
            with self.subTest(words=words):
                done = cubby(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, r"^cubby [^\n]*: this is the program of make demo[^\n]*--target cubby_program\n$")


if __name__ == "__main__":
    bench_support.PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
