#!/bin/sh
# cycle-model.sh BUILD OUT - the constants in docs/simulator/cycle-model.md, from the simulator's sources and
# the machines' files.
. docs/numbers/lib.sh

page=docs/simulator/cycle-model.md

# price CLASS PATTERN: a number in schedule.c's case of a class of instructions; \(\) in the pattern
# marks the number.
price() {
    _value=$(sed -n -e "/case CLASS_$1:/,/break;/s/.*$2.*/\\1/p" common/simulator/ptxas/schedule.c | head -n 1)
    [ -n "$_value" ] || fail "common/simulator/ptxas/schedule.c has no price of $1"
    printf '%s\n' "$_value"
}

# cost KEY: a cost of the time model on an H200.
cost() { described common/simulator/gpus/architectures/sm90.ini "$1"; }

word() {
    echo 'one two three four five six seven eight' | cut -d ' ' -f "$1"
}

loaded=$(calc '%.1f' "$(cost load_line_ticks) / 256") # of ticks
more=$(calc '%.1f' "$(cost load_line_percent) / 100")
stored=$(calc '%.1f' "$(cost store_line_ticks) / 256") # of ticks
arrival=$(cost barrier_arrival_cycles) barrier=$(cost barrier_cycles)
branch=$(cost branch_cycles) start=$(cost block_start_cycles)
percent() { calc '%.2f' "$(cost "$1") / 100"; }
atomic=$(percent atomic_pass_percent)
turnover=$(cost block_turnover_cycles)
constant_word=$(cost constant_word_cycles)
most=$(constant MOST_WAVES common/simulator/timing/trace.c) \
    least=$(constant LEAST_WAVES common/simulator/timing/trace.c)

slots='slots = \([0-9]*\),' latency='alu \* \([0-9]*\)'
say "$page" "64-bit \`add\` otherwise | $(price INT_WIDE 'is_add_64(ins) ? \([0-9]*\)') |"
say "$page" "\`div\`, \`rem\` | $(price DIV "$slots"), and $(price DIV '(uint16_t)(\([0-9]*\) \*') on the special function unit"
schedule=common/simulator/ptxas/schedule.c
say "$page" "\`rsqrt\`, not \`.ftz\` | $(cost special_scaled_slots) |"
say "$page" "\`sin\` and \`cos\` | $(cost reciprocal_slots); $(cost quotient_slots); 2 |"
single='is_single(ins) ? \([0-9]*\)' double='is_single(ins) ? [0-9]* : \([0-9]*\)'
unit=$(calc '%.1f' "$(sed -n 's/.*unit = alu \* \([0-9]* \/ [0-9]*\).*/\1/p' $schedule)")
say "$page" "| arithmetic of doubles | $(price FP64 "$latency") times \`alu_latency\` |"
say "$page" "| special function unit | $unit times \`alu_latency\` |"
say "$page" "| divisions and roots of floats | $(price DIV "$single") times \`alu_latency\` |"
say "$page" "| other divisions | $(price DIV "$double") times \`alu_latency\` |"
say "$page" "a branch over at most $(cost predicated_instructions) plain instructions"
say "$page" "all of them up to $(word "$most") waves and the first $(word "$least") of more"
say "$page" "\`alu_latency\` ($(machine h200 alu_latency) on an H200)"
say "$page" "**Constant memory**: $constant_word cycles per distinct word"
say "$page" "is wanted takes $more times that (gather-L2), and $loaded cycles at the least"
say "$page" "A line that is stored takes $stored cycles of the path out"
say "$page" "$arrival cycles per warp, and $barrier from the last arrival"
say "$page" "**Branches**: $branch cycles until"
say "$page" "and $start cycles later the block's first instruction"
say "$page" "A block that replaces another one starts $turnover cycles after the end of that one"
say "$page" "**Atomics** on one global word: $atomic cycles each, $(percent atomic_float_percent) for floats"
say "$page" "A slice takes $atomic cycles for a pass over a sector, in which each word is added to once"
say "$page" "and $(percent atomic_full_percent) if the pass covers the whole sector"
say "$page" "one slice for each $(cost slice_bytes) bytes of \`l2_bytes_per_cycle\`"
say "$page" "another's after $(cost retry_cycles) cycles on one word"
say "$page" "more than $(word "$(cost open_rows)") rows"
say "$page" "lanes per cycle ($(machine h200 texture_units) on an H200)"
say "$page" "\`texture_latency\` ($(machine h200 texture_latency) cycles on an H200)"
sooner=$(cost texture_index_sooner)
line=$(calc '%.2f' "$(cost texture_line_ticks) / 256")
say "$page" "by an integer index takes $sooner less"
say "$page" "A line takes $line cycles of the path from the L2"
say "$page" "those of textures ($sooner, $line)"
fitted="$constant_word, $stored, $arrival, $barrier, $branch, $start, $turnover, $atomic"
say "$page" "($fitted, and \`block_launch_cycles\`)"
