#!/bin/sh
# ablation.sh BUILD OUT - the tables of docs/simulator/ablation.md, from the record of make
# ablation.
. docs/numbers/lib.sh

record=docs/data/simulated/ablation.tsv
sections=common/simulator/timing/mechanisms.ini

# A row for each section, with the largest decrease and increase of a set's error, the mean over all
# launches, and the change of the counts.
awk -F '\t' -v OFS='\t' '
    FNR == NR { if (/^\[/) section[++sections] = substr($0, 2, length($0) - 2); next }
    /^;/ || $1 == "mechanism" { next }
    {
        rows[$1]++
        counts[$1] += $7 - $8
        if ($4 == "-") next
        change = $5 - $4
        launches[$1] += $3
        sum[$1] += change * $3
        if (!($1 in most) || change > most[$1]) { most[$1] = change; most_set[$1] = $2 }
        if (!($1 in least) || change < least[$1]) { least[$1] = change; least_set[$1] = $2 }
    }
    END {
        for (i = 1; i <= sections; i++) {
            m = section[i]
            if (!rows[m]) { print "missing", m; continue }
            print m, launches[m], most[m], most_set[m], least[m], least_set[m],
                sum[m] / launches[m], counts[m]
        }
    }' "$sections" "$record" >"$out/rows"
missing=$(sed -n 's/^missing\t//p' "$out/rows" | paste -sd ' ' -)
[ -z "$missing" ] || fail "$record has no row of $missing: make ablation MECHANISMS=..."
unknown=$(cut -f1 "$record" | grep -v '^;\|^mechanism$' | sort -u | while read -r name; do
    grep -qx "\[$name\]" "$sections" || echo "$name"
done | paste -sd ' ' -)
[ -z "$unknown" ] || fail "$record has rows of $unknown, which $sections does not have"

# A difference below 0.005 points is none.
{
    printf '| mechanism | launches | mean, points | largest gain in a set, points '
    echo '| largest loss in a set, points | counts |'
    echo '| --- | --- | --- | --- | --- | --- |'
    awk -F '\t' '
        function cell(change, set) {
            return change > 0.005 || change < -0.005 ? sprintf("%+.2f `%s`", change, set) : "none"
        }
        {
            gain = $3 > 0 ? cell($3, $4) : "none"
            loss = $5 < 0 ? cell($5, $6) : "none"
            printf "| `%s` | %d | %+.2f | %s | %s | %+d |\n", $1, $2, $7, gain, loss, $8
        }' "$out/rows"
} >"$out/ablation.md"
awk -F '\t' '
    $3 < 0.05 && $8 <= 0 {
        if (!candidates++) {
            printf "| mechanism | launches | largest gain in a set, points "
            print "| largest loss in a set, points |"
            print "| --- | --- | --- | --- |"
        }
        gain = $3 > 0 ? $3 : 0
        loss = $5 < 0 ? -$5 : 0
        printf "| `%s` | %d | %.3f | %.3f |\n", $1, $2, gain, loss
    }
    END { if (!candidates) print "No mechanism is a candidate." }' "$out/rows" >"$out/candidates.md"
