#!/bin/sh
# sweep.sh BUILD NVCC LABS SHAPE OVER ENGINE GPUS JOBS - how long a layer takes while one of its numbers grows: `make sweep`.
#
# The % in SHAPE runs over OVER, FROM:TO:STEP.  On the simulator each of LABS (numbers of labs; their solutions, or what stands
# in SUBMISSION) runs on each of the described machines GPUS; on a card LABS may also name cudnn-fp32 and cudnn-tf32.  Leaves
# a table, a figure as SVG and as PNG of each in BUILD/sweep: stairs.h says what is predicted, and how steps are found.
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

case $shape in *%*) ;; *) fail "SHAPE has a % where the number grows: SHAPE='N=1 C=256 H=14 W=14 K=% R=3 S=3 pad=1 stride=1'" ;; esac
echo "$over" | grep -Eqx '[1-9][0-9]{0,4}:[1-9][0-9]{0,4}:[1-9][0-9]{0,4}' || fail "OVER is FROM:TO:STEP, such as 32:640:32, not '$over'"
values=$(echo "$over" | awk -F: '{ for (v = $1; v <= $2 && n < 1000; v += $3) { print v; n++ } }')
[ -n "$values" ] || fail "OVER=$over has no number in it"
case $engine in
gpu | sim) ;;
*) if nvidia-smi >/dev/null 2>&1; then engine=gpu; else engine=sim; fi ;;
esac

# draw NAME TITLE - from $out/NAME.launched, a line a width as tool_stairs wants them: the table and the figure.
draw() {
    "$build/tests/common/tail/tool_stairs" "$launch_us" <"$out/$1.launched" >"$out/$1.rows"
    rm -f "$out/$1.launched"
    { echo "; $2; $shape, the % is $over" && cat "$out/$1.rows"; } >"$out/$1.tsv"
    rm -f "$out/$1.rows"
    printf '  %s: %s\n' "$2" "$(sed -n 's/^; steps: //p' "$out/$1.tsv")"
    if command -v gnuplot >/dev/null; then
        gnuplot -c common/tail/sweep.gp "$out/$1" "$2" "$(echo "$shape" | grep -o '[A-Z]=%' | tr '\n' ' ')"
        echo "    $out/$1.tsv, .svg, .png"
    else
        echo "    $out/$1.tsv; for the figure install gnuplot-nox"
    fi
}

# One width on the simulator: a line for tool_stairs.  A kernel is known by its threads, registers and shared memory.
width_simulated() {
    counters=$out/$lab-$gpu-$1.counters
    sized=$(echo "$shape" | sed "s/%/$1/g")
    "$build/bin/lab" run --build "$build" --lab "$lab" --submission "${SUBMISSION:-solutions}" --engine sim --gpu "$gpu" --seed 1 \
        --alone --counters "$counters" --shape "$sized" >"$counters.page" 2>&1 || { cat "$counters.page" >&2; exit 255; }
    awk -F'\t' -v value="$1" -v sms="$sms" -v tab='\t' '
        { is[$1] = $2 }
        END { print value tab is["threads_per_block"] " threads, " is["registers"] " registers, " is["shared_bytes_per_block"] " bytes" tab \
                  is["blocks"] tab is["resident_blocks"] tab sms tab is["grid_z"] tab is["launches"] tab is["microseconds"] }' "$counters" >"$counters.line"
}

if [ "${SWEEP_WIDTH:-}" ]; then
    width_simulated "$SWEEP_WIDTH"
    exit
fi

if [ "$engine" = sim ]; then
    for gpu in $gpus; do
        ini=common/simt/gpus/$gpu.ini
        [ -f "$ini" ] || fail "there is no machine '$gpu'; common/simt/gpus has those that there are"
        sms=$(sed -n 's/^sms = //p' "$ini")
        launch_us=$(awk -F' = ' '/^launch_cycles/ { cycles = $2 } /^clock_mhz/ { mhz = $2 } END { print cycles / mhz }' "$ini")
        for lab in $labs; do
            export lab gpu sms
            echo "$values" | xargs -P "$jobs" -I '{}' env SWEEP_WIDTH='{}' sh "$0" "$build" "$nvcc" "$lab" "$shape" "$over" sim "$gpu" 1 2>"$out/said" ||
                { sed '/^xargs: /d' "$out/said" >&2; exit 1; }
            for value in $values; do cat "$out/$lab-$gpu-$value.counters.line"; done >"$out/$lab-$gpu.launched"
            for value in $values; do rm -f "$out/$lab-$gpu-$value".counters*; done
            draw "$lab-$gpu" "lab $lab, simulated $gpu"
        done
    done
    exit
fi

for value in $values; do printf 'sweep\t%s\t%s\n' "$value" "$(echo "$shape" | sed "s/%/$value/g")"; done >"$out/tasks.tsv"
# shellcheck disable=SC2086
sh common/compare/sweep.sh "$build" "$nvcc" "$out/tasks.tsv" $labs
launch_us=$(sed -n 's/.*a launch of nothing takes \([0-9.]*\) us$/\1/p' "$out/launches.tsv")
card=$(sed -n '1s/^; \([^,]*\),.*/\1/p' "$out/times.tsv")
awk -F'\t' '!/^;/ && $1 != "sweep" && !seen[$3]++ { print $3 }' "$out/times.tsv" | while read -r side; do
    name=$(echo "$side" | tr ' A-Z' '-a-z')-gpu
    sh common/tail/launched.sh "$out/launches.tsv" "$out/times.tsv" "$side" sweep >"$out/$name.launched"
    draw "$name" "$side, $card"
done
