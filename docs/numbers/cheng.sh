#!/bin/sh
# cheng.sh BUILD OUT - the tables and figures of docs/student/cheng.md: the steps of Cheng et al. on the
# simulated GTX 480.  Also their hot instructions, and the ladder of labs 05 to 07 on a GPU.
. docs/numbers/lib.sh

data=docs/data/cheng
launch=$(machine gtx480 launch_cycles)

# ---- the cycle breakdown, step by step -----------------------------------------------------------

# step NAME LAB SUBMISSION MACHINE: a row with the kernel's cycles, and the share of each phase.
step() {
    folder=$(profile "$2" "$3" --case table-1 --gpu "$4")
    awk -F'\t' -v name="$1" -v launch="$launch" '
        FILENAME ~ /counters$/ { if ($1 == "cycles") cycles = $2; next }
        FNR > 1 { part[$1] = $3 }
        END {
            printf "%s\t%d", name, cycles - launch
            n = split("load images,load filters,compute,store,other", phase, ",")
            for (i = 1; i <= n; i++) printf "\t%.4f", part[phase[i]]
            printf "\n"
        }' "$folder/counters" "$folder/phases.tsv"
}

# change NAME COMPUTE CARRIED CHECKED CONVERTER: a step of cheng/steps.cu.
change() {
    step "$1" 08 "$(variant "step-$2$3$4$5" docs/numbers/cheng/steps.cu "COMPUTE=$2" "CARRIED=$3" "CHECKED=$4" "CONVERTER=$5")" gtx480-accelerators
}

{
    printf 'step\tcycles\tload images\tload filters\tcompute\tstore\tother\n'
    step 'accumulators in local memory' 05 solutions gtx480
    step 'unrolled' 06 solutions gtx480
    change 'inner-product engine' 1 0 1 0
    change 'outer-product engine' 2 0 1 0
    change 'strength reduction' 2 1 1 0
    change 'conditionals extracted' 2 1 0 0
    change 'index converter' 2 1 0 1
    change 'counters instead' 2 2 0 0
} >"$out/steps.tsv"

{
    echo '| step | figure | cycles in the paper | change | cycles here | change | compute | load images | load filters | store | other phases |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    awk -F'\t' -v launch="$launch" '
        FNR == 1 { next }
        FILENAME ~ /paper/ { cycles[$1] = $2; change[$1] = $3; figure[$1] = $5; next }
        function percent(x) { return sprintf("%.0f %%", 100 * x) }
        function thousands(x) { return x == "" ? "" : sprintf("%d,%03d", x / 1000, x % 1000) }
        {
            before = $1 == "outer-product engine" ? unrolled : $1 ~ /instead/ ? extracted : last
            printf "| %s | %s | %s | %s | %s | %s |", $1, figure[$1], thousands(cycles[$1]),
                change[$1] == "" ? "" : sprintf("%+.1f %%", 100 * change[$1]), thousands($2 + launch), before ? sprintf("%+.1f %%", 100 * ($2 / before - 1)) : ""
            printf " %s | %s | %s | %s | %s |\n", percent($5), percent($3), percent($4), percent($6), percent($7)
            last = $2
            if ($1 == "unrolled") unrolled = $2
            if ($1 == "conditionals extracted") extracted = $2
        }' "$data/paper.tsv" "$out/steps.tsv"
} >"$out/steps.md"

# Usage: of STEP (the kernel's cycles), `products` STEP (the cycles of its multiplications).
of() {
    cell "$out/steps.tsv" "$1" 2
}
products() {
    calc '%d' "$(of "$1") * $(cell "$out/steps.tsv" "$1" 5)"
}

# in_thousands CYCLES [DECIMALS]
in_thousands() {
    calc "%.${2:-0}f" "$1 / 1000"
}

page=docs/student/cheng.md
rolled='accumulators in local memory' inner='inner-product engine' outer='outer-product engine'
strength='strength reduction' extracted='conditionals extracted' converter='index converter'
say "$page" "the $(thousands "$launch") cycles of the launch are included"
say "$page" "**Unrolled: $(in_thousands "$(($(of unrolled) + launch))") thousand cycles, not 148.**"
say "$page" "that is why 148 thousand cycles are $(in_thousands "$(($(of unrolled) + launch))") here"
longer=$(calc '%d' "$(products unrolled) * 3.5 / 1.5")
say "$page" "our multiplications, $(in_thousands "$(products unrolled)") thousand cycles, would take $(in_thousands "$longer") thousand"
say "$page" "the kernel alone $(ratio "$(of "$rolled")" "$(of unrolled)") times as fast here"
say "$page" "**Inner-product engine: -$(saved "$(of unrolled)" "$(of "$inner")") %, not -66 %.**"
say "$page" "Multiplications are $(calc '%.0f' "100 * $(products unrolled) / $(of unrolled)") % of the time here"
say "$page" "They lose $(saved "$(products unrolled)" "$(products "$inner")") % of their own time"
say "$page" "**Strength reduction: -$(saved "$(of "$outer")" "$(of "$strength")" 1) %, not -25.9 %.**"
say "$page" "**Conditionals extracted: -$(saved "$(of "$strength")" "$(of "$extracted")" 1) %, in the paper -2.6 %.**"
say "$page" "**Index converter: -$(saved "$(of "$extracted")" "$(of "$converter")" 1) %, in the paper -5 %.**"
say "$page" "-$(saved "$(of "$extracted")" "$(of 'counters instead')" 1) % in the last row"

# The paper has percentages from "unrolled" on: thousand cycles that follow from them.
paper_strength=$(calc '%.1f' '148 * 0.34 * 0.741') \
    paper_all=$(calc '%.1f' '148 * 0.34 * 0.741 * 0.974 * 0.95')
paper_saves=$(calc '%.1f' '148 * 0.34 * 0.741 * 0.974 * 0.05') \
    saves=$(($(of "$extracted") - $(of "$converter")))
say "$page" "our kernel takes $(in_thousands "$(of "$strength")" 1) thousand cycles; theirs $paper_strength"
say "$page" "saves $(in_thousands "$saves" 1) thousand cycles here and $paper_saves thousand there"
ours=$(calc '%.0f' "$(of "$rolled") / $(of "$converter")") theirs=$(calc '%.0f' "524 / $paper_all")
say "$page" "All steps together make the kernel $ours times as fast here and $theirs times there (524 to $paper_all thousand)"
say "$page" "only $(ratio 148 "$paper_all"), from 148"

# ---- figs 9 and 13: the instructions of the line that adds up ------------------------------------

# hot LAB NN: of every kind of instruction on that line, how often a warp ran it, and its cycles
# each time.
hot() {
    line=$(awk '/acc\[f\]\[g\] \+=/ { print NR; exit }' solutions/"$1"/conv.cu)
    awk -F'\t' -v line="$line" '
        FNR > 1 && $3 == line { runs[$5] += $6; traced[$5] += $15; for (i = 15; i <= 25; i++) cycles[$5] += $i }
        END { for (op in runs) printf "%s\t%d\t%.1f\n", op, runs[op], traced[op] ? cycles[op] / traced[op] : 0 }' \
        "$(profile "$2" solutions --case table-1 --gpu gtx480)/profile.tsv" | sort -k2,2nr -k1,1
}

# Instructions that are not in the figure, or not in our profile, have an empty half.
beside_figure() {
    echo '| instruction in the paper | executed by warps | cycles each | instruction here | executed by warps | cycles each |'
    echo '| --- | --- | --- | --- | --- | --- |'
    awk -F'\t' '
        function thousands(x) { return sprintf("%d,%03d", x / 1000, x % 1000) }
        function paper(op) { return op in name ? sprintf("`%s` | %s | %s", name[op], thousands(runs[op]), cycles[op]) : " | |" }
        FILENAME ~ /paper/ { if (FNR > 1) { name[$1] = $2; runs[$1] = $3; cycles[$1] = $4 } next }
        { printf "| %s | `%s` | %s | %s |\n", paper($1), $1, thousands($2), $3 == "0.0" ? "folded" : $3 }
        END { if ("-" in name) printf "| %s | | | |\n", paper("-") }' "$1" "$2"
}

hot 05-register-tiled 05 >"$out/fig9.tsv"
hot 06-unrolled 06 >"$out/fig13.tsv"
beside_figure "$data/paper-fig9.tsv" "$out/fig9.tsv" >"$out/fig9.md"
beside_figure "$data/paper-fig13.tsv" "$out/fig13.tsv" >"$out/fig13.md"

# both FILE COLUMN: cycles of a load from local memory and of the FMA that waits for it.
both() {
    calc '%.0f' "$(cell "$1" ld.local.f32 "$2") + $(cell "$1" fma.rn.f32 "$2")"
}
say "$page" "Load and multiplication together are $(both "$data/paper-fig9.tsv" 4) cycles there and $(both "$out/fig9.tsv" 3) here"

say "$page" "Ours are $(thousands "$(cell "$out/fig9.tsv" fma.rn.f32 2)")."

# ---- the ladder: a problem that fills an H200 ----------------------------------------------------

shape='N=128 C=3 H=40 W=33 K=64 R=5 S=5 pad=same stride=1 layout=chwn'

# rung NAME LAB SUBMISSION: a row with cycles on both machines.
rung() {
    simulate_long "ladder-$2-gtx480" "$2" "$3" --shape "$shape" --gpu gtx480
    simulate_long "ladder-$2-h200" "$2" "$3" --shape "$shape" --gpu h200
    printf '%s\t%s\t%s\n' "$1" "$(number "ladder-$2-gtx480" cycles)" \
        "$(number "ladder-$2-h200" cycles)"
}

{
    printf 'lab\tgtx480_cycles\th200_cycles\n'
    # The naive kernel's grid is larger than a GTX 480 takes: 65,535 blocks a side.
    simulate_long ladder-naive-h200 05 labs/05-register-tiled/baseline.cu --shape "$shape" \
        --gpu h200
    printf 'naive\t-\t%s\n' "$(number ladder-naive-h200 cycles)"
    rung '05 register-tiled' 05 solutions
    rung '06 unrolled' 06 solutions
    rung '07 strength-reduced' 07 solutions
} >"$out/ladder.tsv"

{
    echo '| lab | H200, µs | simulated h200, µs | simulated gtx480, thousand cycles |'
    echo '| --- | --- | --- | --- |'
    awk -F'\t' 'FNR == 1 { next } FILENAME ~ /h200/ { us[$1] = $2; next }
        { printf "| %s | %s | %.1f | %s |\n", $1, us[$1], $3 / 1980, $2 == "-" ? "–" : sprintf("%d", $2 / 1000) }' \
        "$data/ladder-h200.tsv" "$out/ladder.tsv"
} >"$out/ladder.md"

# measured LAB: microseconds on the GPU.
measured() {
    cell "$data/ladder-h200.tsv" "$1" 2
}
simulate one-wide 05 labs/05-register-tiled/baseline.cu --case wide
simulate one-table-1 05 labs/05-register-tiled/baseline.cu --case table-1
simulate wide 05 solutions --case wide
simulate table-1 05 solutions --case table-1
say "$page" "= $(thousands "$(number ladder-06-h200 blocks)") blocks"
say "$page" "($(number ladder-06-h200 resident_blocks) blocks on each of $(machine h200 sms) SMs)"
kind=$(saved "$(measured naive)" "$(calc '%.1f' "$(number ladder-naive-h200 cycles) / $(machine h200 clock_mhz)")")
say "$page" "too short a time for one output per thread, by $kind %"
say "$page" "**$(ratio "$(measured naive)" "$(measured '05 register-tiled')") times** as fast as one output per thread on the H200"
say "$page" "unrolled it is $(ratio "$(measured '05 register-tiled')" "$(measured '06 unrolled')") times as fast again"
faster=$(calc '%.2f' "$(number one-wide cycles) / $(number wide cycles)")
slower=$(ratio "$(number table-1 cycles)" "$(number one-table-1 cycles)")
say "$page" "On the GTX 480 it is $faster times as fast in lab 05's case wide, and takes $slower times as long in table-1"
on_card=$(saved "$(measured '06 unrolled')" "$(measured '07 strength-reduced')")
on_h200=$(saved "$(number ladder-06-h200 cycles)" "$(number ladder-07-h200 cycles)" 1)
on_gtx480=$(saved "$(number ladder-06-gtx480 cycles)" "$(number ladder-07-gtx480 cycles)")
say "$page" "$on_card % on the H200, $on_h200 % on the simulated H200, $on_gtx480 % on the simulated GTX 480"

if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$out/steps.tsv'; out='$out/cheng-steps.svg'" docs/numbers/cheng/steps.gp
    gnuplot -e "measured='$data/ladder-h200.tsv'; simulated='$out/ladder.tsv'; out='$out/cheng-ladder.svg'" docs/numbers/cheng/ladder.gp
fi
