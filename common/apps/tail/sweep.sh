#!/bin/sh
# sweep.sh BUILD NVCC LABS SHAPE OVER ENGINE GPUS JOBS - time of a layer while one of its parameters
# grows: `make sweep`.
#
# The % in SHAPE runs over OVER, FROM:TO:STEP.  On the simulator each of LABS (numbers of labs,
# with their sources in SUBMISSION) runs on each of the simulated machines GPUS; on a GPU LABS may
# also name cuDNN (common/apps/compare/sweep.sh).  Leaves a table, a figure as SVG and as PNG of
# each in BUILD/sweep: stairs.h describes the prediction and the detection of steps.
set -eu
usage='usage: sweep.sh BUILD NVCC LABS SHAPE OVER ENGINE GPUS JOBS'
build=${1:?$usage}
nvcc=$2
labs=${3:-10}
shape=${4:-N=1 C=256 H=14 W=14 K=% R=3 S=3 pad=1 stride=1}
over=${5:-32:640:32}
engine=$6
gpus=${7:-h200}
jobs=${8:-1}
out=$build/sweep
mkdir -p "$out"

fail() {
    printf 'sweep: %s\n' "$1" >&2
    exit 2
}

case $shape in *%*) ;; *) fail "SHAPE must contain a % in place of the varying number: SHAPE='N=1 C=256 H=14 W=14 K=% R=3 S=3 pad=1 stride=1'" ;; esac
echo "$over" | grep -Eqx '[1-9][0-9]{0,4}:[1-9][0-9]{0,4}:[1-9][0-9]{0,4}' ||
    fail "OVER is FROM:TO:STEP, such as 32:640:32, not '$over'"
values=$(echo "$over" | awk -F: '{ for (v = $1; v <= $2 && n < 1000; v += $3) { print v; n++ } }')
[ -n "$values" ] || fail "OVER=$over has no number in it"
case $engine in
gpu | sim) ;;
*) if nvidia-smi >/dev/null 2>&1; then engine=gpu; else engine=sim; fi ;;
esac
[ "$engine" = sim ] || gpus=gpu
for lab in $labs; do # on a GPU cuDNN's algorithms count as labs
    [ "$engine" = gpu ] || "$build/bin/lab" names --lab "$lab" >/dev/null || exit 2
done

# title_of SIDE MACHINE: "Lab 02 on the simulated NVIDIA TITAN V"; on a GPU a side may be cuDNN's.
title_of() {
    if [ "$engine" = gpu ]; then echo "$1, $2"; else
        echo "Lab ${1%-"$gpu"} on the simulated $(sed -n 's/^title = //p' "common/simulator/gpus/$gpu.ini")"
    fi
}

# axis_of SHAPE: what grows, in words.
axis_of() {
    for letter in $(echo "$1" | grep -o '[A-Z]=%' | cut -c 1); do
        case $letter in
        N) echo 'images N' ;; C) echo 'channels C' ;; K) echo 'filters K' ;;
        H) echo 'height H (pixels)' ;; W) echo 'width W (pixels)' ;;
        R) echo 'filter height R' ;; S) echo 'filter width S' ;;
        *) echo "$letter" ;;
        esac
    done | paste -sd '=' | sed 's/=/ = /g'
}

# draw MEASURED SIDE - the table and the figure of one side.
draw() {
    side=$2
    name=$(echo "$side" | tr ' A-Z' '-a-z')
    launch_us=$(sed -n '1s/^; \([0-9.]*\) us, .*/\1/p' "$1")
    machine=$(sed -n '1s/^; [0-9.]* us, \([^,]*\).*/\1/p' "$1")
    {
        sed -n "1s|^; [^,]*|; $side, $shape, the % is $over|p" "$1"
        awk -F'\t' -v OFS='\t' -v side="$side" \
            '$1 == side { print $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 }' "$1" |
            "$build/tests/common/apps/tail/tool_stairs" "$launch_us"
    } >"$out/$name.tsv"
    printf '  %s, %s: %s\n' "$side" "$machine" "$(sed -n 's/^; steps: //p' "$out/$name.tsv")"
    if command -v gnuplot >/dev/null; then
        gnuplot -c common/apps/tail/sweep.gp "$out/$name" "$(title_of "$side" "$machine")" \
            "$(axis_of "$shape")"
        echo "    $out/$name.tsv, .svg, .png"
    else
        echo "    $out/$name.tsv; for the figure install gnuplot-nox"
    fi
}

for value in $values; do printf 'sweep\t%s\t%s\n' "$value" "$(echo "$shape" | sed "s/%/$value/g")"; done >"$out/tasks.tsv"
for gpu in $gpus; do
    sh common/apps/tail/measure.sh "$build" "$nvcc" "$out/tasks.tsv" "$labs" "$engine" "$gpu" "$jobs" \
        >"$out/measured.tsv"
    awk -F'\t' 'NF > 1 && !seen[$1]++ { print $1 }' "$out/measured.tsv" >"$out/sides"
    while read -r side; do draw "$out/measured.tsv" "$side"; done <"$out/sides"
done
