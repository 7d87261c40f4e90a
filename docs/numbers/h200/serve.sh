#!/bin/sh
# h200/serve.sh NAME LAB CASE OUT [BUILD] - on a machine with a GPU: `make serve` with a
# solution, and `make load`.
#
# OUT/NAME.tsv gets a line for each load.  First come closed loops with more and more requests at a
# time; the maximum of answers per second is the capacity (`percent` is 0 there).  Then come open
# loops at `percent` of it.  OUT/NAME-server.txt gets the server's output, and its memory and
# descriptors before and after SOAK seconds at 90 %; OUT/NAME-soak.tsv has both every 10 s
# meanwhile. RUN is the seconds of each load, THREADS the generator's.  ENGINE=sim tries the script
# out without a GPU.
set -eu
usage='usage: h200/serve.sh NAME LAB CASE OUT [BUILD]'
name=${1:?$usage}
lab=${2:?$usage}
case=${3:?$usage}
out=${4:?$usage}
build=${5:-build}
run=${RUN:-2}
threads=${THREADS:-8}
work=$(mktemp -d)
server=
sampler=
trap 'kill -9 $server $sampler 2>/dev/null || :; rm -rf "$work"' EXIT
mkdir -p "$out"

SOCKET=$work/socket CASE=$case SUBMISSION=solutions sh common/apps/serve/serve.sh "$build" "$lab" "${ENGINE:-gpu}" >"$work/server" 2>&1 &
server=$!
until grep -q ' at /' "$work/server"; do
    kill -0 $server 2>/dev/null || { cat "$work/server" >&2; exit 1; }
    sleep 0.1
done
load() { timeout $((300 + ${SOAK:-0})) "$build/bin/load" SOCKET="$work/socket" CLIENTS=16 "$@"; }
grow() { load SHOW=metrics | awk -v when="$1" '/^process_/ { what[$1] = $2 } END { print when ": " what["process_resident_memory_bytes"] " bytes resident, " what["process_open_fds"] " descriptors" }'; }
# samples: seconds, requests, bytes resident, descriptors: every 10 s.
samples() {
    printf 'seconds\trequests\tresident_bytes\tdescriptors\n'
    seconds=0
    while :; do
        load SHOW=metrics | awk -v OFS='\t' -v seconds="$seconds" \
            '{ what[$1] = $2 } END { print seconds, what["serve_requests_total"], what["process_resident_memory_bytes"], what["process_open_fds"] }'
        sleep 10
        seconds=$((seconds + 10))
    done
}

# at PERCENT WORD=VALUE ...: one load and its line.
at() {
    percent=$1
    shift
    echo "== $percent % $*"
    rm -f "$work/line"
    load SECONDS="$run" THREADS="$threads" OUT="$work/line" "$@" || echo "load: exit status $?"
    [ -s "$work/lines" ] || sed -n '1s/^/percent\t/p' "$work/line" >"$work/lines"
    sed -n "2s/^/$percent\t/p" "$work/line" >>"$work/lines"
}
load SECONDS=1 CHECK=1
for each in ${CLOSED:-2 8 16 32 64}; do at 0 EACH="$each"; done
capacity=$(awk -F'\t' 'NR > 1 && $5 / $3 > most { most = $5 / $3 } END { printf "%d", most }' "$work/lines")
echo "capacity $capacity"
for percent in ${OPEN:-10 25 50 75 90 100 125 150 200}; do at "$percent" RATE=$((capacity * percent / 100)); done
{
    cat "$work/server"
    if [ "${SOAK:-0}" -gt 0 ]; then
        grow before
        run=$SOAK
        samples >"$out/$name-soak.tsv" &
        sampler=$!
        at 90 RATE=$((capacity * 90 / 100))
        kill $sampler
        wait $sampler 2>/dev/null || :
        sampler=
        grow "after $SOAK s at 90 %"
    fi
    awk '{ print $2, "user", $14, "system", $15, "hundredths of a second" }' \
        /proc/$server/task/*/stat | sort -k3 -nr | head -n 2
    load SHOW=metrics
} >"$out/$name-server.txt"
kill -TERM $server
wait $server
{
    printf '; %s, CUDA %s, %s: sh docs/numbers/h200/serve.sh %s %s %s OUT\n' \
        "$({ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo 'the simulator'; } | head -n 1 | sed 's/, /, driver /')" \
        "$("$(sed -n 's/^NVCC=//p' "$build/toolchain.env")" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')" "$(date -u +%Y-%m-%d)" "$name" "$lab" "$case"
    cat "$work/lines"
} >"$out/$name.tsv"
