#!/bin/sh
# check.sh BUILD [FILTER] - solutions, skeletons, mutants and attacks through the grade program.
set -eu
build=${1:?usage: check.sh BUILD [FILTER]}
shift
exec "$build/tests/autograder/test_corpus" "$build" "$@"
