#!/bin/sh
# check.sh BUILD [format] - checks that every C, C++ and CUDA source is formatted by clang-format
# 14, within 100 columns.  `make format` calls it with "format", which formats them.
#
# Other versions format some lines differently, so the version is fixed: Debian 12 and Ubuntu 24.04
# both offer the package clang-format-14, and `pip install clang-format==14.0.6` gives it anywhere
# else.  Tables for the preprocessor (.def, .inc) stay as they are, because one line is one row
# there.  A student's own sources are not checked, only their pristine copies. Templates of a new
# lab are checked after instantiation (tests/new-lab).
set -eu
. autograder/tests/lib.sh
action=${2:-}

format=
for candidate in clang-format-14 clang-format; do
    case $("$candidate" --version 2>/dev/null) in *' version 14.'*) format=$candidate ;; esac
    [ -z "$format" ] || break
done
if [ -z "$format" ]; then
    why='no clang-format 14: sudo apt-get install clang-format-14, or pip install clang-format==14.0.6'
    [ "$action" != format ] || { echo "format: $why" >&2; exit 1; }
    skip "$why"
fi

sources=$(find autograder book common datasets docs labs solutions -path common/setup/new-lab -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print | sort)
if [ "$action" = format ]; then
    # shellcheck disable=SC2086
    "$format" -i $sources
    exit 0
fi

others=
for source in $sources; do
    [ -f "autograder/tests/skeletons/${source#labs/}" ] || others="$others $source"
done

# judge NAME WRONG ADVICE: prints one verdict, and the first lines of WRONG.
judge()
{
    [ -n "$2" ] || { echo "ok format/$1"; return 0; }
    echo "not ok format/$1: $3"
    echo "$2" | head -n 30
    failed=1
}

# shellcheck disable=SC2086
judge clang-format "$("$format" --dry-run $others 2>&1 | sed -n 's/: warning: code should be clang-formatted.*//p')" 'make format'
# shellcheck disable=SC2086
judge 100-columns "$(LC_ALL=C.UTF-8 grep -n '.\{101\}' $others || true)" \
    'clang-format breaks neither comments nor strings'
exit $failed
