#!/bin/sh
# 14-winograd.sh BUILD OUT - the numbers of labs/14-winograd/README.md.
. docs/numbers/lib.sh
solution=solutions/14-winograd/conv.cu
patches=docs/numbers/14-winograd

# way NAME LAB SUBMISSION WORDS: a row with the timed cases' cycles, and what staged-timed has to do.
way() {
    simulate_long "$1-small" "$2" "$3" --shape 'N=2 C=64 H=56 W=56 K=64 R=3 S=3 pad=1 stride=1' --gpu h200
    simulate_long "$1-large" "$2" "$3" --shape 'N=8 C=128 H=28 W=28 K=128 R=3 S=3 pad=1 stride=1' --gpu h200
    printf '| %s | %s | %s | %s | %s | %s |\n' "$4" "$(thousands "$(number "$1-small" cycles)")" "$(thousands "$(number "$1-large" cycles)")" \
        "$(number "$1-large" launches)" "$(calc %.0f "$(number "$1-large" float_instructions) / 1e6")" \
        "$(calc %.0f "($(number "$1-large" global_load_sectors) + $(number "$1-large" global_store_sectors)) * 32 / 1e6")"
}

{
    echo '| | `one-kernel-timed`, cycles | `staged-timed`, cycles | launches | million float instructions of its warps | MB loaded and stored |'
    echo '| --- | --- | --- | --- | --- | --- |'
    way direct 10 solutions 'lab 10'
    way one-kernel 14 "$(variant one-kernel "$solution" "$patches/one-kernel.patch")" 'F(2×2,3×3) in one kernel'
    way staged-2 14 "$(variant staged-2 "$solution" "$patches/staged-2.patch")" 'F(2×2,3×3) in stages'
    way staged-4 14 "$(variant staged-4 "$solution" "$patches/staged-4.patch")" 'F(4×4,3×3) in stages, a tile of 128×64'
    way chosen 14 solutions 'lab 14: what costs least'
} >"$out/steps.md"
