#!/bin/sh
# tune.sh BUILD NVCC - measures the constants with which labs 10, 12, 14 and 15 select their tiles
# on this machine's GPU (tune.h).  The solutions have an H200's constants; BUILD/tune is a
# submission of copies with this machine's: `TUNED=1 make compare` uses them, and `make grade
# SUBMISSION=build/tune` grades them.
set -eu
build=${1:?usage: tune.sh BUILD NVCC}
nvcc=${2:?usage: tune.sh BUILD NVCC}
nvidia-smi >/dev/null 2>&1 || { echo 'tune: this needs an NVIDIA GPU and its driver' >&2; exit 1; }
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)
out=$build/tune
mkdir -p "$out/programs"

labs=
for lab in solutions/10-* solutions/12-* solutions/14-* solutions/15-*; do
    name=$(basename "$lab")
    program=tune_${name%%-*}
    target=-arch=native
    if grep -q '^needs *=.*cc = 9.0' "labs/$name/lab.ini"; then
        [ "$capability" = 9.0 ] || { echo "  $name is not for this GPU"; continue; }
        target="-gencode arch=compute_90a,code=sm_90a"
    fi
    labs="$labs $name"
    # shellcheck disable=SC2086
    "$nvcc" -O3 -std=c++17 $target -I. -Icommon/include "common/apps/compare/$program.cu" \
        -o "$out/programs/$program" &
done
wait

for name in $labs; do
    program=$out/programs/tune_${name%%-*}
    "$program" >"$program.tsv"
    mkdir -p "$out/$name"
    # Its lines are "tile I values", for the last values of row I of the table, and "NAME value" for
    # NAME = value.
    awk '
        BEGIN { row = 0 }
        NR == FNR && $1 == "tile" { i = $2; sub(/^tile [0-9]+ /, ""); tile[i] = $0; next }
        NR == FNR { constant[$1] = $2; next }
        !/#define/ {
            line = ""
            while (match($0, /TILE\([^)]*\)/)) {
                kept = substr($0, RSTART, RLENGTH - 1)
                for (n = split(tile[row], values, ","); n > 0; n--) sub(/,[^,]*$/, "", kept)
                line = line substr($0, 1, RSTART - 1) kept ", " tile[row++] ")"
                $0 = substr($0, RSTART + RLENGTH)
            }
            $0 = line $0
            for (c in constant)
                if (match($0, " " c " = [0-9.e]+f?")) $0 = substr($0, 1, RSTART) c " = " constant[c] substr($0, RSTART + RLENGTH)
        }
        { print }' "$program.tsv" "solutions/$name/conv.cu" >"$out/$name/conv.cu"
    cp "solutions/$name/predict.ini" "$out/$name/"
    diff "solutions/$name/conv.cu" "$out/$name/conv.cu" |
        sed -n -e 's/^< */  an H200: /p' -e 's/^> */  here:    /p'
done
echo "  $out has the solutions with this GPU's constants"
