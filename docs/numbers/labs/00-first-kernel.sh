#!/bin/sh
# 00-first-kernel.sh BUILD OUT - the numbers of labs/00-first-kernel/README.md.
. docs/numbers/lib.sh

page=labs/00-first-kernel/README.md

# The checker's report on the solution without its bounds check, up to the source line: the path
# after it depends on the machine.
no_guard=$(variant brighten solutions/00-first-kernel/brighten.cu autograder/tests/mutants/00-first-kernel/no-guard.patch)
COLUMNS=80 "$build/bin/lab" run --build "$build" --lab 00 --submission "$no_guard" --case ragged \
    --engine sim --alone --seed 1 >"$out/page" &&
    fail "a kernel without a bounds check passes"
{
    echo '```'
    sed -n '/FAILED/,/ at .*:[0-9]*$/p' "$out/page"
    echo '```'
} >"$out/fault.md"
say "$page" "number 232 of block 3, which is 3 · 256 + 232 = 1,000"

# One block against one thread per pixel.
simulate one 00 labs/00-first-kernel/baseline.cu --case photo
simulate many 00 solutions --case photo
{
    echo '| kernel, case `photo`, simulated H200 | blocks | time, cycles |'
    echo '| --- | --- | --- |'
    echo "| baseline: one block | $(number one blocks) | $(thousands "$(number one cycles)") |"
    echo "| one thread per pixel | $(number many blocks) | $(thousands "$(number many cycles)") |"
    echo
    echo "Each time includes the launch, $(thousands "$(machine h200 launch_cycles)") cycles."
} >"$out/gain.md"
say "$page" "an H200 has $(machine h200 sms) SMs"
say "$page" "Your launch uses $(number many blocks) SMs and leaves $(($(machine h200 sms) - $(number many blocks))) idle"

after_table 00 >"$out/after.md"
