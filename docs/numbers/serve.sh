#!/bin/sh
# serve.sh BUILD OUT - the table, the figure and the numbers of docs/serve.md, from what a card measured (h200-serve.sh).
. docs/numbers/lib.sh
page=docs/serve.md
data=docs/data/h200/serve
columns='percent rate seconds sent answered full late missed stopping malformed failed lost unanswered unsent after p50 p90 p99 p99.9 longest'

# Every file has the columns that are meant here.
for file in "$data"/*.tsv; do
    [ "$(sed -n 2p "$file" | tr '\t' ' ')" = "$columns" ] || fail "$file has other columns"
    # What was sent is accounted for.
    awk -F'\t' 'NR > 2 { sum = 0; for (i = 5; i <= 13; i++) sum += $i; if (sum != $4) exit 1 }' "$file" || fail "$file: a line does not add up"
done

# rows FILE: the open loops, a line each.
rows() {
    awk -F'\t' 'NR > 2 && $1 > 0 && !seen[$1]++' "$1"
}
{
    echo '| network | load | a second | answered | refused | missed | p50, ms | p99 | p99.9 |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    for name in electrode lenet; do
        rows "$data/$name.tsv" | while IFS=$(printf '\t') read -r percent _ seconds sent answered full late missed _ _ _ _ _ unsent _ p50 _ p99 p999 _; do
            all=$((sent + unsent))
            printf '| %s | %s %% | %s | %s %% | %s %% | %s | %s | %s | %s |\n' "$name" "$percent" "$(thousands "$(calc %.0f "$all / $seconds")")" \
                "$(calc %.1f "100 * $answered / $all")" "$(calc %.1f "100 * ($full + $late + $unsent) / $all")" "$missed" \
                "$(calc %.2f "$p50")" "$(calc %.2f "$p99")" "$(calc %.2f "$p999")"
        done
    done
    printf '\n%s; the workbook'"'"'s own kernels, `LIMIT=7`.\n' "$(sed -n '1s/^; //; 1s/: sh .*//p' "$data/electrode.tsv")"
} >"$out/measured.md"

capacity() { awk -F'\t' 'NR > 2 && $1 == 0 && $5 / $3 > most { most = $5 / $3 } END { printf "%d", most / 1000 }' "$data/$1.tsv"; }
for name in electrode lenet; do
    say $page "$(capacity $name),000 $name"
    sed -n 's/^serve: a batch of 1 takes \(.*\) ms, one of \([0-9]*\) \(.*\) ms; .*/\1 \2 \3/p' "$data/$name-server.txt" >"$out/$name-batch"
done
read -r one size whole <"$out/electrode-batch"
say $page "one recording takes $one ms, a batch of $size $whole ms"

if command -v gnuplot >/dev/null; then
    for name in electrode lenet; do rows "$data/$name.tsv" | awk -F'\t' '{ print $1, $16, $18, $19, 100 * $5 / ($4 + $14) }' >"$out/$name.dat"; done
    gnuplot -e "dir='$out'" docs/numbers/serve.gp
fi
