#!/bin/sh
# run.sh BUILD TEST... - runs tests in parallel (three on one core, five on two), in the given
# order.  A test is a program (cmocka), a check.sh script, or corpus/FILTER
# (autograder/tests/corpus/check.sh).  mk/tests.mk lists them; a program without a source is
# skipped.  The last line is "N passed, N failed".
#
# Each test writes TAP; a test that fails, or dies without a verdict, is shown.  A program that
# cannot run here (no GPU) prints "skipped: why" and is not counted.  BUILD/test-logs has the output
# of each test, and BUILD/test-logs/seconds its duration and its CPU time.
set -eu
build=${1:?usage: run.sh BUILD TEST...}
shift
logs=$build/test-logs

# Called below through xargs: runs one test, prints its line, writes "passed failed" to its .count.
if [ "${RUN_ONE:-}" ]; then
    unset RUN_ONE # a test may call this script
    test=$1
    name=${test#"$build/tests/"}
    log=$logs/$(printf '%s' "$name" | tr / -)
    status=0
    start=$(date +%s.%N)
    case $test in
    corpus/*) timeout 20000 sh autograder/tests/corpus/check.sh "$build" "${test#corpus/}" >"$log" 2>&1 || status=$? ;;
    *.sh) timeout 20000 sh "$test" "$build" >"$log" 2>&1 || status=$? ;;
    *) CMOCKA_MESSAGE_OUTPUT=tap timeout 20000 "$test" >"$log" 2>&1 || status=$? ;;
    esac
    times >"$log.times" # its second line: user and system time of the test, as 1m2.3s
    tail -n 1 "$log.times" | sed 's/[ms]/ /g' |
        awk -v start="$start" -v end="$(date +%s.%N)" -v name="$name" '
        { printf "%.1f %.1f %s\n", end - start, 60 * ($1 + $3) + $2 + $4, name }' >>"$logs/seconds"
    good=$(grep -c '^ok' "$log" || true)
    bad=$(grep -c '^not ok' "$log" || true)
    if [ "$status" = 0 ] && grep -q '^skipped:' "$log"; then
        printf '  %-40s %s\n' "$name" "$(grep -m 1 '^skipped:' "$log")"
        echo "0 0" >"$log.count"
        exit 0
    fi
    [ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$((good + bad))" -gt 0 ] || bad=1
    echo "$good $bad" >"$log.count"
    printf '  %-40s %4d passed, %d failed\n' "$name" "$good" "$bad"
    [ "$bad" = 0 ] || { grep -v '^ok' "$log" | tail -n 40; echo "  (exit status $status; $log)"; }
    exit 0
fi

# No verdict may depend on the machine's load: a grade is never deferred, and every timeout only
# ends a test that hangs.
export CONVLAB_PATIENCE=1000
# A second run in this folder would delete the logs of the first one.  Tests do not inherit the
# lock, because a test may outlive a run that was killed.
if command -v flock >/dev/null; then
    mkdir -p "$build"
    exec 9>"$logs.lock"
    flock -n 9 || {
        echo "run.sh: another run uses $logs: wait until it has ended, or use another BUILD" >&2
        exit 1
    }
fi
rm -rf "$logs"
mkdir -p "$logs"
# Number of parallel tests: twice the number of cores, plus one.  A test computes in about half of
# its time; otherwise it waits for limits, cancelled jobs or another process.
printf '%s\n' "$@" | RUN_ONE=1 xargs -P "$(($(nproc) * 2 + 1))" -n 1 sh "$0" "$build" 9>&-

# A test without a count was killed.
counts=$(find "$logs" -name '*.count' | wc -l)
[ "$counts" = $# ] || { echo "run.sh: $counts of $# tests ended"; echo "0 1" >"$logs/killed.count"; }
totals=$(cat "$logs"/*.count | awk '{ good += $1; bad += $2 } END { print good + 0, bad + 0 }')
passed=${totals% *} failed=${totals#* }
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
