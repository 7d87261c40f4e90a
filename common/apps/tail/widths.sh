#!/bin/sh
# widths.sh BUILD NVCC NETWORK LAB MODE TAU BATCH ENGINE GPU JOBS - widths for a network that fit a
# GPU: `make widths`.
#
# NETWORK is a file with one line per layer, or the name of one in common/apps/tail/networks.  LAB
# computes the layers (measure.sh).  Lab 20's tail.c selects the widths from times that are measured
# first: for each layer every fourth width, up to 1.6 times its own (for wide layers every eighth or
# sixteenth).  Then all layers are measured with the old and with the new widths.  Leaves
# BUILD/widths/NAME-MACHINE.tsv, .svg and .png.
set -eu
usage='usage: widths.sh BUILD NVCC NETWORK LAB MODE TAU BATCH ENGINE GPU JOBS'
build=${1:?$usage}
nvcc=$2
network=${3:-vgg-16-pruned}
lab=${4:-10}
mode=${5:-latency}
tau=${6:-50}
batch=${7:-1}
engine=$8
gpu=${9:-h200}
shift 9
jobs=${1:-1}
out=$build/widths
mkdir -p "$out"

fail() {
    printf 'widths: %s\n' "$1" >&2
    exit 2
}

[ -f "$network" ] || network=common/apps/tail/networks/$network.tsv
[ -f "$network" ] || fail "NETWORK is a file, or one of vgg-16[-pruned], resnet-56[-pruned]"
case $mode in latency | parameters) ;; *) fail "MODE is latency or parameters, not '$mode'" ;; esac
for number in "$tau" "$batch"; do
    case $number in '' | 0* | *[!0-9]* | ?????*) fail "TAU (thousandths) and BATCH are whole numbers, not '$number'" ;; esac
done
case $engine in
gpu | sim) ;;
*) if nvidia-smi >/dev/null 2>&1; then engine=gpu; else engine=sim; fi ;;
esac
source=${SUBMISSION:-solutions}/20-tail/tail.c
[ -f "$source" ] || fail "there is no $source, lab 20's, which chooses the widths"
name=$(basename "$network" .tsv)-n$batch-$lab-$([ "$engine" = gpu ] && echo gpu || echo "$gpu")

# The planning program: the student's source and plan_main.
"${CC:-cc}" -O2 -std=c11 -Icommon/include -c "$source" -o "$out/tail.o"
"${CC:-cc}" "$out/tail.o" "$build/obj/common/apps/tail/plan_main.o" "$build/lib/conv.a" \
    "$build/lib/operation.a" "$build/lib/base.a" -lsodium -lpthread -lm -o "$out/plan"
"$out/plan" "$network" || exit 2

# The layers with the given batch; for each different one, the widths to measure.
sed "/^;/!s/\(	.*\)\bN=[0-9]*/\\1N=$batch/" "$network" >"$out/network.tsv"
awk -F'\t' -v OFS='\t' '
    /^;/ || !head++ { next }
    {
        width = $2; sub(/.*K=/, "", width); sub(/ .*/, "", width); width += 0
        key = $2; sub(/K=[0-9]+/, "K=%", key)
        step = width < 256 ? 4 : 4 * int(width / 128)
        if ($3) for (k = step; k <= 1.6 * width + 4; k += step) want(key, k)
        want(key, width)
    }
    function want(key, k,    shape) {
        if (seen[key, k]++) return
        shape = key; sub(/%/, k, shape)
        print key, k, shape
    }' "$out/network.tsv" >"$out/tasks.tsv"
printf '  %s: %s widths to measure\n' "$name" "$(wc -l <"$out/tasks.tsv")"
sh common/apps/tail/measure.sh "$build" "$nvcc" "$out/tasks.tsv" "$lab" "$engine" "$gpu" "$jobs" \
    >"$out/measured.tsv"
"$out/plan" "$out/network.tsv" "$out/measured.tsv" "$mode" "$tau" >"$out/planned.tsv"

# Both networks, one layer at a time: a layer's channels are the previous layer's width.
awk -F'\t' -v OFS='\t' '
    FNR == NR { was[$1] = $2; is[$1] = $3; next }
    /^;/ || !head++ { next }
    { tell("old", was); tell("new", is); before = $1 }
    function tell(which, width,    shape) {
        shape = $2
        sub(/K=[0-9]+/, "K=" width[$1], shape)
        if (before != "") sub(/C=[0-9]+/, "C=" width[before], shape)
        print which, $1, shape
    }' "$out/planned.tsv" "$out/network.tsv" >"$out/tasks.tsv"
sh common/apps/tail/measure.sh "$build" "$nvcc" "$out/tasks.tsv" "$lab" "$engine" "$gpu" "$jobs" \
    >"$out/both.tsv"

awk -F'\t' -v OFS='\t' -v what="$name, $mode, tau=$tau" '
    FILENAME ~ /tasks.tsv$/ { shape[$1, $2] = $3; next }
    FILENAME ~ /both.tsv$/ { if ($0 ~ /^;/) { sub(/^; [^,]*, /, ""); machine = $0 } else us[$2, $3] = $12; next }
    !head++ { print "; " what ", " machine; print "layer", "old_width", "new_width", "old_us", "new_us", "old_parameters", "new_parameters" }
    {
        print $1, $2, $3, us["old", $1], us["new", $1], weights(shape["old", $1]), weights(shape["new", $1])
        old += us["old", $1]; new += us["new", $1]; old_w += weights(shape["old", $1]); new_w += weights(shape["new", $1])
    }
    END { printf "; latency %.1f us to %.1f us: %+.1f %%; parameters %d to %d: %+.1f %%\n", old, new, 100 * (new / old - 1), old_w, new_w, 100 * (new_w / old_w - 1) }
    function number(text, letter) { sub("^(.* )?" letter "=", "", text); return text + 0 }
    function weights(text) { return number(text, "C") * number(text, "K") * number(text, "R") * number(text, "S") }
    ' "$out/tasks.tsv" "$out/both.tsv" "$out/planned.tsv" >"$out/$name.tsv"
sed -n 's/^; latency/  latency/p' "$out/$name.tsv"
if command -v gnuplot >/dev/null; then
    machine=$(sed -n '1s/.*, //p' "$out/$name.tsv")
    [ "$engine" = gpu ] || machine="the simulated $(sed -n 's/^title = //p' "common/simulator/gpus/$gpu.ini")"
    gnuplot -c common/apps/tail/widths.gp "$out/$name" \
        "$(basename "$network" .tsv), batch $batch: widths for lab $lab on $machine"
    echo "    $out/$name.tsv, .svg, .png"
else
    echo "    $out/$name.tsv; for the figure install gnuplot-nox"
fi
