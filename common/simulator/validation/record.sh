#!/bin/sh
# record.sh [--counters | --again RUNS] [--only REGEX] DIRECTORY SETS... - measures validation sets
# on this machine's GPU, or all sets of sets.tsv without SETS.
#
# Needs nvcc, ncu and a GPU; runs from the workbook's root, with build/bin/lab built for labs.
# Writes SET-times.tsv (medians of event pairs, L2 flushed before each) and SET-counters.tsv (one
# line per kernel, from ncu).  SET-cases.txt has the shapes of a lab that were measured.
#
# --counters: only counters are measured again, on the recorded shapes.
# --again RUNS: the counters that make validate compares are measured RUNS more times.  SET-runs.tsv
# gets the counters that differed between runs: row, kernel, column and all values, the record's
# first.  Later runs measure only the kernels in which a counter differed.
# --only REGEX: only kernels whose whole name matches.
set -eu
usage='usage: record.sh [--counters | --again RUNS] [--only REGEX] DIRECTORY SETS...'
times=1 again=0 only='.*'
while :; do
    case ${1-} in
    --counters) times='' ;;
    --again) times='' again=${2:?"$usage"} && shift ;;
    --only) only=${2:?"$usage"} && shift ;;
    *) break ;;
    esac
    shift
done
out=${1:?"$usage"}
shift
# shellcheck disable=SC2046 # names without blanks
[ $# -gt 0 ] || set -- $(awk '!/^;/ && $1 != "set" { print $1 }' common/simulator/validation/sets.tsv)
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-O3 -std=c++17 -lineinfo -I. -Icommon/include"

# Names of the columns and of ncu's metrics.
metrics='instructions:smsp__inst_executed.sum
load_requests:l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
load_sectors:l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
copied_sectors:smsp__sass_l1tex_m_xbar2l1tex_read_sectors_mem_global_op_ldgsts_cache_bypass.sum
load_hits:l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
store_requests:l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
store_sectors:l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
wavefronts:memory_l1_wavefronts_shared
wavefronts_ideal:memory_l1_wavefronts_shared_ideal
atom_sectors:l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum
red_sectors:l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum
local_loads:l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum
local_stores:l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
texture_sectors:l1tex__t_sectors_pipe_tex.sum
dram_read:dram__bytes_read.sum
dram_write:dram__bytes_write.sum
cycles:sm__cycles_elapsed.max
registers:launch__registers_per_thread'

# The columns that make validate compares.  ncu counts the first three with instructions that it
# inserts into a kernel.  They take time, so a kernel that waits or retries has other counts.
compared='copied_sectors wavefronts wavefronts_ideal load_sectors store_sectors atom_sectors
red_sectors local_loads local_stores texture_sectors'

header() { # OPTIONS
    printf '; %s\n' "$(nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader | head -n 1)" \
        "$(nvcc --version | grep release)" "$(date -u +%Y-%m-%d)" "common/simulator/validation/record.sh${1-}"
}

# Converts ncu's page of raw values, every field quoted, to these columns in plain units.
table() { # METRICS
    awk -v metrics="$1" '
        BEGIN { count = split(metrics, pair, "\n"); for (i = 1; i <= count; i++) { split(pair[i], p, ":"); column[i] = p[1]; metric[i] = p[2] } }
        !/^"/ { next }
        { gsub(/^"|"$/, ""); n = split($0, field, /","/) }
        !head { for (i = 1; i <= n; i++) at[field[i]] = i; head = 1
                printf "kernel"; for (i = 1; i <= count; i++) printf "\t%s", column[i]; print ""; next }
        head == 1 { for (i = 1; i <= n; i++) unit[i] = field[i]; head = 2; next }
        { name = field[at["Kernel Name"]]; sub(/[<(].*/, "", name); sub(/^void /, "", name)
          if (name == "chain_kernel" || name == "fill_kernel" || name == "link_kernel" || name == "sparse_make") next
          printf "%s", name
          for (i = 1; i <= count; i++) {
              k = at[metric[i]]; value = field[k]; gsub(/,/, "", value)
              if (unit[k] == "Kbyte") value *= 1e3
              if (unit[k] == "Mbyte") value *= 1e6
              if (unit[k] == "Gbyte") value *= 1e9
              printf "\t%.0f", value
          }
          print "" }'
}

# Counts each launch of the program once.
count() { # PROGRAM CASES METRICS KERNELS
    list=$(echo "$3" | sed 's/.*://' | paste -sd, -)
    ncu --csv --page raw --metrics "$list" --clock-control none --cache-control all \
        --kernel-name "regex:^($4)\$" "$1" once <"$2" | table "$3"
}

measure() { # NAME
    [ -z "$times" ] || { header && "$work/$1" time <"$work/$1.cases"; } >"$out/$1-times.tsv"
    { header && count "$work/$1" "$work/$1.cases" "$metrics" "$only"; } >"$out/$1-counters.tsv"
}

# The names of the chosen kernels as one regular expression.
kernels_joined() {
    sort -u | grep -Ex "$only" | paste -sd'|' -
}

# The compared columns that are not zero for these kernels, to be counted again.
columns_of() { # RECORD KERNELS
    awk -F '\t' -v kernels="^($2)\$" -v compared="$compared" '
        /^;/ { next }
        !head { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; next }
        $1 ~ kernels { for (column in at) if ($(at[column]) + 0 > 0) seen[column] = 1 }
        END {
            n = split(compared, name, /[ \n]+/)
            for (i = 1; i <= 3; i++) patched += name[i] in seen
            for (i = 1; i <= n; i++)
                if (name[i] in at && (name[i] in seen || (i <= 3 && patched))) print name[i]
        }' "$1" | paste -sd'|' -
}

# One more run of the kernels in which a counter differed so far.
measure_again() { # NAME RUN
    record=$out/$1-counters.tsv
    if [ "$2" = 1 ]; then
        awk '!/^;/ { print $1 }' "$record" | tail -n +2 | kernels_joined >"$work/$1.kernels"
        cat "$out/$1-runs.tsv" >"$work/$1.before" 2>/dev/null || true # optional
    fi
    kernels=$(cat "$work/$1.kernels")
    [ "$kernels" ] || return 0
    counted=$work/$1.run-$(printf %03d "$2")
    columns=$(columns_of "$record" "$kernels")
    count "$work/$1" "$work/$1.cases" "$(echo "$metrics" | grep -E "^($columns):")" "$kernels" \
        >"$counted"
    [ "$(wc -l <"$counted")" -gt 1 ] || { echo "$1: ncu counted nothing" >&2 && exit 1; }
    awk -f common/simulator/validation/runs.awk "$record" "$work/$1".before "$work/$1".run-* >"$work/$1.runs"
    { header " --again" && cat "$work/$1.runs"; } >"$out/$1-runs.tsv"
    awk 'NR > 1 { print $2 }' "$work/$1.runs" | kernels_joined >"$work/$1.kernels"
}

# All are compiled in parallel, and measured one after another.
for name in "$@"; do
    if [ -f "common/simulator/validation/sets/$name.cu" ]; then
        sources=common/simulator/validation/sets/$name.cu
        : >"$work/$name.cases"
    else
        sources="common/simulator/validation/lab_launches.cu solutions/$name/conv.cu"
        [ -z "$times" ] || build/bin/lab cases --lab "$name" >"$out/$name-cases.txt"
        cp "$out/$name-cases.txt" "$work/$name.cases"
    fi
    arch=-arch=native
    [ "$name" != hopper-units ] || arch='-gencode arch=compute_90a,code=sm_90a' # its instructions need sm_90a
    # shellcheck disable=SC2086
    nvcc $flags $arch $sources common/simulator/validation/measure_gpu.cu -o "$work/$name" &
done
wait
run=0
while [ "$run" -lt "$again" ]; do
    run=$((run + 1))
    for name in "$@"; do
        measure_again "$name" "$run"
    done
done
[ "$again" -gt 0 ] || for name in "$@"; do
    measure "$name"
done
