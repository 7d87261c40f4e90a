#!/bin/sh
# simulate.sh BUILD OUT - the run that docs/simulator/simulate.md begins with.
. docs/numbers/lib.sh

{
    echo '```'
    # To the table of kernels; the counters are explained elsewhere.
    sh common/setup/simulate.sh "$build" autograder/tests/simulate/faults.cu race 2>&1 |
        sed '/^    turn_round  /q'
    echo '```'
} >"$out/faults.md"
