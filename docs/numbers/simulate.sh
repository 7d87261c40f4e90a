#!/bin/sh
# simulate.sh BUILD OUT - the first run of docs/simulator/simulate.md.
. docs/numbers/lib.sh

{
    echo '```'
    # To the table of kernels; the counters are explained elsewhere.
    sh common/setup/simulate.sh "$build" autograder/tests/simulate/faults.cu race 2>&1 |
        sed '/^    turn_round  /q'
    echo '```'
} >"$out/faults.md"
