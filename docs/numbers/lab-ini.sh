#!/bin/sh
# lab-ini.sh BUILD OUT - the table of counters in docs/instructor/lab-ini.md, from the list that the simulator
# has; and the page names every metric that a run has.
. docs/numbers/lib.sh

{
    echo '| counter | counts |'
    echo '| --- | --- |'
    sed -n 's/^ *X([a-z0-9_]*, "\([^"]*\)", "\([^"]*\)").*/| `\1` | \2 |/p' common/base/counters.h
} >"$out/counters.md"

simulate tiled 04 solutions --case lenet-c1
cut -f 1 "$out/runs/tiled" | grep -vx microseconds | while read -r metric; do say docs/instructor/lab-ini.md "\`$metric\`"; done
