#!/bin/sh
# mutate.sh BUILD LAB - mutation test: do the lab's cases detect every small change of its
# solution's TODO regions?  Prints a table, and the undetected changes; exits 1 if there are any.
# The environment may set:
#   JOBS           number of parallel mutants, 2
#   SAMPLE, SEED   number of mutants, chosen by SEED; default all
#   SHARD=K/N      only every Nth mutant, from the Kth on: the part of one of N machines
#   KNOWN=FILE     found.tsv of other runs, concatenated: mutants detected there are not tried
#                  again
#   VERBOSE=1      before the table each detected mutant and its message, for a review of the
#                  messages
# BUILD/mutate/NN-name/found.tsv gets one line per mutant, its name and verdict, as soon as it is
# known.
#
# Each mutant (mutants.h) is compiled to PTX only.  If its object equals the solution's, it is the
# same program.  It runs on the simulator, case by case and the smallest first, until one is wrong:
# a mutant that does not end, crashes or has a race is wrong too.  If no public case detects it,
# the hidden shapes of ten seeds must, every time.  Each remaining mutant must be listed with its
# reason in autograder/tests/mutate/NN-name.tsv.  BUILD/mutate caches the results by digest, so a
# second run is fast.
#
# In a lab in parts, the complete solution may never call the code of an earlier part.  So a mutant
# of TODO(n) is tried first in the solution as it is at the end of its part, with the skeleton's
# regions after that, and then in the complete one.  A row "until M - reason" of the list names a
# TODO(M) within a part at which the lab is right, too.
set -eu
build=${1:?usage: mutate.sh BUILD LAB}
seeds=10
flags='-O3 -std=c++17 -cudart none -w -Wno-deprecated-gpu-targets -Icommon/include'
tab=$(printf '\t')

digest() {
    sha256sum | cut -d ' ' -f 1
}

# The Nth of the cores available to this process.
core() {
    taskset -cp $$ | sed 's/.*: //' | tr , '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done |
        awk -v n="$1" '{ core[NR - 1] = $1 } END { print core[n % NR] }'
}

# ---- one mutant, called below through xargs ------------------------------------------------------

# compile SOURCE OBJECT
compile() {
    if [ "${1##*.}" = c ]; then
        "$CC" -O3 -std=c11 -w -Icommon/include -c "$1" -o "$2"
    else
        # shellcheck disable=SC2086
        "$NVCC" $flags -ccbin="$CXX" -gencode "arch=compute_$MUTATE_CC,code=compute_$MUTATE_CC" \
            -c "$1" -o "$2"
    fi
}

# link OBJECT PROGRAM, with the libraries that the grader's own command line has.
link() {
    # shellcheck disable=SC2046,SC2086
    "$CXX" -o "$2" "$1" $MUTATE_CALLS -Wl,--whole-archive "$build/lib/run.a" \
        -Wl,--no-whole-archive "$build/lib/run-modules.a" \
        $(sed -n '/"-ldl"\|"-ljansson"/p' autograder/build/build_command.c | grep -o '[-]l[a-z0-9]*')
}

# Names that the compiler generated for its own files are not part of the program.
object_digest() {
    objcopy --strip-unneeded "$1" "$1.plain"
    digest <"$1.plain"
}

# right PROGRAM SECONDS ARGUMENTS...: whether the output is correct, without a race.  Runs on one
# core, so that the solution's seconds are CPU seconds.  A mutant's limit is five times the
# solution's, which it could use up quickly on sixteen threads.
right() {
    program=$1 seconds=$2
    shift 2
    timeout $((seconds * 30)) prlimit "--cpu=$seconds" taskset -c "$MUTATE_CORE" "$program" \
        --root . --lab "$MUTATE_LAB" --engine sim \
        --gpu "$MUTATE_GPU" --seed 1 "$@" >"${program%/*}/log" 2>&1 &&
        ! grep -q 'but only by chance' "${program%/*}/log"
}

# find_fault PROGRAM PART: the case that detects the program: "public CASE", "hidden", or "nothing",
# with the seeds whose hidden shapes do not detect it.
find_fault() {
    while IFS=$tab read -r name seconds; do
        right "$1" "$seconds" --case "$name" || { echo "public $name"; return; }
    done <"$2/cases.tsv"
    left=
    for seed in $(seq "$seeds"); do
        found=
        [ ! -f "$2/hidden.$seed" ] || while read -r shape; do
            right "$1" 10 --shape "$shape" || { found=1; break; }
        done <"$2/hidden.$seed"
        [ "$found" ] || left="$left $seed"
        [ ! "$left" ] || break
    done
    if [ "$left" ]; then echo "nothing$left"; else echo hidden; fi
}

# verdict FOLDER PART: the verdict on the source in FOLDER, stored: "none" (no program), "same",
# "public CASE", "hidden" or "nothing".  PART is a folder of part_prepare.
verdict() {
    source=$1/$MUTATE_SOURCE
    known=$build/mutate/objects/$( (echo "$MUTATE_TOOLS"; cat "$source") | digest)
    if [ ! -f "$known" ]; then
        if compile "$source" "$1/object.o" >"$1/log" 2>&1; then
            object_digest "$1/object.o" >"$known.$$"
        else
            echo none >"$known.$$"
        fi
        mv "$known.$$" "$known"
    fi
    read -r object <"$known"
    case $object in
    none) echo none; return ;;
    "$(cat "$2/object")") echo same; return ;;
    esac
    judged=$build/mutate/verdicts/$( (echo "$object"; cat "$MUTATE_WORK/judge") | digest)
    if [ ! -f "$judged" ]; then
        [ -f "$1/object.o" ] || compile "$source" "$1/object.o" >"$1/log" 2>&1
        if link "$1/object.o" "$1/program" >"$1/log" 2>&1; then
            find_fault "$1/program" "$2" >"$judged.$$"
            cp "$1/log" "$judged.words"
        else
            echo none >"$judged.$$"
        fi
        mv "$judged.$$" "$judged"
    fi
    cp "$judged.words" "$MUTATE_WORK/words/${1##*/}" 2>/dev/null || : # a program that does not link has no messages
    cat "$judged"
}

# verdict_in_parts NAME: the same for a mutant, in the solution at the end of its part and in the
# complete one.
verdict_in_parts() {
    todo=$(awk -F "$tab" -v name="$1" '$1 == name { print $4 + 0 }' "$MUTATE_WORK/mutants.tsv")
    all=$(tail -n 1 "$MUTATE_WORK/parts")
    part=$(awk -v todo="$todo" '$1 >= todo { print; exit }' "$MUTATE_WORK/parts")
    if [ "$part" != "$all" ]; then
        mkdir -p "$MUTATE_WORK/sources/$1/part/$1"
        "$build/bin/lab" until --lab "$MUTATE_LAB" --todo "$part" \
            --submission "$MUTATE_WORK/sources/$1/$MUTATE_SOURCE" \
            >"$MUTATE_WORK/sources/$1/part/$1/$MUTATE_SOURCE"
        found=$(verdict "$MUTATE_WORK/sources/$1/part/$1" "$MUTATE_WORK/part.$part")
        case $found in public* | hidden | none) echo "$found"; return ;; esac
    fi
    found_in_all=$(verdict "$MUTATE_WORK/sources/$1" "$MUTATE_WORK/part.$all")
    case $found_in_all in same) echo "${found:-same}" ;; *) echo "$found_in_all" ;; esac
}

# part_prepare M: the folder part.M for the solution without what comes after TODO(M).  It gets the
# object's digest, the cases in which the part is right, with the time limit of a mutant, and the
# hidden shapes if it is right in all of them.
part_prepare() {
    part=$MUTATE_WORK/part.$1
    mkdir -p "$part"
    "$build/bin/lab" until --lab "$MUTATE_LAB" --todo "$1" >"$part/$MUTATE_SOURCE"
    compile "$part/$MUTATE_SOURCE" "$part/object.o"
    link "$part/object.o" "$part/program"
    object_digest "$part/object.o" >"$part/object"
    while read -r name; do
        start=$(date +%s)
        right "$part/program" 600 --case "$name" ||
            { echo "$name" >>"$part/wrong"; cp "$part/log" "$part/wrong.log"; continue; }
        printf '%s\t%s\n' "$name" "$((5 * ($(date +%s) - start) + 4))"
    done <"$MUTATE_WORK/smallest" >"$part/cases.tsv"
    sort -u "$MUTATE_WORK"/hidden.* | while read -r shape; do
        right "$part/program" 10 --shape "$shape" && continue
        echo "$shape" >>"$part/wrong"
        cp "$part/log" "$part/wrong.log"
        break
    done
    [ -f "$part/wrong" ] || cp "$MUTATE_WORK"/hidden.* "$part"
}

if [ "${MUTATE_WORK:-}" ]; then
    MUTATE_CORE=$(core "${MUTATE_JOB:?}") # set by xargs: the number of the job
    [ "$2" = part ] && { part_prepare "$3"; exit 0; }
    exec 2>>"$MUTATE_WORK/log" # the shell reports each program that it stopped
    found=$(verdict_in_parts "$3")
    printf '%s\t%s\n' "$3" "$found" >>"$MUTATE_WORK/found.tsv"
    rm -rf "$MUTATE_WORK/sources/$3"
    echo >&9
    exit 0
fi

# ---- a lab ---------------------------------------------------------------------------------------

lab=$("$build/bin/lab" names | grep "^${2:?usage: mutate.sh BUILD LAB}") ||
    { echo "mutate: there is no lab $2; there are: $("$build/bin/lab" names | tr '\n' ' ')" >&2; exit 2; }
shard=${SHARD:-1/1} known=${KNOWN:-/dev/null}
echo "$shard" | awk -F / '{ exit !(/^[1-9][0-9]*\/[1-9][0-9]*$/ && $1 <= $2) }' ||
    { echo "mutate: SHARD is K/N, the Kth of N parts, not '$shard'" >&2; exit 2; }
[ -r "$known" ] || { echo "mutate: KNOWN is a found.tsv; there is no '$known'" >&2; exit 2; }
work=$build/mutate/$lab
ini=labs/$lab/lab.ini
listed=autograder/tests/mutate/$lab.tsv
key() { sed -n "s/^$1 *= *\([^ ;]*\).*/\1/p" "$ini" | head -n 1; }
NVCC=$(sed -n 's/^NVCC=//p' "$build/toolchain.env") CC=$(sed -n 's/^CC=//p' "$build/toolchain.env")
CXX=$(sed -n 's/^CXX=//p' "$build/toolchain.env")
MUTATE_LAB=$lab MUTATE_GPU=$(key gpu)
MUTATE_GPU=${MUTATE_GPU:-h200}
MUTATE_CC=$(sed -n 's/^needs *=.*cc >*= \([0-9]*\)\.\([0-9]*\).*/\1\2/p' "$ini")
case ${MUTATE_CC:=75} in 90) MUTATE_CC=90a ;; esac # Hopper's units (build_command.c)
MUTATE_TOOLS="$flags $MUTATE_CC $("$NVCC" --version 2>/dev/null | digest) $(cat common/include/convlab/* | digest)"
# One for each entry point; the folder's name has no special characters (Makefile).
MUTATE_CALLS=$(sed -n 's/^operation *= *\([^ ;]*\).*/\1/p' "$ini" | sort -u | sed "s|.*|$build/obj/common/operations/calls/&.o|")
MUTATE_WORK=$work MUTATE_SOURCE=$(key source)
export NVCC CC CXX MUTATE_LAB MUTATE_CALLS MUTATE_GPU MUTATE_CC MUTATE_TOOLS

rm -rf "$work"
mkdir -p "$work/words" "$build/mutate/objects" "$build/mutate/verdicts"
"$build/bin/lab" mutants --lab "$lab" >"$work/all.tsv"
"$build/bin/lab" mutants --lab "$lab" ${SAMPLE:+--sample "$SAMPLE"} --seed "${SEED:-1}" \
    --out "$work/sources" |
    awk -v k="${shard%/*}" -v n="${shard#*/}" 'NR == 1 || (NR - 1) % n == k % n' \
    >"$work/mutants.tsv"

export MUTATE_WORK MUTATE_SOURCE
"$build/bin/lab" smallest --lab "$lab" >"$work/smallest"
for n in $(seq "$seeds"); do
    "$build/bin/lab" hidden --lab "$lab" --seed "$n" >"$work/hidden.$n"
done
{
    sed -n 's/^todos *=.*[-= ]\([0-9]\{1,\}\)$/\1/p' "$ini"
    [ ! -f "$listed" ] || sed -n "s/^until$tab\([0-9]*\)$tab.*/\1/p" "$listed"
    grep -c 'END TODO(' "solutions/$lab/$MUTATE_SOURCE"
} | sort -nu >"$work/parts"
xargs -P "${JOBS:-2}" --process-slot-var=MUTATE_JOB -n 1 sh "$0" "$build" part <"$work/parts" || exit 1
last=$work/part.$(tail -n 1 "$work/parts")
[ ! -f "$last/wrong" ] || {
    echo "mutate: the solution itself is wrong in $(head -n 1 "$last/wrong"); see $last/wrong.log" >&2
    exit 1
}
cat "$build/lib/run.a" "$build/lib/run-modules.a" "$ini" "$work"/hidden.* "$0" \
    "common/simulator/gpus/$MUTATE_GPU.ini" | digest >"$work/judge"

# Results of earlier runs; another run's "nothing" may have had fewer cases, so it is not used.
awk -F "$tab" 'FNR == 1 { file++ } file == 1 { wanted[$1] } file == 2 && $1 in wanted && $2 !~ /^nothing/ { print; delete wanted[$1] }' \
    "$work/mutants.tsv" "$known" >"$work/found.tsv"

awk -F "$tab" 'FILENAME != ARGV[1] && FNR > 1 && !($1 in known) { print $1 } { known[$1] }' \
    "$work/found.tsv" "$work/mutants.tsv" >"$work/todo"
. common/setup/ticker.sh
ticker_begin "$build" "changes of $lab" "$(wc -l <"$work/todo")"
xargs -r -P "${JOBS:-2}" --process-slot-var=MUTATE_JOB -n 1 nice sh "$0" "$build" mutant <"$work/todo"
ticker_end
[ -f "$listed" ] || listed=/dev/null
[ ! "${VERBOSE:-}" ] || tail -n +2 "$work/mutants.tsv" |
    while IFS=$tab read -r name line kind todo before after; do
    case $(sed -n "s/^$name$tab//p" "$work/found.tsv") in
    public* | hidden)
        printf 'line %s, %s, TODO(%s): %s\n  -> %s\n' "$line" "$kind" "$todo" "$before" "$after"
        sed 's/^/  | /' "$work/words/$name" 2>/dev/null || : # another run has the messages
        ;;
    esac
done
awk -F "$tab" -v lab="$lab" -f autograder/mutate/table.awk "$listed" "$work/all.tsv" \
    "$work/found.tsv" "$work/mutants.tsv"
