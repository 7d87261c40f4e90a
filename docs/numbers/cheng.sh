#!/bin/sh
# cheng.sh BUILD OUT - the tables and figures of docs/cheng.md: the steps of Cheng et al. on the simulated GTX 480, their hot
# instructions, and the ladder of labs 05 to 07 on a card.
. docs/numbers/lib.sh

data=docs/data/cheng
launch=$(machine gtx480 launch_cycles)

# ---- the cycle breakdown, step by step ----------------------------------------------------------------------------------

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
    step 'sums in local memory' 05 solutions gtx480
    step 'unrolled' 06 solutions gtx480
    change 'inner-product engine' 1 0 1 0
    change 'outer-product engine' 2 0 1 0
    change 'strength reduction' 2 1 1 0
    change 'conditionals extracted' 2 1 0 0
    change 'index converter' 2 1 0 1
    change 'counters instead' 2 2 0 0
} >"$out/steps.tsv"

{
    echo '| step | figure | the paper, cycles | change | here, cycles | change | compute | load images | load filters | store | other |'
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

# of STEP: the kernel's cycles.  compute STEP: those of its products.  change_of STEP BEFORE DECIMALS: in percent.
of() {
    awk -F'\t' -v step="$1" '$1 == step { print $2 }' "$out/steps.tsv"
}
compute() {
    awk -F'\t' -v step="$1" '$1 == step { print $2 * $5 }' "$out/steps.tsv"
}
part_of_compute() {
    awk -F'\t' -v step="$1" '$1 == step { printf "%.0f", 100 * $5 }' "$out/steps.tsv"
}

page=docs/cheng.md
paper=148 # thousand cycles, unrolled; from here on the paper has percentages
after_strength=$(calc '%.1f' "$paper * 0.34 * 0.741")
after_all=$(calc '%.1f' "$paper * 0.34 * 0.741 * 0.974 * 0.95")
say "$page" "the $(thousands "$launch") cycles of the launch are in"
change_of() {
    calc '%.'"$3"'f' "100 * $(of "$1") / $(of "$2") - 100"
}
say "$page" "**Unrolled: $(calc '%.0f' "($(of unrolled) + $launch) / 1000") thousand cycles, not $paper.**"
say "$page" "that is why 148 thousand cycles are $(calc '%.0f' "($(of unrolled) + $launch) / 1000") here"
say "$page" "**Inner-product engine: $(change_of 'inner-product engine' unrolled 0) %, not -66 %.**"
say "$page" "**Strength reduction: $(change_of 'strength reduction' 'outer-product engine' 1) %, not -25.9 %.**"
say "$page" "**Conditionals extracted: $(change_of 'conditionals extracted' 'strength reduction' 1) %, not -2.6 %.**"
say "$page" "**Index converter: $(change_of 'index converter' 'conditionals extracted' 1) %, not -5 %.**"
say "$page" "our products, $(calc '%.0f' "$(compute unrolled) / 1000") thousand cycles, would take $(calc '%.0f' "$(compute unrolled) * 3.5 / 1.5 / 1000") thousand"
say "$page" "the kernel alone $(calc '%.1f' "$(of 'sums in local memory') / $(of unrolled)") times as fast here"
say "$page" "Products are $(part_of_compute unrolled) % of the time here"
say "$page" "They lose $(calc '%.0f' "100 - 100 * $(compute 'inner-product engine') / $(compute unrolled)") % of their own time"
say "$page" "our kernel takes $(calc '%.1f' "$(of 'strength reduction') / 1000") thousand cycles by then and theirs $after_strength"
say "$page" "saves $(calc '%.1f' "($(of 'conditionals extracted') - $(of 'index converter')) / 1000") thousand cycles here and $(calc '%.1f' "$after_strength * 0.974 * 0.05") thousand there"
say "$page" "-$(calc '%.1f' "100 - 100 * $(of 'counters instead') / $(of 'conditionals extracted')") % in the last row"
say "$page" "All steps together make the kernel $(calc '%.0f' "$(of 'sums in local memory') / $(of 'index converter')") times as fast here and $(calc '%.0f' "524 / $after_all") times there (524 to $after_all thousand)"
say "$page" "only $(calc '%.1f' "$paper / $after_all"), from 148"
# ---- figs 9 and 13: the instructions of the line that adds up -----------------------------------------------------------

# hot LAB NN: of every kind of instruction on that line, how often a warp ran it, and its cycles each time.
hot() {
    line=$(awk '/sum\[f\]\[g\] \+=/ { print NR; exit }' solutions/"$1"/conv.cu)
    awk -F'\t' -v line="$line" '
        FNR > 1 && $3 == line { runs[$5] += $6; traced[$5] += $15; for (i = 15; i <= 23; i++) cycles[$5] += $i }
        END { for (op in runs) printf "%s\t%d\t%.1f\n", op, runs[op], traced[op] ? cycles[op] / traced[op] : 0 }' \
        "$(profile "$2" solutions --case table-1 --gpu gtx480)/profile.tsv" | sort -k2,2nr -k1,1
}

# Instructions that do not stand in the figure, or not in ours, have an empty half.
beside_figure() {
    echo '| in the paper | executed by warps | cycles each | here | executed by warps | cycles each |'
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

# each FIGURE OPCODE: our cycles of one such instruction.
each() {
    awk -F'\t' -v op="$2" '$1 == op { print $3 }' "$out/fig$1.tsv"
}
theirs() {
    awk -F'\t' -v op="$1" '$1 == op { print $4 }' "$data/paper-fig9.tsv"
}
say "$page" "Load and product together are $(calc '%.0f' "$(theirs ld.local.f32) + $(theirs fma.rn.f32)") cycles there and $(calc '%.0f' "$(each 9 ld.local.f32) + $(each 9 fma.rn.f32)") here"

# ---- the ladder: a problem that fills an H200 ---------------------------------------------------------------------------

shape='N=128 C=3 H=40 W=33 K=64 R=5 S=5 pad=same stride=1 layout=chwn'

# rung NAME LAB SUBMISSION: a row with cycles on both machines.
rung() {
    simulate_long "ladder-$2-gtx480" "$2" "$3" --shape "$shape" --gpu gtx480
    simulate_long "ladder-$2-h200" "$2" "$3" --shape "$shape" --gpu h200
    printf '%s\t%s\t%s\n' "$1" "$(number "ladder-$2-gtx480" cycles)" "$(number "ladder-$2-h200" cycles)"
}

{
    printf 'lab\tgtx480_cycles\th200_cycles\n'
    # The naive kernel's grid is larger than a GTX 480 takes: 65,535 blocks a side.
    simulate_long ladder-naive-h200 05 labs/05-register-tiled/baseline.cu --shape "$shape" --gpu h200
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

# measured LAB: microseconds on the card.  simulated_on MACHINE LAB: cycles.
measured() {
    awk -F'\t' -v lab="$1" '$1 == lab { print $2 }' "$data/ladder-h200.tsv"
}
simulated_on() {
    number "ladder-$2-$1" cycles
}
simulate one-wide 05 labs/05-register-tiled/baseline.cu --case wide
simulate one-table-1 05 labs/05-register-tiled/baseline.cu --case table-1
simulate wide 05 solutions --case wide
simulate table-1 05 solutions --case table-1
say "$page" "too kind to one output a thread by $(calc '%.0f' "100 - 100 * $(simulated_on h200 naive) / $(machine h200 clock_mhz) / $(measured naive)") %"
say "$page" "**$(calc '%.1f' "$(measured naive) / $(measured '05 register-tiled')") times** as fast as one output a thread on the card"
say "$page" "On the GTX 480 it is $(calc '%.2f' "$(number one-wide cycles) / $(number wide cycles)") times as fast in lab 05's case wide, and takes $(calc '%.1f' "$(number table-1 cycles) / $(number one-table-1 cycles)") times as long in table-1"
say "$page" "unrolled it is $(calc '%.1f' "$(measured '05 register-tiled') / $(measured '06 unrolled')") times as fast again"
say "$page" "$(calc '%.0f' "100 - 100 * $(measured '07 strength-reduced') / $(measured '06 unrolled')") % on the card, $(calc '%.1f' "100 - 100 * $(simulated_on h200 07) / $(simulated_on h200 06)") % on the simulated H200, $(calc '%.0f' "100 - 100 * $(simulated_on gtx480 07) / $(simulated_on gtx480 06)") % on the simulated GTX 480"

if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$out/steps.tsv'; out='$out/cheng-steps.svg'" docs/numbers/cheng/steps.gp
    gnuplot -e "measured='$data/ladder-h200.tsv'; simulated='$out/ladder.tsv'; out='$out/cheng-ladder.svg'" docs/numbers/cheng/ladder.gp
fi
