#!/bin/sh
# gpu.sh BUILD OUT - the tables, curves and sentences of book/gpu.md, and tables of the cheat sheet.
# They compare measurements on an H200 with the simulator.  The measurements are
# docs/data/h200/gpu.tsv by h200/gpu.sh, machine.ini by make machine, and
# common/simulator/validation's micro-kernels.
. docs/numbers/lib.sh

page=book/gpu.md
curves=docs/data/h200/gpu.tsv
card=docs/data/h200/machine.ini
micro=common/simulator/validation/data/h200

# point CURVE SERIES X: a measured value of curves.cu.
point() {
    _value=$(awk -F'\t' -v curve="$1" -v series="$2" -v x="$3" '$1 == curve && $2 == series && $3 == x { print $4 }' "$curves")
    [ -n "$_value" ] || fail "$curves has no $1 $2 $3"
    printf '%s\n' "$_value"
}

# `card KEY`: a number of machine.ini; `raw KEY`: the last number in the line above it, the measured
# value.
card() { described "$card" "$1"; }
raw() {
    sed -n -e '/^;/h' -e "/^$1 = /{x;p;}" "$card" | grep -oE ' [0-9.]+' | tail -n 1 | tr -d ' '
}

# us NAME: microseconds of a micro-kernel on the GPU; simulated_us NAME: on the simulator.
us() { cell "$micro/microbenchmarks-times.tsv" "$1" 4; }
simulated_us() { cell docs/data/simulated/validation/h200/microbenchmarks.tsv "$1" 4; }

# counted NAME COLUMN: what ncu counted; the two records have their rows in the same order.
counted() {
    _row=$(grep -v '^;' "$micro/microbenchmarks-times.tsv" | awk -F'\t' -v name="$1" '$1 == name { print NR }')
    grep -v '^;' "$micro/microbenchmarks-counters.tsv" | awk -F'\t' -v row="$_row" -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == row && column { print $column; found = 1 }
        END { exit !found }' || fail "$micro/microbenchmarks-counters.tsv has no $2 of $1"
}

# all_kernels COLUMN: of the H200's row of docs/simulator/validation.md's table of machines;
# Hopper's units have one of their own.
all_kernels() {
    grep -m 1 '^| H200 | all |' docs/simulator/validation.md | cut -d '|' -f "$1" | tr -s ' ' | sed 's/^ //; s/ $//'
}

sms=$(card sms) mhz=$(card clock_mhz) gb_s=$(card dram_gb_s) fma=$(raw alu_latency)
latency() { calc %.0f "$(point latency load "$1")"; }
l1=$(latency 65536) l2=$(latency 4194304) half=$(latency 33554432) dram=$(latency 1073741824)
fma_cycles=$(calc '%.0f' "$fma / 4096")
nano() { calc '%.0f' "$1 * 1000 / $mhz"; }
kb() { calc '%.0f' "$1 / 1024"; }
tflops=$(sed -n 's/^fp32 FMA\t\([0-9.]*\)\t.*/\1/p' docs/data/h200/bench.tsv)
halves=$(raw tensor_fma) floats=$(raw fp32_lanes)
words=$(raw lsu_lanes)
# FMAs per cycle and SM of two warpgroups, m64n256k16 of halves, on all SMs.
wgmma=$(awk -F'\t' '$1 == 256 && $2 == "shared" && $3 == "eight" && $4 == 132 && $5 == 2 { print 8 * 2 * 64 * 256 * 16 / $6 }' docs/data/h200/warpgroups.tsv)
[ "$wgmma" ] || fail 'docs/data/h200/warpgroups.tsv has no two warpgroups on 132 SMs'

# ---- tables --------------------------------------------------------------------------------------
part() { printf '| %s | %s | %s | %s |\n' "$1" "$(thousands "$2")" "$3" "$(thousands $((sms * $2)))"; }
{
    printf '| unit | per SM | measured per cycle and SM | in the GPU |\n| --- | --- | --- | --- |\n'
    part schedulers "$(machine h200 schedulers)" ''
    part 'lanes for floats' "$(card fp32_lanes)" "$floats FMAs"
    part 'lanes for integers' "$(card int32_lanes)" "$(raw int32_lanes) multiply-adds"
    part 'lanes for doubles' "$(card fp64_lanes)" "$(raw fp64_lanes) FMAs"
    part 'lanes for exp, sin, square roots' "$(card sfu_lanes)" "$(raw sfu_lanes) powers of two"
    part 'tensor cores' 4 "FMAs of halves: $(thousands "$halves") by \`mma.sync\`, $(thousands "$(calc %.0f "$wgmma")") by \`wgmma\`"
    part 'warps, at most' "$(card max_warps_per_sm)" ''
    part 'threads, at most' "$(card max_threads_per_sm)" ''
    part '32-bit registers' "$(card registers_per_sm)" ''
} >"$out/parts.md"

place() { printf '| %s | %s | %s | %s | %s |\n' "$@"; }
{
    printf '| memory | visible to | size | latency, cycles | throughput |\n| --- | --- | --- | --- | --- |\n'
    place registers 'a thread' "$(kb "$(calc %d "4 * $(card registers_per_sm)")") KB per SM" – –
    place 'shared memory' 'a block' "up to $(kb "$(card shared_per_sm)") KB per SM" "$(card shared_latency)" \
        "$(calc %.0f "4 * $words") bytes per cycle and SM"
    place L1 'an SM' "the rest of $(kb "$(machine h200 l1_bytes)") KB per SM" "$l1" ''
    place L2 'the GPU' "$(calc %.0f "$(card l2_bytes) / 1048576") MiB" "$l2" \
        "$(thousands "$(card l2_bytes_per_cycle)") bytes per cycle, $(thousands "$(calc %.0f "$(card l2_bytes_per_cycle) * $mhz / 1000")") GB/s"
    place DRAM 'the GPU' "$(calc %.0f "$(card memory_bytes) / 1073741824") GiB" "$dram" "$(thousands "$gb_s") GB/s"
    place "the host's memory" 'the GPU, over a bus' '' '' "$(calc %.0f "$(point copy to-pinned 1)") GB/s"
} >"$out/places.md"

{
    printf '| paths that lanes take | cycles of the warp |\n| --- | --- |\n'
    for ways in 1 2 4 8 16 32; do printf '| %s | %s |\n' "$ways" "$(thousands "$(calc %.0f "$(point branch warp "$ways")")")"; done
} >"$out/branches.md"

{
    printf '| stride, floats | sectors per load | µs for a million floats |\n| --- | --- | --- |\n'
    printf '| 1 | %s | %s |\n' "$(calc %.0f "$(counted copy-1MB load_sectors) / $(counted copy-1MB load_requests)")" "$(calc %.1f "$(point stride copy 1)")"
    for stride in 2 3 4 8 16 32; do
        printf '| %s | %s | %s |\n' "$stride" "$(calc %.0f "$(counted stride-$stride load_sectors) / $(counted stride-$stride load_requests)")" \
            "$(calc %.1f "$(point stride copy "$stride")")"
    done
} >"$out/strides.md"

# bank_kernel of microbenchmarks.cu: 1,056 blocks fill a tile with 33 stores and load 128 times per
# warp.
{
    printf '| stride, words | wavefronts per load | cycles per load |\n| --- | --- | --- |\n'
    for stride in 1 2 3 4 8 16 32; do
        printf '| %s | %s | %s |\n' "$stride" "$(calc %.0f "($(counted bank-$stride wavefronts) - 1056 * 33) / (1056 * 8 * 128)")" \
            "$(calc %.1f "$(point bank load "$stride")")"
    done
} >"$out/banks.md"

{
    printf '| blocks per SM | warps per SM | occupancy | µs |\n| --- | --- | --- | --- |\n'
    for blocks in 1 2 4 8; do
        printf '| %s | %s | %s %% | %s |\n' "$blocks" $((4 * blocks)) "$(calc %.0f "400 * $blocks / $(card max_warps_per_sm)")" "$(calc %.1f "$(us occupancy-$blocks)")"
    done
} >"$out/occupancy.md"

{
    printf '| blocks | waves | µs |\n| --- | --- | --- |\n'
    for blocks in 12 132 264 396; do
        printf '| %s | %s | %s |\n' "$blocks" $(((blocks + sms - 1) / sms)) "$(calc %.1f "$(point waves launch "$blocks")")"
        [ "$blocks" != "$sms" ] || printf '| %s | 2 | %s |\n' $((sms + 1)) "$(calc %.1f "$(point waves edge $((sms + 1)))")"
    done
} >"$out/waves.md"

{
    printf '| an empty kernel | µs |\n| --- | --- |\n'
    printf '| one of many launches in a row | %s |\n' "$(calc %.2f "$(point launch calls 64)")"
    printf '| one of the same number in a graph | %s |\n' "$(calc %.2f "$(point launch graph 64)")"
    printf '| one alone, between two events | %s |\n' "$(calc %.2f "$(point launch one 1)")"
} >"$out/launches.md"

{
    printf '| streams | µs for all |\n| --- | --- |\n'
    for used in 1 2 4 8 16 32; do printf '| %s | %s |\n' "$used" "$(calc %.0f "$(point streams kernels "$used")")"; done
} >"$out/streams.md"

{
    printf '| copy | GB/s |\n| --- | --- |\n'
    printf '| host to GPU, pinned memory | %s |\n' "$(calc %.1f "$(point copy to-pinned 1)")"
    printf '| GPU to host, pinned memory | %s |\n' "$(calc %.1f "$(point copy from-pinned 1)")"
    printf '| host to GPU, memory allocated by malloc | %s |\n' "$(calc %.1f "$(point copy to-pageable 1)")"
    printf '| within the GPU, bytes read plus bytes written | %s |\n' "$(thousands "$(sed -n 's/^device-to-device[^\t]*\t\([0-9,]*\)\t.*/\1/p' docs/data/h200/bench.tsv)")"
} >"$out/copies.md"

{
    printf '| kernel | measured, µs | simulated, µs | simulated / measured |\n| --- | --- | --- | --- |\n'
    while IFS='	' read -r name words_of; do
        printf '| %s | %s | %s | %s |\n' "$words_of" "$(calc %.1f "$(us "$name")")" "$(calc %.1f "$(simulated_us "$name")")" \
            "$(calc %.2f "$(simulated_us "$name") / $(us "$name")")"
    done <<'E2'
fma-chain	one warp per SM, one chain of FMAs
fma-4	64 warps per SM, four chains per thread
diverge-32	lanes take 32 paths
copy-16MB	a copy, one float per thread
float4	the same copy, one float4 per thread
stride-8	loads with a stride of 8
gather-DRAM	gathered from 128 MB
bank-8	shared memory with a stride of 8
occupancy-1	dependent loads, one block per SM
occupancy-8	dependent loads, eight blocks per SM
tail-264	a full wave of blocks
tail-265	a full wave and one block
transpose-naive	a transposition, directly
transpose-32	a transposition through a tile of 32 × 32
transpose-33	a transposition through a tile of 32 × 33
E2
    printf '\nOver all %s measured launches the mean absolute error is %s.\n' "$(all_kernels 4)" "$(all_kernels 6)"
} >"$out/model.md"

# The cheat sheet's.
{
    printf '| unit | latency, cycles | throughput |\n| --- | --- | --- |\n'
    printf '| FMA | %s | %s per cycle and SM |\n' "$fma_cycles" "$(calc %.0f "$floats")"
    printf '| shared memory | %s | %s bytes per cycle and SM |\n' "$(card shared_latency)" "$(calc %.0f "4 * $words")"
    printf '| L1 | %s | |\n| L2 | %s | %s bytes per cycle |\n' "$l1" "$l2" "$(thousands "$(card l2_bytes_per_cycle)")"
    printf '| DRAM | %s | %s GB/s |\n' "$dram" "$(thousands "$gb_s")"
    printf '| host memory, pinned | | %s GB/s |\n' "$(calc %.0f "$(point copy to-pinned 1)")"
    printf '| a launch, one of many | %s µs | in a graph %s µs |\n' "$(calc %.1f "$(point launch calls 64)")" "$(calc %.1f "$(point launch graph 64)")"
} >"$out/times.md"

limit() { printf '| %s | %s | %s |\n' "$1" "$2" "$3"; }
{
    printf '| resource limit | per block | per SM |\n| --- | --- | --- |\n'
    limit threads "$(thousands "$(card max_threads_per_block)")" "$(thousands "$(card max_threads_per_sm)")"
    limit warps "$(calc %d "$(card max_threads_per_block) / 32")" "$(card max_warps_per_sm)"
    limit blocks '' "$(card max_blocks_per_sm)"
    limit registers "$(machine h200 max_registers_per_thread) per thread" "$(thousands "$(card registers_per_sm)")"
    limit 'shared memory, by default' "$(kb "$(card shared_per_block)") KB" ''
    limit 'shared memory, with `cudaFuncSetAttribute`' "$(kb "$(card shared_per_block_optin)") KB" "$(kb "$(card shared_per_sm)") KB"
} >"$out/limits.md"

# ---- sentences -----------------------------------------------------------------------------------
say "$page" "A cycle takes $(calc %.3f "1000 / $mhz") ns there, because the SMs run at $(thousands "$mhz") MHz"
say "$page" "up to $sms · 4 · 32 = $(thousands $((sms * 128))) operations"
say "$page" "the peak is $(calc %.1f "$sms * 256 * $mhz / 1e6") TFLOP/s; $tflops were measured"
say "$page" "can be used after $fma_cycles cycles"
say "$page" "two halves, and from 32 MB on, where the ring no longer fits one of them, a load takes $half cycles"
say "$page" "8 KB per SM give $(thousands "$(calc %.0f "8192 * $sms * $mhz / $dram / 1000")") GB/s at the most; the curve has $(thousands "$(calc %.0f "$(point flight 1 8192)")")"
say "$page" "A launch alone takes $(calc %.1f "$(point launch one 1)") µs of that"
say "$page" "With four chains each, five warps do $(calc %.0f "$(point fma 4 5)") FMAs per cycle, fewer than four do, $(calc %.0f "$(point fma 4 4)")"
say "$page" "a load takes $l1 cycles; from the L2 $l2; from DRAM $dram. One load from DRAM takes as long as $(calc %.0f "$dram / ($fma / 4096)") FMAs that depend"
flight=$(calc %f "$gb_s * $dram / $mhz / 1000")
say "$page" "DRAM gives $(thousands "$gb_s") GB/s, and each byte takes $dram cycles, or $(nano "$dram") ns. So $(calc %.2f "$flight") MB must be in flight at any time, $(calc %.1f "$flight * 1000 / $sms") KB for each SM"
say "$page" "a copy of 16 MB takes $(calc %.1f "$(us copy-16MB)") µs with a float per thread, $(calc %.1f "$(us float4)") µs with a \`float4\` per thread, and $(calc %.1f "$(us copy4)") µs with four floats"
say "$page" "Directly from memory to memory it takes $(calc %.1f "$(us transpose-naive)") µs"
say "$page" "in shared memory it takes $(calc %.1f "$(us transpose-32)") µs"
say "$page" "a tile of 32 × 33 it takes $(calc %.1f "$(us transpose-33)") µs"
say "$page" "65,536 empty blocks of one warp take $(calc %.1f "$(raw block_launch_cycles)") µs, $(card block_launch_cycles) cycles each"
say "$page" "measured at $(thousands "$halves") of those per cycle, against $(calc %.0f "$floats") FMAs of floats. The ratio is $(calc %.1f "$halves / $floats")"
say "$page" "with two warpgroups the rate is $(thousands "$(calc %.0f "$wgmma")") per cycle and SM, a ratio of $(calc %.1f "$wgmma / $floats")"
say "$page" "$tflops TFLOP/s over $(thousands "$gb_s") GB/s, $(calc %.1f "$tflops * 1000 / $gb_s") FLOP per byte"
flop=$(calc %.0f '2 * 8 * 512 * 28 * 28 * 256 * 9') bytes=$(calc %.0f '4 * (8 * 256 * 28 * 28 + 512 * 256 * 9 + 8 * 512 * 28 * 28)')
say "$page" "every output written once, it is $(calc %.0f "$flop / $bytes")"
say "$page" "With 32 paths the warp takes $(calc %.0f "$(point branch warp 32) / $(point branch warp 1)") times as long"
say "$page" "the L2 gives $(thousands "$(card l2_bytes_per_cycle)") bytes per cycle after $l2 cycles"
say "$page" "$(thousands "$(card l2_bytes_per_cycle)") · $l2 / $sms = $(calc %.1f "$(card l2_bytes_per_cycle) * $l2 / $sms / 1000") KB"
sheet=book/cheat-sheet.md
say "$sheet" "below $(calc %.1f "$tflops * 1000 / $gb_s") FLOP per byte ($tflops TFLOP/s over $(thousands "$gb_s") GB/s)"
say "$sheet" "$(thousands "$(machine h200 dram_gb_s)") GB/s for DRAM, where reading alone reaches $(sed -n 's/^read only\t\([0-9,]*\)\t.*/\1/p' docs/data/h200/bench.tsv), and $(calc %.1f "$(machine h200 sms) * 256 * $(machine h200 clock_mhz) / 1e6") TFLOP/s"
say "$sheet" "DRAM needs $(calc %.1f "$flight * 1000 / $sms") KB per SM"
say "$sheet" "waves = ⌈blocks / ($sms · blocks per SM)⌉"
say docs/student/glossary.md "an H200 has $sms"
say docs/figures/gpu-chip.svg ">$sms streaming multiprocessors (SMs)<"
say docs/figures/gpu-chip.svg ">L2 cache, $(calc %.0f "$(card l2_bytes) / 1048576") MiB, one for all SMs<"
say docs/figures/gpu-chip.svg ">$(thousands "$(card registers_per_sm)") registers of 32 bits<"

# ---- curves --------------------------------------------------------------------------------------
if command -v gnuplot >/dev/null; then
    for curve in latency warps flight waves; do
        gnuplot -e "data='$curves'; out='$out/gpu-$curve.svg'" "docs/numbers/gpu/$curve.gp"
    done
fi
