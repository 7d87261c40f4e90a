#!/bin/sh
# measurements.sh BUILD OUT - the tables of docs/simulator/measurements.md, from the records of the answer key
# graded on an H200, and of make bench there.
. docs/numbers/lib.sh

data=docs/data/h200

{
    echo '| quantity | measured |'
    echo '| --- | --- |'
    awk -F'\t' 'FNR > 1 { printf "| %s | %s %s |\n", $1, $2, $3 }' "$data/bench.tsv"
} >"$out/bench.md"

# Every timed case of every record.  Times have three digits.
{
    echo '| lab | case | shape | baseline, time | solution, time | speedup | 95 % interval |'
    echo '| --- | --- | --- | --- | --- | --- | --- |'
    for record in "$data"/*.json; do
        lab=$(basename "$record" .json)
        recorded "${lab%%-*}" | awk -F'\t' -v lab="$lab" '
            function digits(x) { return x < 10 ? sprintf("%.2f", x) : x < 100 ? sprintf("%.1f", x) : sprintf("%.0f", x) }
            function time(seconds) { return seconds < 1e-3 ? digits(seconds * 1e6) " µs" : digits(seconds * 1e3) " ms" }
            function times(x) { return x < 100 ? sprintf("%.3f", x) : sprintf("%.0f", x) }
            { printf "| %s | %s | `%s` | %s | %s | %s | %s – %s |\n", lab, $1, $2, time($3), time($4), times($5), times($6), times($7) }'
    done
} >"$out/graded.md"

{
    echo '| lab | points | time to grade, s | graded at, UTC |'
    echo '| --- | --- | --- | --- |'
    for record in "$data"/*.json; do
        jq -r '[.lab, "\(.points * 10 | round / 10) of \(.possible * 10 | round / 10)", (.seconds | round), "\(.graded_at[0:10]) \(.graded_at[11:16])"] | "| \(.[0]) | \(.[1]) | \(.[2]) | \(.[3]) |"' "$record"
    done
} >"$out/points.md"

# The throughput of the simulator.
{
    echo '| kernel | functional, 10⁶ thread-instr./s | + checks, 10⁶/s | + counters, 10⁶/s | multiply-adds, 10⁶/s | + counters on 16 cores, 10⁶/s | speedup of 16 cores |'
    echo '| --- | --- | --- | --- | --- | --- | --- |'
    grep '^bench_' "$data/simulator.tsv" |
        while IFS="$(printf '\t')" read -r kernel _ plain checks counters products all times; do
            echo "| $kernel | $(thousands "$plain") | $(thousands "$checks") |" \
                "$(thousands "$counters") | $products | $(thousands "$all") | $times |"
        done
} >"$out/simulator.md"

page=docs/simulator/measurements.md
too_close=$(recorded 07 | awk -F'\t' '$1 == "wide" { printf "%.0f", 100 * ($5 - 1) }')
say "$page" "Lab 07's $too_close % are too close to call"

# The same kernels timed twice: each solution of a record against h200/labs-01-04.sh's median;
# percent, of all and above 20 us.
for lab in 02 03 04; do recorded $lab | awk -F'\t' -v lab=$lab '{ print lab "\t" $1 "\t" $4 * 1e6 }'; done |
    awk -F'\t' '
        BEGIN { name["chwn"] = "cifar-chwn"; name["chwn-deep"] = "deep-chwn" }
        FILENAME != "-" { us[substr($1, 1, 2), $2, $3] = $4; next }
        {
            layer = $2 in name ? name[$2] : $2
            once = us[$1, $1 == "03" ? "along-n" : "solution", layer]
            if (!once) { print "no time of " layer; exit }
            x = $3 > once ? $3 / once - 1 : once / $3 - 1
            if (x > all) all = x
            if ($3 > 20 && x > long) long = x
        }
        END { printf "They are within %.0f %% of these, and within %.0f %% above 20 µs", 100 * all, 100 * long }' "$data/labs-01-04/times.tsv" - >"$out/twice"
say "$page" "$(cat "$out/twice")"
