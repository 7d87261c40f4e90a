#!/bin/sh
# 12-hopper.sh BUILD OUT - the numbers of lab 12's handout (README.md).
. docs/numbers/lib.sh
page=labs/12-hopper/README.md

# ---- step by step --------------------------------------------------------------------------------------------------------

{
    echo '| step | simulated h200, cycles |'
    echo '| --- | --- |'
    for step in 1 2 3 4 5; do
        simulate "step-$step" 12 "$(variant "step-$step" labs/12-hopper/steps.cu "STEP=$step")" --case deep
        case $step in
        1) words='`wgmma`, and threads that bring both tiles' ;;
        2) words='the filters by TMA' ;;
        3) words='the pixels by TMA, through an im2col map' ;;
        4) words='four stages' ;;
        5) words='a warp that brings, warps that multiply' ;;
        esac
        printf '| %s: %s | %s |\n' "$step" "$words" "$(thousands "$(number "step-$step" cycles)")"
    done
    simulate whole 12 solutions --case deep
    printf '| the solution | %s |\n' "$(thousands "$(number whole cycles)")"
} >"$out/steps.md"

# ---- in sentences --------------------------------------------------------------------------------------------------------

simulate wide 12 solutions --case wide
say "$page" "\`product_kernel\` takes $(number wide registers) registers for a tile of 128×256"
say "$page" "$(calc %.3f '(64 + 256) * 32 / (64 * 256 * 8)') bytes a product"
