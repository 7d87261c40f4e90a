# shellcheck shell=sh
# lib.sh - functions of the pages' scripts.  Each script starts with  . docs/numbers/lib.sh
# and is run as  sh docs/numbers/gpu.sh BUILD OUT  from the root.  README.md here describes the
# purpose of a script.
#
# Sets build and out.  NUMBERS_LONG=1: long simulations run, too (make numbers); else their recorded
# results are taken.

# Pages are as wide.
export COLUMNS=100

set -eu
build=${1:?usage: $0 BUILD OUT}
out=${2:?usage: $0 BUILD OUT}
script=$(basename "$0" .sh)
cache=$build/numbers/cache
mkdir -p "$out/runs" "$cache"
: >"$out/said"

# The script has failed, also where only a $(...) ends here.
fail() {
    printf '%s: %s\n' "$0" "$1" >&2
    : >"$out/failed"
    exit 1
}

# ---- simulations ---------------------------------------------------------------------------------

# A digest of everything that determines a simulated number, except the submission and the options:
# the simulator, the machines, the labs' cases.
tools_digest() {
    if [ ! -s "$out/tools" ]; then
        # shellcheck disable=SC2046 # the names have no blanks
        cat "$build"/lib/*.a $(find common/simulator/gpus -name "*.ini" | sort) labs/*/lab.ini common/include/convlab/* |
            sha256sum >"$out/tools"
    fi
    cat "$out/tools"
}

# variant NAME SOURCE [KEY=VALUE | PATCH]...: prints the path of SOURCE as a new file, patched, with
# `#define KEY VALUE` above.
variant() {
    _file=$out/variant/$1.${2##*.}
    mkdir -p "$out/variant"
    cp "$2" "$out/variant/source"
    : >"$_file"
    shift 2
    for _change; do
        case $_change in
        *.patch) patch -s -f "$out/variant/source" <"$_change" >"$out/variant/log" || fail "$_change: $(cat "$out/variant/log")" ;;
        *=*) printf '#define %s %s\n' "${_change%%=*}" "${_change#*=}" >>"$_file" ;;
        *) fail "'$_change' is neither a patch nor KEY=VALUE" ;;
        esac
    done
    cat "$out/variant/source" >>"$_file"
    printf '%s\n' "$_file"
}

# source_of SUBMISSION LAB: what is compiled: a file, or the lab's source in a folder such as
# solutions.
source_of() {
    if [ -d "$1" ]; then
        _name=$(basename labs/"$2"-*)
        printf '%s/%s/%s\n' "$1" "$_name" "$(sed -n 's/^source *= *//p' "labs/$_name/lab.ini")"
    else
        printf '%s\n' "$1"
    fi
}

# simulated COMMAND LAB SUBMISSION [OPTIONS]: the folder in which `lab COMMAND` left its files.  It
# is named by the digest of all that goes in, so that nothing runs twice; only a right answer is
# kept.
simulated() {
    _command=$1 _lab=$2 _submission=$3
    shift 3
    _source=$(source_of "$_submission" "$_lab")
    [ -f "$_source" ] || fail "there is no $_source"
    _kept=$cache/$({ tools_digest && cat "$_source" && printf '%s\n' "$_command" "$_lab" "$@"; } | sha256sum | cut -c 1-32)
    if [ ! -d "$_kept" ]; then
        _part=$(mktemp -d "$cache/part.XXXXXX")
        case $_command in
        run) set -- --alone --counters "$_part/counters" "$@" ;;
        profile) set -- --out "$_part" --counters "$_part/counters" "$@" ;;
        esac
        "$build/bin/lab" "$_command" --build "$build" --lab "$_lab" --submission "$_submission" \
            --engine sim --seed 1 "$@" \
            >"$_part/page" 2>&1 ||
            fail "lab $_lab of $_submission is not right: $(cat "$_part/page")"
        mv -T "$_part" "$_kept" 2>/dev/null || rm -rf "$_part" # another script was quicker
    fi
    printf '%s\n' "$_kept"
}

# simulate RUN LAB SUBMISSION [--case NAME | --shape '...'] [--gpu NAME]: `number RUN METRIC` knows
# this run from here on.
simulate() {
    _run=$1
    shift
    _kept=$(simulated run "$@")
    cp "$_kept/counters" "$out/runs/$_run"
}

# case_shape LAB CASE: its shape on the simulator, as lab.ini has it, for runs of other labs.
case_shape() { sed -n "/^\[case $2\]/,/^\[/s/^shape *= *//p" "labs/$1/lab.ini"; }

# record_of RUN: where a long run's numbers are kept.
record_of() {
    printf 'docs/data/simulated/%s/%s.tsv\n' "$script" "$1"
}

# simulate_long RUN ...: the same for what takes more than a few seconds: make numbers simulates it
# and records what the script asks of it, make check takes the record.
simulate_long() {
    _record=$(record_of "$1")
    if [ -n "${NUMBERS_LONG:-}" ]; then
        simulate "$@"
        mkdir -p "$(dirname "$out/data/$_record")"
        : >"$out/data/$_record"
    else
        [ -f "$_record" ] || fail "there is no $_record; make it:  make numbers LAB=$script"
        cp "$_record" "$out/runs/$1"
    fi
}

# number RUN METRIC: the metrics are docs/instructor/lab-ini.md's, and microseconds.
number() {
    _value=$(cell "$out/runs/$1" "$2" 2)
    _new=$out/data/$(record_of "$1")
    [ ! -f "$_new" ] || grep -q "^$2	" "$_new" || printf '%s\t%s\n' "$2" "$_value" >>"$_new"
    printf '%s\n' "$_value"
}

# profile LAB SUBMISSION [...]: prints the folder with the counters and the tables of `lab profile`.
profile() {
    simulated profile "$@"
}

# cell FILE KEY COLUMN: a cell of the line that starts with KEY, in a file with tabs.
cell() {
    awk -F'\t' -v key="$2" -v column="$3" \
        '$1 == key { print $column; found = 1 } END { exit !found }' "$1" ||
        fail "$1 has no '$2'"
}

# ---- measurements on a GPU -----------------------------------------------------------------------

# recorded LAB: a line for each timed case of docs/data/h200/LAB.json, tabs between: name, shape,
# seconds of the baseline and of the solution, speedup, its interval.
recorded() {
    jq -r '.cases[] | select(.speed.s > 0) | [.name, .shape, .speed.baseline, .speed.student, .speed.s, .speed.s_low, .speed.s_high] | @tsv' \
        docs/data/h200/"$1"-*.json
}

# after_table LAB: the table of the section "After passing": other solutions of LAB, as
# after-solutions.sh graded them.
after_table() {
    _wrong=$(awk -F'\t' -v lab="$1" '$1 == lab && $6 != "correct" { print $3 }' docs/data/after/solutions.tsv)
    [ -z "$_wrong" ] || fail "a solution of docs/data/after/solutions.tsv is not right: $_wrong"
    echo '| solution | case | time, cycles | time of the lab'\''s solution, cycles | speed points |'
    echo '| --- | --- | --- | --- | --- |'
    awk -F'\t' -v lab="$1" '$1 == lab { print $3 "|" $2 "|" $7 "|" $8 "|" $9 "|" $10 }' \
        docs/data/after/solutions.tsv | while IFS='|' read -r _title _case _time _best _points _all; do
        printf '| %s | `%s` | %s | %s | %s of %s |\n' "$_title" "$_case" "$(thousands "$_time")" \
            "$(thousands "$_best")" "$(calc %.1f "$_points" | sed 's/\.0$//')" "$_all"
    done
}

# compared LAYER SIDE FORMAT: the microseconds of a row of docs/data/compare/h200.tsv.
compared() {
    _us=$(awk -F'\t' -v layer="$1" -v side="$2" '$1 == layer && $2 == side { print $4 }' docs/data/compare/h200.tsv)
    [ -n "$_us" ] || fail "docs/data/compare/h200.tsv has no $2 on $1"
    thousands "$(calc "$3" "$_us")"
}

# after_ratio LAB SOLUTION EXPRESSION FORMAT: of a row of the table "After passing"; EXPRESSION has
# t, the solution's time, and best, the time of the lab's solution.
after_ratio() {
    _pair=$(awk -F'\t' -v lab="$1" -v title="$2" '$1 == lab && $3 == title { print "t = " $7 "; best = " $8 }' docs/data/after/solutions.tsv)
    [ -n "$_pair" ] || fail "docs/data/after/solutions.tsv has no '$2' of lab $1"
    awk "BEGIN { $_pair; printf \"$4\", $3 }"
}

# ---- constants of the sources --------------------------------------------------------------------

# constant NAME FILE: the value of an enum constant in C.
constant() {
    _value=$(sed -n "s/.*\\<$1 = \\([0-9]*\\)[^0-9].*/\\1/p" "$2")
    [ -n "$_value" ] || fail "there is no $1 in $2"
    printf '%s\n' "$_value"
}

# described FILE KEY: a number of a machine's description.
described() {
    _value=$(sed -n "s/^$2 = //p" "$1")
    [ -n "$_value" ] || fail "there is no $2 in $1"
    printf '%s\n' "$_value"
}

# machine NAME KEY: the same of common/simulator/gpus/NAME.ini.
machine() { described "common/simulator/gpus/$1.ini" "$2"; }

# ---- numbers as words ----------------------------------------------------------------------------

# calc FORMAT EXPRESSION: calc '%.1f' '100 * 3 / 7'
calc() {
    awk "BEGIN { printf \"$1\", $2 }"
}

# ratio A B: how many times as much A is, to a tenth.
ratio() {
    calc '%.1f' "$1 / $2"
}

# saved BEFORE AFTER [DECIMALS]: how much less it is, in percent.
saved() {
    calc "%.${3:-0}f" "100 - 100 * $2 / $1"
}

# thousands NUMBER: 1234567 becomes 1,234,567
thousands() {
    printf '%s\n' "$1" | sed -e :again -e 's/^\([0-9]*[0-9]\)\([0-9]\{3\}\)/\1,\2/' -e 't again'
}

# say PAGE WORDS: the page must contain these words, wherever its lines break.
say() {
    [ -f "$1" ] || fail "there is no page $1"
    printf '%s\t%s\n' "$1" "$2" >>"$out/said"
}
