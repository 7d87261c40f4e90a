#!/bin/sh
# serve.sh BUILD OUT - the table, the figure and the numbers of docs/student/serve.md, from
# measurements on a GPU (h200/serve.sh) and from ten minutes on the simulator.
. docs/numbers/lib.sh
page=docs/student/serve.md
data=docs/data/h200/serve
columns='percent rate seconds sent answered full late missed stopping malformed failed lost unanswered unsent after p50 p90 p99 p99.9 longest'

# Every file has the columns that are meant here, and what was sent is accounted for.
for file in "$data"/*.tsv; do
    [ "$(sed -n 2p "$file" | tr '\t' ' ')" = "$columns" ] || fail "$file has other columns"
    awk -F'\t' 'NR > 2 { sum = 0; for (i = 5; i <= 13; i++) sum += $i; if (sum != $4 || $12 + $13) exit 1 }' "$file" || fail "$file: a line does not add up"
done

# rows NAME: the open loops, a line each.  column NAME PERCENT COLUMN: of one of them.
rows() { awk -F'\t' 'NR > 2 && $1 > 0 && !seen[$1]++' "$data/$1.tsv"; }
column() { rows "$1" | awk -F'\t' -v percent="$2" -v column="$3" '$1 == percent { print $column; found = 1 } END { exit !found }' || fail "$1 was not loaded to $2 %"; }
capacity() { awk -F'\t' 'NR > 2 && $1 == 0 && $5 / $3 > most { most = $5 / $3 } END { printf "%d", most / 100 + 0.5 }' "$data/$1.tsv"; }
answered() { calc %.0f "100 * $(column "$1" "$2" 5) / ($(column "$1" "$2" 4) + $(column "$1" "$2" 14))"; }
# batch NAME: "0.105 128 1.65": ms of one, the largest batch, its ms.
batch() { sed -n 's/^serve: a batch of 1 takes \(.*\) ms, one of \([0-9]*\) \(.*\) ms;.*/\1 \2 \3/p' "$data/$1-server.txt"; }
# soak NAME: "8 141000 158720000 158720000 44 44": seconds at 90 %, requests, bytes before and
# after, descriptors.
soak() {
    awk '/^before:/ { bytes = $2; open = $5 } / sent / { sent = $2 + 0 } /^after / { print $2, sent, bytes, $7, open, $10 }' "$data/$1-server.txt"
}

told() { # NAME WHAT: a paragraph
    # shellcheck disable=SC2046
    set -- "$1" "$2" $(batch "$1")
    printf '**%s**: one request takes %s ms, a batch of %s takes %s ms. A closed loop reaches at most %s answers per second. At 50 %% of that rate 99 of 100 answers arrive within %s ms, at 90 %% within %s ms. At 200 %% of it %s %% of the requests are answered, 99 of 100 of them within %s ms.\n\n' \
        "$2" "$3" "$4" "$5" "$(thousands "$(capacity "$1")00")" \
        "$(calc %.2f "$(column "$1" 50 18)")" "$(calc %.2f "$(column "$1" 90 18)")" \
        "$(answered "$1" 200)" "$(calc %.2f "$(column "$1" 200 18)")" | fold -s -w 100 |
        sed 's/ $//'
}
{
    told electrode 'The electrode network, lab 19'
    told lenet 'LeNet-5, lab 16'
    echo '| network | load | requests per second | answered | rejected | not sent | missed | p50, ms | p99, ms | p99.9, ms |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    for name in electrode lenet; do
        rows "$name" | while IFS=$(printf '\t') read -r percent _ seconds sent answered full late \
            missed _ _ _ _ _ unsent _ p50 _ p99 p999 _; do
            all=$((sent + unsent))
            printf '| %s | %s %% | %s | %s %% | %s %% | %s %% | %s | %s | %s | %s |\n' "$name" \
                "$percent" "$(thousands "$(calc %.0f "$all / $seconds")")" \
                "$(calc %.1f "100 * $answered / $all")" \
                "$(calc %.1f "100 * ($full + $late) / $all")" \
                "$(calc %.1f "100 * $unsent / $all")" "$missed" \
                "$(calc %.2f "$p50")" "$(calc %.2f "$p99")" "$(calc %.2f "$p999")"
        done
    done
    # shellcheck disable=SC2046
    set -- $(soak electrode)
    printf '\n%s s of electrode at 90 %%, %s requests: %s bytes resident before, %s after; %s descriptors before, %s after.\n' \
        "$1" "$(thousands "$2")" "$(thousands "$3")" "$(thousands "$4")" "$5" "$6" |
        fold -s -w 100 | sed 's/ $//'
    printf '\n%s, `sh docs/numbers/h200/serve.sh`.\n' \
        "$(sed -n '1s/^; //; 1s/: sh .*//p' "$data/electrode.tsv")"
} >"$out/measured.md"

if command -v gnuplot >/dev/null; then
    for name in electrode lenet; do rows "$name" | awk -F'\t' '{ print $1, $16, $18, $19, 100 * $5 / ($4 + $14) }' >"$out/$name.dat"; done
    gnuplot -e "dir='$out'" docs/numbers/serve.gp
fi

# 500 seconds on a GPU: the first sample is taken before the clients connect.
minutes=docs/data/serve/soak-h200.tsv
[ "$(awk -F'\t' 'NR > 2 { print $3 }' "$minutes" | sort -u | wc -l)" = 1 ] ||
    fail 'resident memory changed on the GPU'
[ "$(awk -F'\t' 'NR > 3 { print $4 }' "$minutes" | sort -u)" = 56 ] ||
    fail 'the number of descriptors changed on the GPU'
sent=$(sed -n '1s/.*(\([0-9,]*\) sent.*/\1/p' "$minutes")
say $page "$sent requests in 500 seconds at 90 % on an H200"
say $page "$(thousands "$(awk -F'\t' 'NR == 3 { print $3 }' "$minutes")") bytes resident in each sample, and 56 descriptors"
say $page "$(sed -n '1s/.*; p99 \([0-9.]* ms\)).*/\1/p' "$minutes")"

# Ten minutes on the simulator: while the load runs, nothing grows.
minutes=docs/data/serve/soak-sim.tsv
sent=$(sed -n '1s/.*(\([0-9,]*\) sent.*/\1/p' "$minutes")
grown=$(awk -F'\t' 'NR > 2 { if ($3 > most) most = $3; if (NR == 3) first = $3 } END { print most - first }' "$minutes")
[ "$grown" = 0 ] || fail "resident memory grew by $grown bytes"
[ "$(awk -F'\t' 'NR > 3 { print $4 }' "$minutes" | sort -u | tr '\n' ' ')" = '13 29 ' ] ||
    fail 'descriptors come and do not go'
say $page "$sent requests in ten minutes on the simulator"
say $page "$(thousands "$(awk -F'\t' 'NR == 3 { print $3 }' "$minutes")") bytes resident before and after"
