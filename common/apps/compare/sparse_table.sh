#!/bin/sh
# sparse_table.sh TABLE - prints a line for each layer and percentage of zeros in h200/sparse.sh's
# table, tab-separated.  Columns: layer, percent, microseconds of lab 10, lab 13 and cuDNN fp32; the
# same with setup and cleanup; MB of workspace of the three.
set -eu
awk -F'\t' '
    /^;/ || $1 == "layer" { next }
    {
        split($1, part, "@")
        side = $2 ~ /^10/ ? "ten" : $2 ~ /^13/ ? "thirteen" : $2 ~ /^cuDNN fp32/ ? "cudnn" : ""
        if (side == "") next
        if (!(($1, side) in us) || $4 < us[$1, side]) { us[$1, side] = $4; around[$1, side] = $10; mb[$1, side] = $9 }
        if (!($1 in seen)) { seen[$1] = ++n; key[n] = $1; layer[n] = part[1]; zeros[n] = part[2] }
    }
    END {
        for (i = 1; i <= n; i++) {
            printf "%s\t%d", layer[i], zeros[i]
            printf "\t%s\t%s\t%s", us[key[i], "ten"], us[key[i], "thirteen"], us[key[i], "cudnn"]
            printf "\t%s\t%s\t%s", around[key[i], "ten"], around[key[i], "thirteen"], around[key[i], "cudnn"]
            printf "\t%s\t%s\t%s\n", mb[key[i], "ten"], mb[key[i], "thirteen"], mb[key[i], "cudnn"]
        }
    }' "${1:?usage: sparse_table.sh TABLE}"
