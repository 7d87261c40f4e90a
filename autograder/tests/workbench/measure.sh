#!/bin/sh
# measure.sh BUILD - the numbers of docs/student/workbench.md, as its table: first paint, CPU time
# from Run to the verdict, memory.
set -eu
build=$(realpath "${1:?usage: measure.sh BUILD}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=autograder/tests/workbench/root.sh
. autograder/tests/workbench/root.sh
[ "$python" ] || { echo 'measure: no chromium, chromium-driver, python3-selenium or libjs-codemirror' >&2; exit 2; }
"$python" autograder/tests/workbench/measure.py "$work/root" "$work/build"
