#!/bin/sh
# 20-tail.sh BUILD OUT - the numbers of labs/20-tail/README.md.
. docs/numbers/lib.sh

data=docs/data/tail

# Lab 02's layer on three machines.
if command -v gnuplot >/dev/null; then gnuplot -c docs/numbers/20-tail/machines.gp "$data" "$out/20-tail.svg"; fi
