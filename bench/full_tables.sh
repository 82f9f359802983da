#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the measurements of docs/performance/iceberg.md, each with the command that the page names.
#   bench/full_tables.sh [PART...]      fills batches single words texts bounds bytes tails churn; without a part: all, some 20 minutes
# bench/run_part.sh says which settings it takes.
set -eu
cd "$(dirname "$0")/.."
. bench/run_part.sh
one_a_call="--threads 2 --batch 1 --seconds 0.5"
rivals="iceberg,dlht,boost,cuckoo,tbb"
all="fills batches single words texts bounds bytes tails churn"
for part in ${*:-$all}; do
  case $part in
  fills) run bench/bench_fills ;;
  batches)
    run cubby bench --engine iceberg-full,limit,dlht --workload get,miss --keys 60M --space 107 --threads 2 --batch 32
    ;;
  single) run cubby bench --engine iceberg,dlht --workload get,miss,insdel --keys 50M $one_a_call ;;
  words) run cubby bench --engine $rivals --workload get,miss,upsert,insdel --key-kind words --keys 500k $one_a_call ;;
  texts) run cubby bench --engine $rivals --workload get,miss,upsert,insdel --key-kind 12-40 --keys 20M $one_a_call ;;
  bounds)
    run bench/bench_line_bounds 500000 words
    run bench/bench_line_bounds 20000000 12-40
    ;;
  bytes)
    run cubby bench --engine dlht,iceberg,iceberg-full,cuckoo --workload get --keys 16M --threads 2 --batch 1
    run cubby bench --engine dlht,iceberg,iceberg-full,cuckoo --workload get --key-kind words --keys 500k --threads 2 --batch 1
    ;;
  tails) run bench/bench_insert_tails ;;
  churn)
    run bench/bench_full_churn --seconds 120
    run bench/bench_full_churn --seconds 60 --live 93
    ;;
  *) echo "full_tables.sh: no part $part; there are: $all" >&2 && exit 2 ;;
  esac
done
