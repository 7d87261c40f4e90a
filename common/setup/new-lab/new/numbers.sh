#!/bin/sh
# @LAB@.sh BUILD OUT - the numbers of labs/@LAB@/README.md.
. docs/numbers/lib.sh

# The solution on both cases, simulated.
{
    echo '| case | cycles |'
    echo '| --- | --- |'
    for case in small wide; do
        simulate "$case" @NUMBER@ solutions --case "$case"
        printf '| %s | %s |\n' "$case" "$(thousands "$(number "$case" cycles)")"
    done
} >"$out/cycles.md"
