#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the measurements of docs/performance/durable.md, each with the command that the page names.
#   bench/durable_tables.sh [PART...]      process line restart stores; without a part: all, some 15 minutes
# bench/run_part.sh says which settings it takes.
# CUBBY_DISK is a folder on the disk to measure, the current one if it is not set.
set -eu
cd "$(dirname "$0")/.."
. bench/run_part.sh
disk=${CUBBY_DISK:-.}
all="process line restart stores"
for part in ${*:-$all}; do
  case $part in
  process)
    run cubby bench --engine durable,iceberg --workload get,miss,insdel --keys 50M --threads 2 --batch 1,32 --seconds 1
    run cubby bench --engine durable,iceberg --workload populate --keys 50M --threads 2 --batch 1,32
    ;;
  line) run cubby bench --engine durable-line,durable,limit,limit-swap --workload get,insdel --keys 50M --threads 2 --batch 1,32 --seconds 1 ;;
  restart)
    run bench/bench_restart /dev/shm words
    run bench/bench_restart "$disk" words
    run bench/bench_restart /dev/shm texts
    ;;
  stores)
    run bench/bench_stores "$disk" words 5 2
    run bench/bench_stores "$disk" texts 5 2 2 4000000 "$build/stores.tsv"
    ;;
  *) echo "durable_tables.sh: no part $part; there are: $all" >&2 && exit 2 ;;
  esac
done
