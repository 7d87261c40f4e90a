#!/bin/sh
# 00-first-kernel.sh BUILD OUT - the numbers of labs/00-first-kernel/README.md.
. docs/numbers/lib.sh

page=labs/00-first-kernel/README.md

# What the checker says of the solution without its test, up to the line of the source, whose path
# is another for everybody.
open=$(variant brighten solutions/00-first-kernel/brighten.cu autograder/tests/mutants/00-first-kernel/no-guard/fault.patch)
COLUMNS=80 "$build/bin/lab" run --build "$build" --lab 00 --submission "$open" --case ragged \
    --engine sim --alone --seed 1 >"$out/page" &&
    fail "a kernel without a test is right"
{
    echo '```'
    sed -n '/FAILED/,/ at .*:[0-9]*$/p' "$out/page"
    echo '```'
} >"$out/fault.md"
say "$page" "number 232 of block 3, which is 3 · 256 + 232 = 1,000"

# One block against many.
simulate one 00 labs/00-first-kernel/baseline.cu --case photo
simulate many 00 solutions --case photo
{
    echo '| `photo`, simulated H200 | blocks | cycles |'
    echo '| --- | --- | --- |'
    echo "| the baseline: one block | $(number one blocks) | $(thousands "$(number one cycles)") |"
    echo "| a thread a pixel | $(number many blocks) | $(thousands "$(number many cycles)") |"
    echo
    echo "The launch itself is $(thousands "$(machine h200 launch_cycles)") of them."
} >"$out/gain.md"
say "$page" "has $(machine h200 sms) multiprocessors"
