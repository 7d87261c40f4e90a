#!/bin/sh
# ideas.sh BUILD show|check [LAB] - does every idea of a lab count?
#
# A variant is a lab's solution without one idea: a mutant of autograder/tests/mutants/NN-name/, or
# a patch autograder/tests/ideas/NN-name/NAME.patch.  A mutant belongs to the TODO regions that its
# patch changes.  The head of a patch of ideas says what it leaves out:
#
#     TODO: 2                (- : an idea of the handout that is in no region)
#     Idea: neighbouring threads load neighbouring floats
#     Case: lenet-c1         (the case in which it loses points; several with blanks between)
#
# show grades each variant in its case on the simulator and lists the points that it loses there.
# check requires four things of LAB or of all labs.  Every TODO region has a variant.  Every patch
# of ideas fits.  Each variant loses points.  A right one earns at most half of the speed points of
# its case.  It does not grade the mutants: autograder/tests/corpus does, and none may pass.
#
# BUILD/ideas keeps what a variant earned, by the digest of all that goes in.  JOBS: variants graded
# at a time.
set -eu
build=${1:?usage: ideas.sh BUILD show|check [LAB]}
mode=${2:?usage: ideas.sh BUILD show|check [LAB]}
work=$build/ideas
tab=$(printf '\t')

key() { sed -n "s/^$2 *= *\([^ ;]*\).*/\1/p" "labs/$1/lab.ini" | head -n 1; }

# ---- one patch, called below through xargs -------------------------------------------------------

# earned RECORD: points, possible points, and both for speed alone; the verdict of the worst case.
earned() {
    awk -F '[:,]' '
        /^  "points"/ { points = $2 }
        /^  "possible"/ { possible = $2 }
        /^      "verdict"/ { if ($2 !~ /"correct"|"not-run"/ && !worst) worst = $2 }
        /^      "speed": \{/ { speed = 1 }
        speed && /^        "points"/ { fast += $2 }
        speed && /^        "possible"/ { fastest += $2; speed = 0 }
        END {
            gsub(/[ "]/, "", worst)
            printf "%g\t%g\t%g\t%g\t%s\n", points, possible, fast, fastest, worst ? worst : "correct"
        }' "$1"
}

# variant LAB PATCH CASE: makes the line of PATCH in CASE.
variant() {
    lab=$1 patch=$2 case=$3
    source=$(key "$lab" source)
    folder=$IDEAS_RUN/submissions/$lab/$(echo "$patch $case" | tr '/ ' '__')
    mkdir -p "$folder/$lab"
    cp "solutions/$lab/predict.ini" "$folder/$lab/"
    if ! patch --silent --batch --fuzz=0 --output="$folder/$lab/$source" "solutions/$lab/$source" "$patch" >/dev/null 2>&1; then
        echo "0${tab}0${tab}0${tab}0${tab}does-not-fit" >"$folder/earned"
        return
    fi
    kept=$work/earned/$(cat "$folder/$lab/$source" "$IDEAS_RUN/tools" "labs/$lab/"*.* "solutions/$lab/"*.* - <<EOF | sha256sum | cut -c 1-32
$case
EOF
    )
    if [ ! -s "$kept" ]; then
        case $patch in */mutants/*) ptx=--ptx-only ;; *) ptx= ;; esac
        # shellcheck disable=SC2086
        "$build/bin/grade" --build "$build" --lab "$lab" --submission "$folder" --engine sim \
            --seed 20260131 --call-seconds 3 --results "$folder/results" ${case:+--case "$case"} $ptx \
            >"$folder/log" 2>&1 || :
        earned "$folder/results/$lab.json" >"$kept.$$"
        mv "$kept.$$" "$kept"
    fi
    cp "$kept" "$folder/earned"
}

if [ "${IDEAS_ONE:-}" ]; then
    # All cases, one after the other, so that the variant is compiled once.  A mutant may have none.
    printf '%s\n' "$3" | while IFS='|' read -r lab patch cases; do
        # shellcheck disable=SC2086 # words
        set -- $cases
        [ $# != 0 ] || set -- ''
        for case; do variant "$lab" "$patch" "$case"; done
    done
    exit 0
fi

# ---- list of variants ---------------------------------------------------------------------

head_of() { sed -n "/^---/q; s/^$2: *//p" "$1" | head -n 1; }

# regions LAB: "number first-line last-line sentence" of the solution's TODO regions.
regions() {
    awk -v OFS="$tab" '
        /END TODO\([0-9]+\)/ { if (open) print open, first, NR, sentence; open = 0; next }
        match($0, /TODO\([0-9]+\): /) {
            open = substr($0, RSTART + 5) + 0; first = NR; sentence = substr($0, RSTART + RLENGTH)
        }' "solutions/$1/$(key "$1" source)"
}

# todos PATCH REGIONS: the regions that a patch changes, "-" for none, with commas between.
todos() {
    awk -F "$tab" '
        FNR == NR { number[FNR] = $1; first[FNR] = $2; last[FNR] = $3; all = FNR; next }
        /^(---|\+\+\+)/ { next }
        /^@@/ { within = 1 }
        !within { next }
        /^@@/ { split($0, part, /[-, ]+/); line = part[2]; next }
        /^[-+]/ { for (i = 1; i <= all; i++) if (line > first[i] && line <= last[i]) hit[i] = 1 }
        /^[- ]/ { line++ }
        END {
            for (i = 1; i <= all; i++) if (hit[i]) list = list (list == "" ? "" : ",") number[i]
            print list == "" ? "-" : list
        }' "$2" "$1"
}

# variants LAB: "TODO idea patch case", one a line.
variants() {
    for _patch in "autograder/tests/mutants/$1"/*.patch; do
        [ -f "$_patch" ] || continue
        printf '%s\t%s\t%s\t%s\n' "$(todos "$_patch" "$IDEAS_RUN/$1.regions")" \
            "$(sed -n '1s/^; *//p' "$_patch")" "$_patch" "$(sed -n '/^---/q; s/^case *= *//p' "$_patch")"
    done
    for _patch in "autograder/tests/ideas/$1"/*.patch; do
        [ -f "$_patch" ] || continue
        for _case in $(head_of "$_patch" Case); do
            printf '%s\t%s\t%s\t%s\n' "$(head_of "$_patch" TODO)" "$(head_of "$_patch" Idea)" "$_patch" "$_case"
        done
    done
}

labs=$("$build/bin/lab" names)
[ ! "${3:-}" ] || labs=$(echo "$labs" | grep "^$3") ||
    { [ "$mode" = check ] && exit 0 # LAB may be a page
      echo "ideas: there is no lab $3; there are: $("$build/bin/lab" names | tr '\n' ' ')" >&2; exit 2; }
mkdir -p "$work/earned"
IDEAS_RUN=$(mktemp -d "$work/run.XXXXXX")
trap 'rm -rf "$IDEAS_RUN"' EXIT
export IDEAS_RUN
cat "$build/bin/grade" "$build/lib/runner.a" common/simulator/gpus/*.ini common/simulator/gpus/*/*.ini | sha256sum >"$IDEAS_RUN/tools"
: >"$IDEAS_RUN/all"
for lab in $labs; do
    regions "$lab" >"$IDEAS_RUN/$lab.regions"
    variants "$lab" >"$IDEAS_RUN/$lab.variants"
    awk -F "$tab" -v lab="$lab" -v mode="$mode" \
        'mode == "show" || $3 !~ /\/mutants\// { print lab "|" $3 "|" $4 }' "$IDEAS_RUN/$lab.variants" >>"$IDEAS_RUN/all"
done
awk -F '|' -v OFS='|' '
    !(($1, $2) in cases) { patch[++patches] = $1 SUBSEP $2 }
    { cases[$1, $2] = cases[$1, $2] " " $3 }
    END {
        for (i = 1; i <= patches; i++) {
            split(patch[i], of, SUBSEP)
            print of[1], of[2], cases[patch[i]]
        }
    }' \
    "$IDEAS_RUN/all" | IDEAS_ONE=1 xargs -r -d '\n' -P "${JOBS:-2}" -n 1 sh "$0" "$build" "$mode"

# ---- the tables ----------------------------------------------------------------------------------

# table LAB: "TODO idea variant case lost possible fast fastest verdict"; a mutant that is not
# graded has no numbers.
table() {
    while IFS=$tab read -r todo idea patch case; do
        name=${patch%.patch}
        line=$IDEAS_RUN/submissions/$1/$(echo "$patch $case" | tr '/ ' '__')/earned
        [ -f "$line" ] && grep -qxF "$1|$patch|$case" "$IDEAS_RUN/all" || line=/dev/null
        printf '%s\t%s\t%s\t%s\t%s\n' "$todo" "$idea" "${name#autograder/tests/}" "${case:-all}" "$(cat "$line")"
    done <"$IDEAS_RUN/$1.variants" | sed "s,/$1/,/,"
}

show() {
    echo "$1"
    table "$1" | sort -t "$tab" -k 1,1 -V | awk -F "$tab" -v regions="$IDEAS_RUN/$1.regions" '
        BEGIN { while ((getline line < regions) > 0) { split(line, part, "\t"); sentence[part[1]] = part[4] } }
        $1 != before {
            printf "\n  %s\n", $1 == "-" ? "Ideas outside the TODO regions" : "TODO(" $1 "): " sentence[$1]
            before = $1
        }
        {
            lost = sprintf("%g of %g", $6 - $5, $6)
            if ($8 > 0 && $9 == "correct") lost = lost sprintf(", speed %g of %g", $7, $8)
            printf "    %-30s %-16s loses %s (%s)\n        %s\n", $3, $4, lost, $9, $2
        }'
    echo
}

# complain LAB: what is missing, one a line.
complain() {
    table "$1" | awk -F "$tab" -v OFS=": " -v lab="$1" -v regions="$IDEAS_RUN/$1.regions" '
        BEGIN { while ((getline line < regions) > 0) { split(line, part, "\t"); open[part[1]] = part[4] } }
        { n = split($1, number, ","); for (i = 1; i <= n; i++) delete open[number[i]] }
        $1 == "" || $2 == "" { print lab, $3, "the head lacks TODO: or Idea:" }
        $3 ~ /^mutants/ { next }
        $9 == "does-not-fit" { print lab, $3, "the patch does not fit the solution as it is now"; next }
        $9 != "" && $6 - $5 < 0.05 { print lab, $3, "loses no points in case " $4 " (" $2 ")" }
        $9 == "correct" && $8 > 0 && $7 > $8 / 2 + 1e-9 {
            print lab, $3, "earns " $7 " of " $8 " points for speed in case " $4 " without its idea (" $2 ")"
        }
        $9 == "" { print lab, $3, "the head lacks Case:" }
        END { for (left in open) print lab, "TODO(" left ") has no variant without it", open[left] }'
}

if [ "$mode" = show ]; then
    for lab in $labs; do show "$lab"; done
else
    for lab in $labs; do complain "$lab"; done >"$IDEAS_RUN/complaints"
    cat "$IDEAS_RUN/complaints"
    [ ! -s "$IDEAS_RUN/complaints" ] || exit 1
fi
