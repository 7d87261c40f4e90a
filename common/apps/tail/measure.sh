#!/bin/sh
# measure.sh BUILD NVCC TASKS LABS ENGINE GPU JOBS - measures the tasks of a sweep with each of
# LABS.
#
# TASKS has one line per task: sweep, value, shape.  A lab is its number, for its source in
# SUBMISSION, or on a GPU cuDNN (common/apps/compare/sweep.sh).  Prints one line for each,
# tab-separated.  Columns: side, sweep, value, kernel, threads of a block, blocks, resident blocks
# per SM, SMs, terms of a sum, segments, launches, microseconds, and their 95 % confidence interval.
# Segments: number of parts into which the sums are split (the z of a grid if another kernel adds
# them).  The lines before them, after a ;, have the time of an empty launch, and the machine.
set -eu
usage='usage: measure.sh BUILD NVCC TASKS LABS ENGINE GPU JOBS'
build=${1:?$usage}
nvcc=${2:?$usage}
tasks=${3:?$usage}
labs=${4:?$usage}
engine=${5:?$usage}
gpu=${6:?$usage}
jobs=${7:?$usage}

# C*R*S of a task.
rows_of() {
    printf '%s\n' "$1" | awk '{ rows = 1; for (i = 1; i <= NF; i++) if ($i ~ /^[CRS]=/) rows *= substr($i, 3); print rows }'
}

# One task on the simulator.  A kernel is identified by its threads, registers and shared memory.
task_simulate() {
    lab=$1 number=$2
    counters=$work/$number
    line=$(sed -n "${number}p" "$tasks")
    "$build/bin/lab" run --build "$build" --lab "$lab" --submission "${SUBMISSION:-solutions}" \
        --engine sim --gpu "$gpu" --seed 1 \
        --alone --counters "$counters" --shape "$(printf '%s' "$line" | cut -f 3)" \
        >"$counters.page" 2>&1 || { sed "s|^|lab $lab: |; 6q" "$counters.page" >&2; exit 255; }
    awk -F'\t' -v task="$lab-$gpu	$(printf '%s' "$line" | cut -f 1,2)" -v sms="$sms" \
        -v rows="$(rows_of "$line")" -v tab='\t' '
        { is[$1] = $2 }
        END { print task tab is["threads_per_block"] " threads, " is["registers"] " registers, " is["shared_bytes_per_block"] " bytes" tab \
                  is["threads_per_block"] tab is["blocks"] tab is["resident_blocks"] tab sms tab rows tab (is["launches"] > 1 ? is["grid_z"] : 1) tab is["launches"] tab is["microseconds"] tab is["microseconds"] tab is["microseconds"] }' "$counters" >"$counters.line"
}

if [ "${MEASURE_TASK:-}" ]; then
    task_simulate "$labs" "$MEASURE_TASK"
    echo >&9
    exit
fi

tasks_simulate() {
    ini=common/simulator/gpus/$gpu.ini
    [ -f "$ini" ] || { echo "there is no machine '$gpu'; common/simulator/gpus contains the available ones" >&2; exit 2; }
    work=$(mktemp -d "$build/measure.XXXXXX") || exit 2
    trap 'rm -rf "$work"' EXIT
    sms=$(sed -n 's/^sms = //p' "$ini")
    export work sms
    awk -F' = ' -v gpu="$gpu" '/^launch_cycles/ { c = $2 } /^clock_mhz/ { mhz = $2 } END { print "; " c / mhz " us, simulated " gpu }' "$ini"
    . common/setup/ticker.sh
    ticker_begin "$build" "shapes on the simulated $gpu" \
        "$(($(wc -l <"$tasks") * $(echo "$labs" | wc -w)))"
    for lab in $labs; do
        seq "$(wc -l <"$tasks")" |
            xargs -P "$jobs" -I '{}' env MEASURE_TASK='{}' sh "$0" "$build" "$nvcc" "$tasks" \
            "$lab" sim "$gpu" 1 2>"$work/said" ||
            { sed '/^xargs: /d' "$work/said" >&2; exit 1; }
        for number in $(seq "$(wc -l <"$tasks")"); do cat "$work/$number.line"; done
    done
    ticker_end
}

# A call may launch several kernels: the one with the most registers on the GPU computes the sums,
# the others prepare or add.
tasks_time() {
    [ -f common/apps/compare/sweep.sh ] ||
        { echo "a student's copy cannot measure times on a GPU; use ENGINE=sim" >&2; exit 2; }
    # shellcheck disable=SC2086
    sh common/apps/compare/sweep.sh "$build" "$nvcc" "$tasks" $labs >&2
    out=$build/sweep
    printf '; %s us, %s\n' "$(sed -n 's/.*a launch of nothing takes \([0-9.]*\) us$/\1/p' "$out/launches.tsv")" "$(sed -n '1s/^; //p' "$out/times.tsv")"
    awk -F'\t' -v tab='\t' '
        FILENAME == ARGV[1] { rows[$1 tab $2] = 1; n = split($3, part, " "); for (i = 1; i <= n; i++) if (part[i] ~ /^[CRS]=/) rows[$1 tab $2] *= substr(part[i], 3); next }
        /^;/ || $2 == "value" { next }
        { key = $3 tab $1 tab $2 }
        NF == 6 { if (key in of) print key tab of[key] tab (launches[key] > 1 ? z[key] : 1) tab launches[key] tab $4 tab $5 tab $6; next }
        { launches[key]++ }
        $7 * $8 * $9 * $10 * $11 > most[key] {
            most[key] = $7 * $8 * $9 * $10 * $11
            of[key] = $6 tab $10 tab $7 * $8 * $9 tab $13 tab $14 tab rows[$1 tab $2]
            z[key] = $9
        }' "$tasks" "$out/launches.tsv" "$out/times.tsv"
}

if [ "$engine" = gpu ]; then tasks_time; else tasks_simulate; fi
