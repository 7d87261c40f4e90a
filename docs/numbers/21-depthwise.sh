#!/bin/sh
# 21-depthwise.sh BUILD OUT - the numbers of labs/21-depthwise/README.md.
. docs/numbers/lib.sh

# The timed cases: the baseline (one thread per output) and the solution.
{
    echo '| case | baseline (cycles) | solution (cycles) | speedup |'
    echo '| --- | --- | --- | --- |'
    for case in mobilenet mobilenet-stride convnext separable; do
        simulate "plain-$case" 21 labs/21-depthwise/baseline.cu --case "$case"
        simulate "mine-$case" 21 solutions --case "$case"
        printf '| %s | %s | %s | %s |\n' "$case" \
            "$(thousands "$(number "plain-$case" cycles)")" \
            "$(thousands "$(number "mine-$case" cycles)")" \
            "$(ratio "$(number "plain-$case" cycles)" "$(number "mine-$case" cycles)")"
    done
} >"$out/gain.md"
