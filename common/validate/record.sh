#!/bin/sh
# record.sh [--counters] DIRECTORY NAMES... - measures on this machine's GPU: programs of kernels
# (micro, families, strangers, hopper) and labs' solutions.
#
# Needs nvcc, ncu and a GPU; from the workbook's root, with build/bin/lab built for labs.  Writes,
# for each name, NAME-times.tsv (medians of event pairs, L2 flushed before each) and
# NAME-counters.tsv (one line a kernel, from ncu); of a
# lab NAME-cases.txt, too, the shapes that were measured.  --counters: only what is counted is
# measured anew, of the shapes that DIRECTORY has.
set -eu
times=1
[ "${1-}" != --counters ] || { times= && shift; }
out=${1:?usage: record.sh [--counters] DIRECTORY NAMES...}
shift
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-O3 -std=c++17 -lineinfo -I. -Icommon/include"

# What each column of the counters is called here, and ncu's name of it.
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

header() {
    printf '; %s\n' "$(nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader | head -n 1)" \
        "$(nvcc --version | grep release)" "$(date -u +%Y-%m-%d)" "common/validate/record.sh"
}

# ncu's page of raw values, every field quoted, to the columns above in plain units.
table() {
    awk -v metrics="$metrics" '
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

measure() { # NAME PROGRAM CASES
    [ -z "$times" ] || { header && "$2" time <"$3"; } >"$out/$1-times.tsv"
    list=$(echo "$metrics" | sed 's/.*://' | paste -sd, -)
    { header; ncu --csv --page raw --metrics "$list" --clock-control none --cache-control all "$2" once <"$3" | table; } \
        >"$out/$1-counters.tsv"
}

# All are compiled side by side, and measured one after another.
for name in "$@"; do
    if [ -f "common/validate/$name.cu" ]; then
        sources=common/validate/$name.cu
        : >"$work/$name.cases"
    else
        sources="common/validate/layers.cu solutions/$name/conv.cu"
        [ -z "$times" ] || build/bin/lab cases --lab "$name" >"$out/$name-cases.txt"
        cp "$out/$name-cases.txt" "$work/$name.cases"
    fi
    arch=-arch=native
    [ "$name" != hopper ] || arch='-gencode arch=compute_90a,code=sm_90a' # its units have machine code of their own
    # shellcheck disable=SC2086
    nvcc $flags $arch $sources common/validate/measure_gpu.cu -o "$work/$name" &
done
wait
for name in "$@"; do
    measure "$name" "$work/$name" "$work/$name.cases"
done
