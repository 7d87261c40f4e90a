#!/bin/sh
# check.sh BUILD - make sweep and make widths on the simulator: what they measure is what make run
# measures, the plan is lab 20's, and what is not right is refused in a line.
set -eu
. autograder/tests/lib.sh
ln -s "$build"/* "$work"
rm -f "$work/sweep" "$work/widths" "$work/runs"
tab=$(printf '\t')

sweep() { # LABS SHAPE OVER GPU
    SUBMISSION=solutions sh common/apps/tail/sweep.sh "$work" nvcc "$1" "$2" "$3" sim "$4" 2 \
        >"$work/out" 2>&1
}
widths() { # NETWORK MODE TAU
    SUBMISSION=solutions sh common/apps/tail/widths.sh "$work" nvcc "$1" 02 "$2" "$3" 1 sim gtx480 2 \
        >"$work/out" 2>&1
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
    "$build/bin/lab" run --build "$build" --lab 02 --submission solutions --engine sim \
    --gpu gtx480 --seed 1 --alone --counters "$work/counters" \
        --shape 'N=1 C=2 H=16 W=16 K=180 R=3 S=3 pad=1 stride=1' >"$work/out" 2>&1 &&
    us=$(awk -F'\t' '$1 == "microseconds" { printf "%.3f", $2 }' "$work/counters") &&
    awk -F'\t' -v us="$us" '/^[0-9]/ { rows++; last = $10; blocks = $4; if ($16 <= 0) bad = 1 } /^; steps: / { counted = 1 }
        END { exit !(rows == 3 && last == us && blocks == 180 && counted && !bad) }' \
            "$work/sweep/02-gtx480.tsv"
tell 'a sweep measures what make run does'
refused 'SHAPE must contain a %' sweep 02 'N=1 C=2 H=8 W=8 K=3 R=3 S=3 pad=1 stride=1' 1:3:1 gtx480
tell 'a shape without a number that grows is refused'
refused 'has no number in it' sweep 02 'N=% C=2 H=8 W=8 K=3 R=3 S=3 pad=1 stride=1' 3:1:1 gtx480
tell 'a range without a number is refused'
refused "no machine 'gtx9'" sweep 02 'N=% C=2 H=8 W=8 K=3 R=3 S=3 pad=1 stride=1' 1:3:1 gtx9
tell 'a machine that nobody described is refused'

# Two layers, of 9 and of 6 filters: 9*2*9 and 6*9*1 parameters.
{
    printf '; mine\nname\tshape\tfree\n'
    printf 'one\tN=1 C=2 H=8 W=8 K=9 R=3 S=3 pad=1 stride=1\t1\n'
    printf 'two\tN=1 C=9 H=8 W=8 K=6 R=1 S=1 pad=0 stride=1\t0\n'
} >"$work/mine.tsv"
widths "$work/mine.tsv" latency 500 &&
    awk -F'\t' '$1 == "one" { one = $2 == 9 && $6 == 162 && $7 == 18 * $3 } $1 == "two" { two = $2 == 6 && $3 == 6 && $6 == 54 }
        /^; latency/ { sum = / parameters 216 to / } END { exit !(one && two && sum) }' \
            "$work/widths/mine-n1-02-gtx480.tsv"
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
"$work/widths/plan" "$work/mine.tsv" "$work/measured.tsv" latency 200 >"$work/out" 2>&1 &&
    grep -qx "one${tab}9${tab}8" "$work/out" && grep -qx "two${tab}6${tab}6" "$work/out"
tell 'a plan takes a layer to the edge of its step'
# bad_network WHAT WORDS SED: mine.tsv after SED is refused, before anything is measured.
bad_network() {
    sed "$3" "$work/mine.tsv" >"$work/bad.tsv"
    refused "plan: $work/bad.tsv$2" widths "$work/bad.tsv" latency 50
    tell "a network with $1 is refused"
}
line='a line is NAME, SHAPE, 0 or 1, with tabs between'
bad_network 'other channels than the filters before' \
    ', line 4: its channels are not the filters of the layer before it' 's/C=9/C=8/'
bad_network 'no layer' ': no layer in it' "3,\$d"
bad_network 'two columns' ", line 3: $line" 's/\t1$//'
bad_network 'a 2 for free' ", line 3: $line" 's/\t1$/\t2/'
bad_network 'words behind the line' ", line 4: $line" 's/\t0$/\t0 or so/'
bad_network "another system's ends of lines" ", line 3: $line" 's/$/\r/'
bad_network 'blanks for tabs' ", line 3: $line" 's/\t/ /g'
bad_network 'a line of 1,000 letters' ", line 4: $line" "\$s/.*/two\tN=1\t$(printf '%01000d' 0)/"
bad_network 'a name twice' ', line 4: a layer above has the same name' 's/^two/one/'
bad_network 'more filters than an int' ', line 3: ' 's/K=9/K=999999999999/'
bad_network '4,000 filters' ', line 3: more than 2048 filters' 's/K=9/K=4000/'
bad_network 'nine filters in words' ', line 3: ' 's/K=9/K=nine/'
bad_network 'no height' ', line 3: ' 's/H=8//'
head -c 120 "$work/mine.tsv" >"$work/bad.tsv"
refused "line 4: $line" widths "$work/bad.tsv" latency 50
tell 'a network that was cut off is refused'
refused 'NETWORK is a file, or one of' widths "$work" latency 50
tell 'a folder is no network'

# bad_times WHAT WORDS SED: so is what measure.sh did not print.
bad_times() {
    sed "$3" "$work/measured.tsv" >"$work/bad.tsv"
    refused "$2" "$work/widths/plan" "$work/mine.tsv" "$work/bad.tsv" latency 200 2>"$work/out"
    tell "times with $1 are refused"
}
bad_times 'one that is no number' 'line 2: this is no time of a layer' \
    '2s/10\t10\t10$/nan\tnan\tnan/'
bad_times 'one below 0' 'line 3: this is no time of a layer' '3s/10\t10\t10$/-10\t-10\t-10/'
bad_times 'one of years' 'line 4: this is no time of a layer' \
    '4s/10\t10\t10$/1e300\t1\t1/; 4s/30\t30\t30$/1e300\t1\t1/'
bad_times 'columns missing' 'line 2: this is no time of a layer' \
    '2s/\t[^\t]*$//; 2s/\t[^\t]*$//; 2s/\t[^\t]*$//'
bad_times 'a layer missing' 'two: was not measured' "\$d"
refused 'TAU (thousandths)' widths "$work/mine.tsv" latency five
tell 'a tolerance that is no number is refused'
refused 'MODE is latency or parameters' widths "$work/mine.tsv" speed 50
tell 'a mode that there is not is refused'
exit "$failed"
