#!/bin/sh
# cycle-model.sh BUILD OUT - the constants in docs/simulator/cycle-model.md, from the simulator's sources and
# the machines' files.
. docs/numbers/lib.sh

page=docs/simulator/cycle-model.md
memory=common/simulator/timing/replay_memory.c
atomics=common/simulator/timing/atomic_cost.h
chain=common/simulator/timing/critical_path.h

# price CLASS PATTERN: a number in schedule.c's case of a class of instructions; \(\) in the pattern
# marks the number.
price() {
    _value=$(sed -n -e "/case CLASS_$1:/,/break;/s/.*$2.*/\\1/p" common/simulator/ptxas/schedule.c | head -n 1)
    [ -n "$_value" ] || fail "common/simulator/ptxas/schedule.c has no price of $1"
    printf '%s\n' "$_value"
}

word() {
    echo 'one two three four five six seven eight' | cut -d ' ' -f "$1"
}

loaded=$(calc '%.1f' "$(constant LOAD_LINE "$memory") / 256") # of ticks
more=$(calc '%.1f' "$(constant LOAD_PERCENT "$memory") / 100")
stored=$(calc '%.1f' "$(constant STORE_LINE "$memory") / 256") # of ticks
arrival=$(constant ARRIVAL_CYCLES common/simulator/timing/replay_blocks.c) barrier=$(constant BARRIER_CYCLES "$chain")
branch=$(constant BRANCH_CYCLES "$chain") start=$(constant START_CYCLES "$chain")
percent() { calc '%.2f' "$(constant "$1" "$atomics") / 100"; }
atomic=$(percent PASS_PERCENT)
turnover=$(constant TURNOVER_CYCLES "$chain")
constant_word=$(constant CYCLES_PER_WORD common/simulator/timing/count.c)
most=$(constant MOST_WAVES common/simulator/timing/trace.c) \
    least=$(constant LEAST_WAVES common/simulator/timing/trace.c)

slots='slots = \([0-9]*\),' latency='alu \* \([0-9]*\)'
say "$page" "64-bit \`add\` otherwise | $(price INT_WIDE 'is_add_64(ins) ? \([0-9]*\)') |"
say "$page" "\`div\`, \`rem\` | $(price DIV "$slots"), and $(price DIV '(uint16_t)(\([0-9]*\) \*') on the special function unit"
schedule=common/simulator/ptxas/schedule.c
say "$page" "\`rsqrt\`, not \`.ftz\` | $(constant SCALED $schedule) |"
say "$page" "\`sin\` and \`cos\` | $(constant RECIPROCAL $schedule); $(constant QUOTIENT $schedule); 2 |"
single='is_single(ins) ? \([0-9]*\)' double='is_single(ins) ? [0-9]* : \([0-9]*\)'
unit=$(calc '%.1f' "$(sed -n 's/.*unit = alu \* \([0-9]* \/ [0-9]*\).*/\1/p' $schedule)")
say "$page" "| arithmetic of doubles | $(price FP64 "$latency") times \`alu_latency\` |"
say "$page" "| special function unit | $unit times \`alu_latency\` |"
say "$page" "| divisions and roots of floats | $(price DIV "$single") times \`alu_latency\` |"
say "$page" "| other divisions | $(price DIV "$double") times \`alu_latency\` |"
say "$page" "a branch over at most $(constant MOST_GUARDED common/simulator/ptxas/schedule.c) plain instructions"
say "$page" "all of them up to $(word "$most") waves and the first $(word "$least") of more"
say "$page" "\`alu_latency\` ($(machine h200 alu_latency) on an H200)"
say "$page" "**Constant memory**: $constant_word cycles per distinct word"
say "$page" "is wanted takes $more times that (gather-L2), and $loaded cycles at the least"
say "$page" "A line that is stored takes $stored cycles of the path out"
say "$page" "$arrival cycles per warp, and $barrier from the last arrival"
say "$page" "**Branches**: $branch cycles until"
say "$page" "and $start cycles later the block's first instruction"
say "$page" "A block that replaces another one starts $turnover cycles after the end of that one"
say "$page" "**Atomics** on one global word: $atomic cycles each, $(percent FLOAT_PERCENT) for floats"
say "$page" "A slice takes $atomic cycles for a pass over a sector, in which each word is added to once"
say "$page" "and $(percent FULL_PERCENT) if the pass covers the whole sector"
say "$page" "one slice for each $(constant SLICE_RATE "$atomics") bytes of \`l2_bytes_per_cycle\`"
say "$page" "another's after $(constant RETRY_CYCLES "$atomics") cycles on one word"
say "$page" "more than $(word "$(constant OPEN_ROWS common/simulator/timing/count.h)") rows"
say "$page" "lanes per cycle ($(machine h200 texture_units) on an H200)"
say "$page" "\`texture_latency\` ($(machine h200 texture_latency) cycles on an H200)"
sooner=$(constant BY_INDEX_SOONER "$chain")
line=$(calc '%.2f' "$(constant TEXTURE_LINE "$memory") / 256")
say "$page" "by an integer index takes $sooner less"
say "$page" "A line takes $line cycles of the path from the L2"
say "$page" "those of textures ($sooner, $line)"
fitted="$constant_word, $stored, $arrival, $barrier, $branch, $start, $turnover, $atomic"
say "$page" "($fitted, and \`block_launch_cycles\`)"
