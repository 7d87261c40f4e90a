#!/bin/sh
# check.sh BUILD - make sweep and make widths on the simulator: what they measure is what make run measures, the plan is lab 20's,
# and what is not right is refused in a line.
set -eu
build=$(realpath "${1:?usage: check.sh BUILD}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$build"/* "$work"
rm -f "$work/sweep" "$work/widths" "$work/runs"
failed=0
tab=$(printf '\t')

# tell NAME: the verdict of the last command, with what it said.
tell() {
    if [ $? = 0 ]; then echo "ok tail/$1"; else
        sed 's/^/    /' "$work/out"
        echo "not ok tail/$1"
        failed=1
    fi
}

sweep() { # LABS SHAPE OVER GPU
    SUBMISSION=solutions sh common/tail/sweep.sh "$work" nvcc "$1" "$2" "$3" sim "$4" 2 >"$work/out" 2>&1
}
widths() { # NETWORK MODE TAU
    SUBMISSION=solutions sh common/tail/widths.sh "$work" nvcc "$1" 02 "$2" "$3" 1 sim gtx480 2 >"$work/out" 2>&1
}
# refused WORDS COMMAND...: fails, with these words in one line.
refused() {
    words=$1
    shift
    if "$@"; then return 1; fi
    [ "$(wc -l <"$work/out")" = 1 ] && grep -qF -- "$words" "$work/out"
}
set +e

sweep 02 'N=1 C=2 H=16 W=16 K=% R=3 S=3 pad=1 stride=1' 60:180:60 gtx480 &&
    "$build/bin/lab" run --build "$build" --lab 02 --submission solutions --engine sim --gpu gtx480 --seed 1 --alone --counters "$work/counters" \
        --shape 'N=1 C=2 H=16 W=16 K=180 R=3 S=3 pad=1 stride=1' >"$work/out" 2>&1 &&
    us=$(awk -F'\t' '$1 == "microseconds" { printf "%.3f", $2 }' "$work/counters") &&
    awk -F'\t' -v us="$us" '/^[0-9]/ { rows++; last = $10; blocks = $4; if ($16 <= 0) bad = 1 } /^; steps: / { counted = 1 }
        END { exit !(rows == 3 && last == us && blocks == 180 && counted && !bad) }' "$work/sweep/02-gtx480.tsv"
tell 'a sweep measures what make run does'
refused 'SHAPE has a %' sweep 02 'N=1 C=2 H=8 W=8 K=3 R=3 S=3 pad=1 stride=1' 1:3:1 gtx480
tell 'a shape without a number that grows is refused'
refused 'has no number in it' sweep 02 'N=% C=2 H=8 W=8 K=3 R=3 S=3 pad=1 stride=1' 3:1:1 gtx480
tell 'a range without a number is refused'
refused "no machine 'gtx9'" sweep 02 'N=% C=2 H=8 W=8 K=3 R=3 S=3 pad=1 stride=1' 1:3:1 gtx9
tell 'a machine that nobody described is refused'

# Two layers, of 9 and of 6 filters: 9*2*9 and 6*9*1 parameters.
printf '; mine\nname\tshape\tfree\none\tN=1 C=2 H=8 W=8 K=9 R=3 S=3 pad=1 stride=1\t1\ntwo\tN=1 C=9 H=8 W=8 K=6 R=1 S=1 pad=0 stride=1\t0\n' >"$work/mine.tsv"
widths "$work/mine.tsv" latency 500 &&
    awk -F'\t' '$1 == "one" { one = $2 == 9 && $6 == 162 && $7 == 18 * $3 } $1 == "two" { two = $2 == 6 && $3 == 6 && $6 == 54 }
        /^; latency/ { sum = / parameters 216 to / } END { exit !(one && two && sum) }' "$work/widths/mine-n1-02-gtx480.tsv"
tell 'a network of a file has its widths and parameters'
# Times by hand, in measure.sh's columns: a step at 8 filters, to whose edge the plan goes.
row() { # SHAPE WIDTH ROWS US
    printf '02\t%s\t%s\tk\t256\t1\t8\t15\t%s\t1\t1\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$4" "$4"
}
{
    echo '; 0 us, by hand'
    for width in 4 8 9 12 16; do row 'N=1 C=2 H=8 W=8 K=% R=3 S=3 pad=1 stride=1' $width 18 $((width > 8 ? 30 : 10)); done
    row 'N=1 C=9 H=8 W=8 K=% R=1 S=1 pad=0 stride=1' 6 9 10
} >"$work/measured.tsv"
"$work/widths/plan" "$work/mine.tsv" "$work/measured.tsv" latency 200 >"$work/out" 2>&1 && grep -qx "one${tab}9${tab}8" "$work/out" && grep -qx "two${tab}6${tab}6" "$work/out"
tell 'a plan takes a layer to the edge of its step'
sed 's/C=9/C=8/' "$work/mine.tsv" >"$work/torn.tsv"
refused 'its channels are not the filters of the layer before it' "$work/widths/plan" "$work/torn.tsv" "$work/measured.tsv" latency 200 2>"$work/out"
tell 'a network whose layers do not follow one another is refused'
refused 'TAU (thousandths)' widths "$work/mine.tsv" latency five
tell 'a tolerance that is no number is refused'
refused 'MODE is latency or parameters' widths "$work/mine.tsv" speed 50
tell 'a mode that there is not is refused'
exit "$failed"
