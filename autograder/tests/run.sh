#!/bin/sh
# run.sh BUILD [--units] - every unit test (cmocka) and, without --units, the checks beside this file, the grader's
# corpus among them; the last line is "N passed, N failed".
#
# Two tests run at a time.  Each program writes TAP; what fails, or dies without a verdict, is shown.  A program that has
# nothing to test here (no GPU) says "skipped: why" and counts for nothing.
set -eu
build=${1:?usage: run.sh BUILD}
logs=$build/test-logs

# Called below through xargs: runs one test, prints its line, leaves "passed failed" in its .count.
if [ $# -eq 2 ] && [ "$2" != --units ]; then
    test=$2
    name=${test#"$build/tests/"}
    log=$logs/$(printf '%s' "$name" | tr / -)
    status=0
    case $test in
    *.sh) timeout 3000 sh "$test" "$build" >"$log" 2>&1 || status=$? ;;
    *) CMOCKA_MESSAGE_OUTPUT=tap timeout 300 "$test" >"$log" 2>&1 || status=$? ;;
    esac
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

rm -rf "$logs"
mkdir -p "$logs"
# Alone: the corpus, because grading times lab 01 on the host, and test_build, because it looks for what builds leave behind.
alone="$build/tests/autograder/build/test_build autograder/tests/corpus/check.sh"
[ "${2:-}" != --units ] || alone=$build/tests/autograder/build/test_build
{
    find "$build/tests" -type f -name 'test_*' -perm -u+x ! -name test_corpus | sort
    [ "${2:-}" = --units ] || ls autograder/tests/*/check.sh
} | grep -v -e '/test_build$' -e '/corpus/check.sh$' | xargs -P 2 -n 1 sh "$0" "$build"
for test in $alone; do
    sh "$0" "$build" "$test"
done

totals=$(cat "$logs"/*.count | awk '{ good += $1; bad += $2 } END { print good + 0, bad + 0 }')
passed=${totals% *} failed=${totals#* }
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
