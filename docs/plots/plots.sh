#!/bin/sh
# plots.sh BUILD - runs what can be simulated of the documents' figures, then draws them (draw.sh).  What was measured on an
# H200 stays as it was recorded (docs/data/*/README.md).
set -eu
build=${1:?usage: plots.sh BUILD}
data=docs/data/cheng
out=$build/plots
mkdir -p "$out"

sh docs/plots/steps.sh "$build" >"$out/steps.tsv"
sh docs/plots/ladder.sh "$build" sim >"$out/ladder-sim.tsv"
sh docs/plots/unroll.sh "$build" sim >"$out/unroll-sim.tsv"
cp "$out/steps.tsv" "$out/fig9.tsv" "$out/fig13.tsv" "$out/ladder-sim.tsv" "$out/unroll-sim.tsv" "$data"

sh docs/plots/gemm.sh "$build" sim >"$out/gemm-sim.tsv"
cp "$out/gemm-sim.tsv" docs/data/compare

sh docs/plots/draw.sh "$build"
