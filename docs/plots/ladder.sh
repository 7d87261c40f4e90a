#!/bin/sh
# ladder.sh BUILD ENGINE - labs 05 to 07 on a problem that fills an H200: 10,560 blocks, four full waves of lab 06's (20 an
# SM, 132 SMs).  Cycles of the simulated gtx480 and h200 (ENGINE=sim), or the median of nine times in microseconds (gpu).
set -eu
build=${1:?usage: ladder.sh BUILD ENGINE}
engine=${2:?usage: ladder.sh BUILD ENGINE}
shape='N=128 C=3 H=40 W=33 K=64 R=5 S=5 pad=same stride=1 layout=chwn'
. docs/plots/cost.sh

row() {
    cells=$(costs "$2" "$3")
    printf '%s\t%s\n' "$1" "$cells"
}

printf 'lab\t%s\n' "$(costs_columns)"
mkdir -p "$build/plots/naive/05-register-tiled"
cp labs/05-register-tiled/baseline.cu "$build/plots/naive/05-register-tiled/conv.cu"
row 'naive' 05 "$build/plots/naive"
row '05 register-tiled' 05 solutions
row '06 unrolled' 06 solutions
row '07 strength-reduced' 07 solutions
