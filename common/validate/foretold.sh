#!/bin/sh
# foretold.sh EMPTY FORETOLD TIMES... - how far what was simulated before anything was measured is
# from what a card took: one sentence for docs/validation.md.
#
# EMPTY: what the simulator says of an empty kernel, in us.  What one took more that was measured
# with the others is no part of their times.
set -eu
empty=$1
shift
awk -F '\t' -v empty="$empty" '
    /^;/ { next }
    $1 == "name" { file++; late = 0; next }
    file == 1 { foretold[$1] = $2; next }
    $1 == "empty" { late = $4 - empty; next }
    $1 in foretold { n++; s[n] = foretold[$1]; m[n] = $4 - late; ratio[n] = s[n] / m[n] }
    function off(r) { return r < 1 ? 1 - r : r - 1 }
    function rank(v, i, k, below) {
        for (k = 1; k <= n; k++) below += (v[k] < v[i]) + (v[k] == v[i]) / 2
        return below + 0.5 - (n + 1) / 2
    }
    END {
        for (i = 1; i <= n; i++) {
            sum += off(ratio[i]); near += off(ratio[i]) <= 0.25
            beyond += ratio[i] > 1.5 || ratio[i] < 1 / 1.5
            a = rank(s, i); b = rank(m, i); ab += a * b; aa += a * a; bb += b * b
        }
        printf "%d launches: mean absolute error %.1f %%, rank correlation %.3f, %.0f %% within a quarter, %d beyond 1.5 times either way\n",
            n, 100 * sum / n, ab / sqrt(aa * bb), 100 * near / n, beyond
    }' "$@"
