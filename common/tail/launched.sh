#!/bin/sh
# launched.sh LAUNCHES TIMES SIDE SWEEP - one sweep of one side out of the tables of common/compare/sweep.c, as tool_stairs wants
# it.  A call may launch several kernels: that which takes the most registers of the GPU does the sums, the others prepare or add.
set -eu
awk -F'\t' -v side="$3" -v sweep="$4" '
    /^;/ || $1 != sweep || $3 != side { next }
    NF == 6 { if ($2 in most) print $2 "\t" of[$2] "\t" launches[$2] "\t" $4; next }
    {
        blocks = $7 * $8 * $9
        launches[$2]++
        if (blocks * $10 * $11 > most[$2]) {
            most[$2] = blocks * $10 * $11
            of[$2] = $6 "\t" blocks "\t" $13 "\t" $14 "\t" $9
        }
    }' "$1" "$2"
