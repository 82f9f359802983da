# SPDX-License-Identifier: Apache-2.0
# Tests of `cubby bench` about its engines: which workloads a full table has, and whether each engine can be drawn.
from bench_support import Folder, cubby

ENGINES = "dlht,reference,tbb,cuckoo,lfht,std,limit,limit-swap,relativistic,iceberg,seph"
# Without libcuckoo: where it grows under two threads a run may end in a segmentation fault (docs/bench.md).
GROWING = ENGINES.replace("cuckoo,", "")
DURABLE = "durable,durable-line,durable-page,durable-seph,durable-seph-line"
DESIGNS = "folklore,line-locks"  # for 8-byte keys and values alone


class Engines(Folder):
    def test_a_full_table_takes_keys_that_come_and_go(self):
        for text in ((), ("--key-kind", "12-40")):
            with self.subTest(text=text):
                data, shown = self.run_json("--engine", "iceberg-full,dlht", "--workload", "get,miss,insdel,put,upsert,populate,ycsb-d",
                                            "--keys", "20000", "--threads", "2", "--batch", "1,32", *text)
                self.check_schema(data)
                self.assertEqual({r["workload"] for r in data["results"] if r["engine"] == "iceberg-full"},
                                 {"get", "miss", "insdel", "put", "upsert"})
                self.assertIn("no figure of iceberg-full under populate, ycsb-d: it does not grow", shown)
        self.refused("bench", "--engine", "iceberg-full", "--value-size", "16", says="built for 8-byte values")
        self.refused("bench", "--engine", "iceberg-full", "--workload", "populate", says="no engine of this run takes part")

    def test_an_engine_of_texts_takes_no_other_keys(self):
        data, _ = self.run_json("--engine", "iceberg-wide,iceberg", "--key-kind", "12-40", "--workload", "get,miss,insdel,put,upsert,populate,grow-shrink",
                                "--keys", "20000", "--threads", "2", "--batch", "1,32")
        self.check_schema(data)
        by_engine = [{r["workload"] for r in data["results"] if r["engine"] == engine} for engine in ("iceberg-wide", "iceberg")]
        self.assertEqual(by_engine[0], by_engine[1])
        self.refused("bench", "--engine", "iceberg_wide", "--workload", "get", says="built for text keys alone")
        self.refused("bench", "--engine", "iceberg-wide", "--key-size", "16", says="built for text keys alone")

    def test_every_named_engine_has_a_colour(self):
        engines = f"{ENGINES},{DESIGNS},dramhit,dramhit-pipe,dramhit-tuples,ddds,rwlock,iceberg-full,{DURABLE}"
        for engine in ("boost", "phmap"):
            if not cubby("bench", "--engine", engine, "--workload", "get", "--keys", "1k", "--seconds", "0.01", "--rounds", "1").returncode:
                engines += f",{engine}"
        page = self.folder / "page"
        done = cubby("bench", "--engine", engines, "--workload", "get", "--keys", "1k,2k", "--threads", "1", "--seconds", "0.001",
                     "--rounds", "1", "--report", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((page / "index.html").exists())

    def test_threads_that_the_system_does_not_give_are_refused(self):
        done = cubby("bench", "--threads", "512", "--engine", "dlht", "--workload", "get", "--keys", "1k", "--seconds", "0.01", "--rounds", "1",
                     address_space=2 << 30)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--threads: the system made", done.stderr)
