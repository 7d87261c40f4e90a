#!/bin/sh
# 12-hopper.sh BUILD OUT - the numbers of lab 12's handout (README.md).
. docs/numbers/lib.sh
page=labs/12-hopper/README.md
measured=docs/data/compare/hopper-h200.tsv

# Usage: of LAYER SIDE COLUMN, a number of that layer's row; columns: 4 microseconds, 5 TFLOP/s.
of() { awk -F'\t' -v layer="$1" -v side="$2" -v column="$3" '$1 == layer && $2 == side { print $column }' "$measured"; }

# ---- step by step --------------------------------------------------------------------------------

{
    echo '| step | simulated h200, cycles | H200: 128 112×112 128, µs | H200: 512 28×28 512, µs |'
    echo '| --- | --- | --- | --- |'
    for step in 1 2 3 4 5; do
        simulate "step-$step" 12 "$(variant "step-$step" labs/12-hopper/baseline.cu "STEP=$step")" \
            --case deep
        case $step in
        1) words='`wgmma`; threads load both tiles' ;;
        2) words='TMA copies the filters' ;;
        3) words='TMA copies the pixels, im2col tensor map' ;;
        4) words='four stages' ;;
        5) words='warp specialisation: one producer warp, two consumer warpgroups' ;;
        esac
        printf '| %s: %s | %s | %.0f | %.0f |\n' "$step" "$words" \
            "$(thousands "$(number "step-$step" cycles)")" \
            "$(of vgg-128-112-128-n32 "step-$step" 4)" "$(of vgg-512-28-512-n32 "step-$step" 4)"
    done
    simulate whole 12 solutions --case deep
    printf '| the solution | %s | %.0f | %.0f |\n' "$(thousands "$(number whole cycles)")" \
        "$(of vgg-128-112-128-n32 12-hopper 4)" "$(of vgg-512-28-512-n32 12-hopper 4)"
    for side in one-group ordered; do
        words='the solution, but it waits for the latest wgmma group'
        [ "$side" = one-group ] ||
            words='the solution with `.release.cluster`, `.acquire.cluster` on its mbarriers'
        printf '| %s |  | %.0f | %.0f |\n' "$words" "$(of vgg-128-112-128-n32 "$side" 4)" \
            "$(of vgg-512-28-512-n32 "$side" 4)"
    done
} >"$out/steps.md"

# ---- layer by layer ------------------------------------------------------------------------------

awk -F'\t' '
    function time(us) { return sprintf(us < 100 ? "%.2f" : "%.1f", us) }
    /^;/ || $1 == "layer" { next }
    !($1 in seen) { seen[$1] = 1; layer[++n] = $1 }
    { us[$1, $2] = $4; rate[$1, $2] = $5 }
    $2 == "cuDNN TF32 NHWC" || $2 == "cuDNN TF32 NCHW" { if (!($1 in best) || $4 < best[$1]) best[$1] = $4 }
    END {
        print "| layer | lab 11, µs | lab 12, µs | cuDNN TF32, µs | lab 12, TFLOP/s | speedup over cuDNN |"
        print "| --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++)
            printf "| %s | %s | %s | %s | %.0f | %.2f |\n", layer[i], time(us[layer[i], "11-tensor-cores"]), time(us[layer[i], "12-hopper"]), time(best[layer[i]]), rate[layer[i], "12-hopper"], best[layer[i]] / us[layer[i], "12-hopper"]
    }' "$measured" >"$out/layers.md"
awk -F'|' 'NR > 2 { kind = $2 ~ /n1 / ? "one" : $2 ~ /n32 / ? "many" : "new"; n[kind]++; log_sum[kind] += log($7); if (!(kind in least) || $7 + 0 < least[kind]) least[kind] = $7 + 0 }
    END { for (kind in n) printf "%s\t%.2f\t%.2f\n", kind, exp(log_sum[kind] / n[kind]), least[kind] }' "$out/layers.md" >"$out/means.tsv"
mean() { awk -F'\t' -v kind="$1" -v column="$2" '$1 == kind { print $column }' "$out/means.tsv"; }
say "$page" "is $(mean many 2) and $(mean many 3) with 32 images, and $(mean one 2) and $(mean one 3) with one image"
say "$page" "to which no constant was fitted, it is $(mean new 2) and $(mean new 3)"
last=vgg-512-28-512-n32 first=vgg-3-224-64-n32
say "$page" "it is $(calc %.1f "$(of $last step-5 4) / $(of $last 12-hopper 4)") times as fast as step 5"
gain=$(awk -F'\t' '
    /^vgg-.*-n32/ && !/^vgg-3-/ { us[$1, $2] = $4; layer[$1] }
    END { for (l in layer) { part = 100 * (us[l, "one-group"] / us[l, "12-hopper"] - 1); if (part > most) most = part } printf "%.0f", most }' "$measured")
say "$page" "That gains at most $gain %"
say "$page" "$(calc %.0f '32 * 224 * 224 * 64 * 4 / 1e6') MB, at $(calc %.1f "32 * 224 * 224 * 64 * 4 / 1e6 / $(of $first 12-hopper 4)") TB/s"
say "$page" "If its channels are padded to 16 bytes instead of 32, it takes $(calc %.0f "$(of $first in-pieces 4)") µs in place of $(calc %.0f "$(of $first 12-hopper 4)") µs"
say "$page" "With those qualifiers 512 28×28 512 takes $(calc %.1f "$(of $last ordered 4) / $(of $last 12-hopper 4)") times as long"

# ---- in sentences --------------------------------------------------------------------------------

simulate wide 12 solutions --case wide
say "$page" "\`gemm_kernel\` takes $(number wide registers) registers for a tile of 128×256"
say "$page" "With n = 128 that is $(calc %.3f '(64 + 128) * 32 / (64 * 128 * 8)') bytes per multiply-add"
