#!/bin/sh
# steps.sh BUILD - table 1's problem on the simulated GTX 480, one step of Cheng et al. after the other: cycles and the
# phases they went to, as rows for docs/data/cheng/steps.tsv; and the hot instructions of the first two (figs 9, 13).
set -eu
build=${1:?usage: steps.sh BUILD}
out=$build/plots
launch=$(sed -n 's/^launch_cycles = //p' common/simt/gpus/gtx480.ini)

# Profiles lab $2 of submission $3 on machine $4, and prints a row named $1.
step() {
    "$build/bin/lab" profile --build "$build" --lab "$2" --submission "$3" --case table-1 --gpu "$4" --engine sim >"$out/page"
    grep -q 'correct: all' "$out/page" || { cat "$out/page" >&2; echo "steps.sh: the step '$1' is not right" >&2; exit 1; }
    awk -F'\t' -v name="$1" -v launch="$launch" '
        FILENAME ~ /page$/ { if (match($0, /[0-9,]+ cycles on/)) { cycles = substr($0, RSTART, RLENGTH - 10); gsub(",", "", cycles) } next }
        FNR > 1 { part[$1] = $3 }
        END { printf "%s\t%d", name, cycles - launch
              n = split("load images,load filters,compute,store,other", phase, ",")
              for (i = 1; i <= n; i++) printf "\t%.4f", part[phase[i]]
              printf "\n" }' "$out/page" "$build/profile/$(basename labs/"$2"-*)/phases.tsv"
}

# docs/plots/cheng.cu with COMPUTE, CARRIED, CHECKED, CONVERTER defined, as a submission for lab 08.
variant() {
    mkdir -p "$out/variant/08-accelerators"
    { printf '#define COMPUTE %s\n#define CARRIED %s\n#define CHECKED %s\n#define CONVERTER %s\n' "$@"
      cat docs/plots/cheng.cu; } >"$out/variant/08-accelerators/conv.cu"
}

# Of every kind of instruction on the line that adds up: how often a warp ran it, and its cycles each time.
hot() {
    line=$(awk '/sum\[f\]\[g\] \+=/ { print NR; exit }' solutions/"$1"/conv.cu)
    awk -F'\t' -v line="$line" '
        FNR > 1 && $3 == line { runs[$5] += $6; traced[$5] += $15; for (i = 15; i <= 23; i++) cycles[$5] += $i }
        END { for (op in runs) printf "%s\t%d\t%.1f\n", op, runs[op], traced[op] ? cycles[op] / traced[op] : 0 }' \
        "$build/profile/$1/profile.tsv" | sort -k2,2nr -k1,1
}

mkdir -p "$out"
printf 'step\tcycles\tload images\tload filters\tcompute\tstore\tother\n'
step 'sums in local memory' 05 solutions gtx480
hot 05-register-tiled >"$out/fig9.tsv"
step 'unrolled' 06 solutions gtx480
hot 06-unrolled >"$out/fig13.tsv"
variant 1 0 1 0; step 'inner-product engine' 08 "$out/variant" gtx480-accelerators
variant 2 0 1 0; step 'outer-product engine' 08 "$out/variant" gtx480-accelerators
variant 2 1 1 0; step 'strength reduction' 08 "$out/variant" gtx480-accelerators
variant 2 1 0 0; step 'conditionals extracted' 08 "$out/variant" gtx480-accelerators
variant 2 1 0 1; step 'index converter' 08 "$out/variant" gtx480-accelerators
variant 2 2 0 0; step '(no / and % instead)' 08 "$out/variant" gtx480-accelerators
