#!/bin/sh
# ladder.sh BUILD ENGINE - labs 05 to 07 on a problem that fills an H200: 10,560 blocks, four full waves of lab 06's (20 an
# SM, 132 SMs).  Cycles of the simulated gtx480 and h200 (ENGINE=sim), or the median of nine times in microseconds (gpu).
set -eu
build=${1:?usage: ladder.sh BUILD ENGINE}
engine=${2:?usage: ladder.sh BUILD ENGINE}
shape='N=128 C=3 H=40 W=33 K=64 R=5 S=5 pad=same stride=1 layout=chwn'
page=$build/plots/page
mkdir -p "$build/plots"

cost() {
    # shellcheck disable=SC2086
    "$build/bin/lab" run --build "$build" --lab "$1" --submission "$2" --engine "$engine" --shape "$shape" $3 >"$page" || true
    # An output a thread is more blocks than a GTX 480's grid may have.
    if grep -q cudaErrorInvalidConfiguration "$page"; then echo -; return; fi
    grep -q 'correct: all' "$page" || { cat "$page" >&2; echo "ladder.sh: lab $1 is not right" >&2; exit 1; }
    sed -n 's/^  \([0-9,.]*\) \(cycles\|us\|ms\).*/\1/p' "$page" | tr -d , | head -1
}

row() {
    if [ "$engine" = gpu ]; then
        printf '%s\t%s\n' "$1" "$(for _ in 1 2 3 4 5 6 7 8 9; do cost "$2" "$3" ''; done | sort -n | sed -n 5p)"
    else
        printf '%s\t%s\t%s\n' "$1" "$(cost "$2" "$3" '--gpu gtx480')" "$(cost "$2" "$3" '--gpu h200')"
    fi
}

if [ "$engine" = gpu ]; then printf 'lab\tgpu_us\n'; else printf 'lab\tgtx480_cycles\th200_cycles\n'; fi
mkdir -p "$build/plots/naive/05-register-tiled"
cp labs/05-register-tiled/baseline.cu "$build/plots/naive/05-register-tiled/conv.cu"
row 'naive' 05 "$build/plots/naive"
row '05 register-tiled' 05 solutions
row '06 unrolled' 06 solutions
row '07 strength-reduced' 07 solutions
