#!/bin/sh
# after-solutions.sh BUILD [LAB] - grades the other solutions of the sections "After passing" on the
# simulator, each in one timed case, and writes docs/data/after/solutions.tsv.  LAB: only this lab's
# rows, the others stay.  It takes half an hour for all labs; make check reads the record.
set -eu
build=${1:?usage: after-solutions.sh BUILD [LAB]}
only=${2:-}
record=docs/data/after/solutions.tsv
tab=$(printf '\t')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# solution LAB CASE TITLE FILE [PATCH | KEY=VALUE]: grades FILE, patched or with a definition above
# it.
solution() {
    lab=$1 case=$2 title=$3 file=$4 change=${5:-}
    [ -z "$only" ] || [ "$only" = "$lab" ] || return 0
    name=$(basename labs/"$lab"-*)
    source=$(sed -n 's/^source *= *//p' "labs/$name/lab.ini")
    rm -rf "$work/submission" "$work/results"
    mkdir -p "$work/submission/$name"
    target=$work/submission/$name/$source
    case $change in
    *=*) { printf '#define %s %s\n' "${change%%=*}" "${change#*=}" && cat "$file"; } >"$target" ;;
    *.patch) patch -s -f -o "$target" "$file" <"$change" ;;
    *) cp "$file" "$target" ;;
    esac
    "$build/bin/grade" --build "$build" --lab "$lab" --submission "$work/submission" --engine sim \
        --seed 20261129 --case "$case" --results "$work/results" >"$work/log" 2>&1 || :
    jq -r --arg lab "$lab" --arg case "$case" --arg title "$title" --arg file "$file" \
        --arg change "$change" '.cases[] | select(.name == $case) |
        [$lab, $case, $title, $file, $change, .verdict, .speed.student, .speed.reference, .speed.points,
         .speed.possible] | @tsv' \
        "$work/results/$name.json" >>"$work/rows" || { cat "$work/log"; exit 1; }
    tail -n 1 "$work/rows"
}

right=autograder/tests/right
numbers=docs/numbers
ideas=autograder/tests/ideas
solution 00 photo 'a loop over a fixed grid of 132 blocks' $right/brighten-stride/brighten.cu
solution 00 photo 'four pixels per thread, `float4`' $right/brighten-vector/brighten.cu
solution 01 vgg-conv1_1 'the plain loop nest' labs/01-sequential/baseline.c
solution 01 vgg-conv1_1 'four filters at once' $right/host-four-filters/conv.c
solution 01 vgg-conv1_1 'the test in the innermost loop' solutions/01-sequential/conv.c $numbers/01-sequential/test-inside.patch
solution 02 lenet-c1 'a loop over twelve blocks' $right/grid-stride/conv.cu
solution 02 lenet-c1 'two outputs per thread' $right/two-columns/conv.cu
solution 02 lenet-c1 'a warp per output' $right/warp-shuffle/conv.cu
solution 03 chwn 'lanes along q in every layout' solutions/03-layout/conv.cu $numbers/03-layout/along-q.patch
solution 03 chwn 'lanes along k in every layout' solutions/03-layout/conv.cu $numbers/03-layout/along-k.patch
solution 04 electrode-1 "the book's kernel" solutions/04-tiled/conv.cu $numbers/04-tiled/book.patch
solution 04 electrode-1 '4 filters per tile' solutions/04-tiled/conv.cu $numbers/04-tiled/filters-4.patch
solution 04 electrode-1 'scalar weights instead of `float4`' solutions/04-tiled/conv.cu $numbers/04-tiled/scalar.patch
solution 06 table-1 'accumulators in local memory for the store' solutions/06-unrolled/conv.cu $numbers/06-unrolled/store.patch
solution 07 table-1 'one kernel, always with checks' solutions/07-strength-reduced/conv.cu $numbers/07-strength-reduced/checked.patch
solution 07 table-1 'both loops in one kernel, as in figure 30' solutions/07-strength-reduced/conv.cu $numbers/07-strength-reduced/both-inside.patch
solution 07 table-1 'a division per chunk' solutions/07-strength-reduced/conv.cu $numbers/07-strength-reduced/divides.patch
solution 08 table-1 'strength reduction instead of the index converter' solutions/08-accelerators/conv.cu $numbers/08-accelerators/counters.patch
solution 09 vgg-slice 'a loop whose number of iterations depends on the thread' solutions/09-im2col/conv.cu $numbers/09-im2col/rounds-by-thread.patch
solution 09 vgg-slice 'the address before the check, then `__ldg`' solutions/09-im2col/conv.cu $numbers/09-im2col/long-address-ldg.patch
solution 10 many-rows 'no prefetch' solutions/10-implicit-gemm/conv.cu $numbers/10-implicit-gemm/loaded-late.patch
solution 10 lenet-c1 'one tile, one slice' solutions/10-implicit-gemm/conv.cu $numbers/10-implicit-gemm/one-tile.patch
solution 11 wide 'WMMA only' solutions/11-tensor-cores/conv.cu $numbers/11-tensor-cores/only-wmma.patch
solution 11 wide 'two stages' solutions/11-tensor-cores/conv.cu $numbers/11-tensor-cores/two-stages.patch
solution 13 vgg-conv4 "lab 10's dense kernel" solutions/10-implicit-gemm/conv.cu
solution 14 staged-timed 'always the fused kernel' solutions/14-winograd/conv.cu $numbers/14-winograd/one-kernel.patch
solution 14 staged-timed 'F(2×2, 3×3) in four launches' solutions/14-winograd/conv.cu $numbers/14-winograd/staged-2.patch
solution 15 eleven 'tiles of 16×16' solutions/15-fft/conv.cu $numbers/15-fft/tile-16.patch
solution 15 eleven 'one load at a time' solutions/15-fft/conv.cu $numbers/15-fft/one-by-one.patch
solution 16 fc-electrode 'one thread per output' labs/16-layers/baseline.cu
solution 16 fc-c5 'one image at a time' solutions/16-layers/conv.cu $numbers/16-layers/images-1.patch
solution 17 dw-lenet-c1 'scatter with atomics' labs/17-backward/steps/scatter.cu
solution 17 dx-lenet-c3 'scatter with atomics' labs/17-backward/steps/scatter.cu
solution 17 dw-deep 'the first tile, one slice' solutions/17-backward/conv.cu $ideas/17-backward/first-candidate-only.patch
solution 18 lenet 'one thread per sum' labs/18-training/baseline.cu
solution 18 lenet 'one partial sum at a time' solutions/18-training/train.cu $numbers/18-training/unroll-1.patch
solution 19 one 'im2col and a matrix product' labs/19-electrode/steps/report.cu STRATEGY=IM2COL
solution 19 one 'scatter' labs/19-electrode/steps/report.cu STRATEGY=SCATTER
solution 21 mobilenet 'one output per thread' solutions/21-depthwise/conv.cu $ideas/21-depthwise/one-output-per-thread.patch
solution 21 mobilenet 'tiles without vector loads' solutions/21-depthwise/conv.cu $numbers/21-depthwise/no-vectors.patch
solution 21 separable 'two launches' solutions/21-depthwise/conv.cu $ideas/21-depthwise/two-launches.patch
solution 22 vgg '`dp4a` for every layer' solutions/22-int8/conv.cu $ideas/22-int8/dp4a-everywhere.patch
solution 22 narrow 'a byte at a time' labs/22-int8/baseline.cu

mkdir -p docs/data/after
{
    printf 'lab\tcase\tsolution\tfile\tchange\tverdict\tcycles\treference, cycles\tspeed points\tof\n'
    [ -z "$only" ] || [ ! -f "$record" ] || awk -F "$tab" -v lab="$only" 'NR > 1 && $1 != lab' "$record"
    cat "$work/rows"
} >"$work/new"
{ head -n 1 "$work/new" && tail -n +2 "$work/new" | sort -s -t "$tab" -k 1,1; } >"$record"
