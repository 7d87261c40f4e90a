# shellcheck shell=sh disable=SC2154
# cost.sh - sourced by the scripts here, which set build, engine and shape.

# cost LAB SUBMISSION [OPTIONS]: cycles (engine sim) or microseconds (gpu) of the shape; OPTIONS go to `lab run`.  "-" where
# the grid is larger than the machine takes: a GTX 480's has at most 65,535 blocks a side.
cost() {
    page=$build/plots/page
    # shellcheck disable=SC2086
    "$build/bin/lab" run --build "$build" --lab "$1" --submission "$2" --engine "$engine" --shape "$shape" --alone ${3-} >"$page" || true
    if grep -q cudaErrorInvalidConfiguration "$page"; then echo -; return; fi
    grep -q 'correct: all' "$page" || { cat "$page" >&2; echo "$0: lab $1 of $2 is not right" >&2; exit 1; }
    sed -n 's/^  \([0-9,.]*\) \(cycles\|us\|ms\).*/\1 \2/p' "$page" | tr -d , | awk '{ print $2 == "ms" ? $1 * 1000 : $1; exit }'
}

# costs LAB SUBMISSION: on a GPU the median of nine; else cycles of gtx480 and h200, a tab between them.
costs() {
    if [ "$engine" = gpu ]; then
        for _ in 1 2 3 4 5 6 7 8 9; do cost "$1" "$2"; done | sort -n | sed -n 5p
    else
        on_gtx480=$(cost "$1" "$2" '--gpu gtx480')
        on_h200=$(cost "$1" "$2" '--gpu h200')
        printf '%s\t%s\n' "$on_gtx480" "$on_h200"
    fi
}

# The headings of what costs prints.
costs_columns() {
    if [ "$engine" = gpu ]; then printf 'gpu_us\n'; else printf 'gtx480_cycles\th200_cycles\n'; fi
}
