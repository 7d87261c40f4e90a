#!/bin/sh
# serve.sh BUILD OUT - the numbers of docs/serve.md.
. docs/numbers/lib.sh
page=docs/serve.md

# Ten minutes on the simulator: while the load runs, nothing grows.
soak=docs/data/serve/soak-sim.tsv
sent=$(sed -n '1s/.*(\([0-9,]*\) sent.*/\1/p' "$soak")
grown=$(awk -F'\t' 'NR > 2 { if ($3 > most) most = $3; if (NR == 3) first = $3 } END { print most - first }' "$soak")
[ "$grown" = 0 ] || fail "resident memory grew by $grown bytes"
[ "$(awk -F'\t' 'NR > 3 { print $4 }' "$soak" | sort -u | tr '\n' ' ')" = '13 29 ' ] || fail 'descriptors come and do not go'
say $page "$sent requests in ten minutes on the simulator"
say $page "$(thousands "$(awk -F'\t' 'NR == 3 { print $3 }' "$soak")") bytes resident before and after"
