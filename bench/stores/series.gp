# SPDX-License-Identifier: Apache-2.0
# Draws the series of bench_stores: gnuplot -c bench/stores/series.gp SERIES.tsv OUT.svg
set terminal svg size 900,900 font "sans,13" background "white"
set output ARG2
set datafile separator "\t"
set multiplot layout 3,1
set xlabel "seconds"
set ylabel "operations a second"
set logscale y
set key outside right
set grid
set linetype 5 linecolor rgb "#b03030"
phases = "load get mixed"
kinds = "cubby cubby-space lmdb lmdb-group rocksdb"
do for [phase in phases] {
  set title phase
  plot for [kind in kinds] ARG1 using (strcol(1) eq kind && strcol(2) eq phase ? $3 : NaN):4 with lines lw 2 title kind
}
