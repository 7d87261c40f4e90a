# shellcheck shell=sh
# `card.sh` - sourced by the scripts of labs 01 to 04, after lib.sh: the data of docs/data about a
# GPU, its host and its machine code.
data=docs/data/h200/labs-01-04

# measured_on FILE: "NVIDIA H200, driver 580.159.04, CUDA 13.0, 2026-11-21".
measured_on() {
    sed -n '1s/^; //p' "$data/$1"
}

# us LAB VARIANT LAYER: the median in microseconds, as a number; nothing where it was not measured.
us() {
    awk -F'\t' -v lab="$1" -v variant="$2" -v layer="$3" \
        '$1 == lab && $2 == variant && $3 == layer { print $4 }' "$data/times.tsv"
}

# rounded NUMBER: three digits, thousands parted; a dash for nothing.
rounded() {
    if [ -z "$1" ]; then
        echo –
    else
        thousands "$(calc '%s' "$1 < 10 ? sprintf(\"%.2f\", $1) : $1 < 100 ? sprintf(\"%.1f\", $1) : sprintf(\"%.0f\", $1)")"
    fi
}

# ratio A B: "3.14"; a dash where one of them was not measured.
ratio() {
    if [ -z "$1" ] || [ -z "$2" ]; then echo –; else rounded "$(calc '%f' "$1 / $2")"; fi
}

# machine_code WHAT COLUMN: of docs/data/machine-code/labs-02-04.tsv; 2 instructions, 3
# multiplications, 4 loads from shared memory.
machine_code() {
    awk -F'\t' -v what="$1" -v column="$2" '$1 == what { print $column }' \
        docs/data/machine-code/labs-02-04.tsv
}

# Usage: a_product WHAT, the instructions per multiplication.
a_product() {
    calc '%.1f' "$(machine_code "$1" 2) / $(machine_code "$1" 3)"
}
