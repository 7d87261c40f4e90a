#!/bin/sh
# run.sh BUILD - every unit test (cmocka) and the grader's corpus; the last line is "N passed, N failed".
set -eu
build=${1:?usage: run.sh BUILD}
logs=$build/test-logs
passed=0 failed=0
rm -rf "$logs"
mkdir -p "$logs"

# One cmocka program: its TAP goes to a log; failures, or a death without a verdict, are shown.
run_unit()
{
    name=${1#"$build/tests/"}
    log=$logs/$(printf '%s' "$name" | tr / -).tap
    status=0
    CMOCKA_MESSAGE_OUTPUT=tap timeout 120 "$1" >"$log" 2>&1 || status=$?
    good=$(grep -c '^ok' "$log" || true)
    bad=$(grep -c '^not ok' "$log" || true)
    [ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$((good + bad))" -gt 0 ] || bad=1
    passed=$((passed + good)) failed=$((failed + bad))
    printf '  %-40s %4d passed, %d failed\n' "$name" "$good" "$bad"
    [ "$bad" = 0 ] || { grep -v '^ok' "$log" | tail -n 40; echo "  (exit status $status; $log)"; }
}

for test in $(find "$build/tests" -type f -name 'test_*' -perm -u+x ! -name test_corpus | sort); do
    run_unit "$test"
done

# The corpus prints "ok ..." or "not ok ..." a line, like the unit tests.
for script in autograder/tests/*/check.sh; do
    [ -f "$script" ] || continue
    log=$logs/$(basename "$(dirname "$script")").tap
    status=0
    sh "$script" "$build" >"$log" 2>&1 || status=$?
    good=$(grep -c '^ok' "$log" || true)
    bad=$(grep -c '^not ok' "$log" || true)
    [ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$((good + bad))" -gt 0 ] || bad=1
    passed=$((passed + good)) failed=$((failed + bad))
    printf '  %-40s %4d passed, %d failed\n' "$script" "$good" "$bad"
    [ "$bad" = 0 ] || { grep -v '^ok' "$log" | tail -n 60; echo "  (exit status $status; $log)"; }
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
