#!/bin/sh
# check.sh BUILD - make validate's comparison of counts and times, its known differences, and
# record.sh --again, with tables of a few lines and an ncu that prints given counts.
# shellcheck disable=SC2016  # backquotes of Markdown
set -eu
. autograder/tests/lib.sh
tool=$build/tests/common/simulator/validation/tool_validate
tab=$(printf '\t')
record=$work/root/data/tiny
mkdir -p "$record" "$work/own" "$work/bin" "$work/next"

tabs() { tr ' ' "$tab"; }

# A root with one set of one GPU.
printf 'set subject kind date commit page\nfew x fit - - x\n' | tabs >"$work/root/sets.tsv"
printf 'gpu correlation within_25_percent beyond_1.5 error kind_error\ntiny 0.9 0.9 0 0.08 0.12\n' |
    tabs >"$work/root/limits.tsv"
known() { # SET LAUNCH COUNTER VARIES REASON, five for each entry
    printf 'gpu\tset\tlaunch\tcounter\tvaries\treason\n' >"$work/root/known.tsv"
    [ $# = 0 ] || printf 'tiny\t%s\t%s\t%s\t%s\t%s\n' "$@" >>"$work/root/known.tsv"
}
known

# Three launches, the second of a given kind: measured times, and counts of the GPU and of the
# simulator.
recorded() { # KIND
    printf 'name kind family us\nsteady fit x 5\nwaits %s x 6\nempties fit x 7\n' "$1" |
        tabs >"$record/few-times.tsv"
}
tabs >"$record/few-counters.tsv" <<END
kernel load_sectors store_sectors wavefronts wavefronts_ideal atom_sectors red_sectors local_loads local_stores
first 1000 0 0 0 0 0 0 0
second 1000 100 500 400 0 0 0 0
third 0 0 0 0 0 0 0 0
END
simulated() { # SECTORS LOADED BY THE FIRST, BY THE SECOND, WAVEFRONTS OF THE SECOND, ITS CONFLICTS
    tabs >"$work/own/few.tsv" <<END
name us launches load_sectors store_sectors shared_wavefronts bank_conflicts shared_atomic_wavefronts atomic_sectors local_sectors copied_sectors texture_sectors
steady 5 1 $1 0 0 0 0 0 0 0 0
waits 6 1 $2 100 $3 $4 0 0 0 0 0
empties 7 1 0 0 0 0 0 0 0 0 0
END
}
again() { # ROW KERNEL COUNTER COUNTS, four for each line
    printf 'row\tkernel\tcounter\tcounts\n' >"$record/few-runs.tsv"
    printf '%s\t%s\t%s\t%s\n' "$@" >>"$record/few-runs.tsv"
}
compared() { # STATUS
    status=0
    "$tool" "$work/root" tiny "$work/own" "$work" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$1" ]
}
is_right() { compared 0 && ! grep -q 'counts are off by more than' "$work/out"; }
is_wrong() { compared 1 && grep -qx "$1 counts are off by more than 2 %" "$work/out"; }
refused() { compared 2 && grep -q "$1" "$work/err"; }
set +e

recorded fit
simulated 1000 1000 500 100 && is_right
tell 'equal counts are right'
simulated 1000 1300 500 100 && is_wrong 1 && grep -q '| `waits 1.27` |' "$work/out"
tell 'a count that no run on the GPU had is wrong'
again 2 second load_sectors '1000 1300 1200' && is_right &&
    grep -q '^| global sectors | 1 | 1 | 1 | 1 | none |' "$work/out"
tell 'a count of another run is right'
simulated 1000 1440 500 100 && is_wrong 1 && grep -q '| `waits 1.10` |' "$work/out" &&
    simulated 1000 800 500 100 && is_wrong 1 && grep -q '| `waits 0.82` |' "$work/out"
tell 'a count outside the range of all runs is wrong'
simulated 1300 1000 500 100 && is_wrong 1 && grep -q '| `steady 1.30` |' "$work/out"
tell 'the range of one launch does not apply to another'

# 100 more of both in the second run: 100 conflicts each time.
again 2 second wavefronts '500 600' 2 second wavefronts_ideal '400 500'
simulated 1000 1000 600 100 && is_right
tell 'conflicts are the difference within one run'
simulated 1000 1000 600 200 && is_wrong 1 &&
    grep -q '^| bank conflicts | 1 | 0 | 0 | 0 | `waits 2.00` |' "$work/out"
tell 'and not a difference between two runs'

grep -rn '__LINE__' common/simulator/validation/sets >"$work/out"
[ $? = 1 ]
tell 'no address of a launch depends on the line of its source'

again 2 first load_sectors '1000 1300' && refused 'row 2 of .* is no first; record again'
tell 'runs of another record are refused'
printf 'row\tkernel\tcounter\n2\tsecond\tload_sectors\n' >"$record/few-runs.tsv"
refused 'there is no column counts'
tell 'runs without a column are refused'
rm "$record/few-runs.tsv"

recorded racing && simulated 1000 1300 500 100 && is_right &&
    grep -q '^| `waits` | global sectors | 1100 | 1100 | 1400 |' "$work/out"
tell 'a launch that races with itself is shown, and exceeds no limit'
recorded held-out && refused "waits has no known kind: 'held-out'"
tell 'an unknown kind is refused'
recorded fit && mv "$work/own/few.tsv" "$work/few.tsv" && refused 'few.tsv: No such file'
tell 'a set that is not simulated is refused'
mv "$work/few.tsv" "$work/own/few.tsv"
"$tool" "$work/root" other "$work/own" "$work" >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q 'limits.tsv: there is no GPU other' "$work/err"
tell 'a GPU without limits is refused'

# ---- record.sh --again: this ncu prints four columns of the chosen kernels
cat >"$work/bin/nvcc" <<'END'
#!/bin/sh
[ "$1" = --version ] && echo 'release 1' && exit
while [ $# -gt 1 ]; do shift; done
: >"$1"
END
cat >"$work/bin/nvidia-smi" <<'END'
#!/bin/sh
echo 'A GPU, 1, 2'
END
cat >"$work/bin/ncu" <<'END'
#!/bin/sh
echo "$*" >>"$FAKE/asked"
run=$(wc -l <"$FAKE/asked")
echo '==PROF== of no interest'
echo '"Kernel Name","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","memory_l1_wavefronts_shared","memory_l1_wavefronts_shared_ideal"'
echo '"","sector","sector","",""'
case "$*" in *first*) echo '"void first<int>(int)","1,000","0","0","0"' ;; esac
[ "$SECOND" = none ] || echo "\"$SECOND(float *)\",\"1,${run}00\",\"100\",\"500\",\"400\""
case "$*" in *third*) echo '"third","0","0","0","0"' ;; esac
END
chmod +x "$work"/bin/*
recorded_again() { # RUNS [KERNEL OF THE PROGRAM] [CHOSEN KERNELS]
    (PATH=$work/bin:$PATH FAKE=$work/next SECOND=${2-second} sh common/simulator/validation/record.sh \
        --again "$1" --only "${3-.*}" "$work/next" microbenchmarks) >"$work/out" 2>&1
}
cp "$record/few-counters.tsv" "$work/next/microbenchmarks-counters.tsv"
runs() { # COUNTS
    printf 'row\tkernel\tcounter\tcounts\n2\tsecond\tload_sectors\t%s\n' "$1" >"$work/want"
    grep -v '^;' "$work/next/microbenchmarks-runs.tsv" | diff "$work/want" - >"$work/differ"
}
recorded_again 2 && runs '1000 1100 1200' &&
    grep -q '^; A GPU, 1, 2' "$work/next/microbenchmarks-runs.tsv" &&
    grep -c first "$work/next/asked" | grep -qx 1
tell 'runs are recorded, the second run only for kernels that differed'
recorded_again 1 && runs '1000 1100 1200 1300'
tell 'further runs are appended'
recorded_again 1 second 's.*' && runs '1000 1100 1200 1300 1400' &&
    grep -c first "$work/next/asked" | grep -qx 2
tell 'only the chosen kernels are measured'
! recorded_again 1 none second && grep -q 'ncu counted nothing' "$work/out"
tell 'a run without kernels is refused'
! recorded_again 1 fourth && grep -q 'has other kernels than' "$work/out" &&
    runs '1000 1100 1200 1300 1400'
tell 'another kernel is refused'

# ---- known differences, next to forty launches within the limits
excepted() { # NAME, ITS SIMULATED TIME FOR 10 US, WAVEFRONTS OF THE GPU FOR ITS 500
    { echo name kind family us && seq 40 | sed 's/.*/n& fit x &/' && echo "$1 fit x 10"; } |
        tabs >"$record/few-times.tsv"
    { head -n 1 "$work/own/few.tsv" && seq 40 | sed 's/.*/n& & 1 0 0 0 0 0 0 0 0 0/' &&
        echo "$1 $2 1 0 0 500 0 0 0 0 0 0"; } | tabs >"$work/few"
    mv "$work/few" "$work/own/few.tsv"
    { head -n 1 "$record/few-counters.tsv" && seq 40 | sed 's/.*/n& 0 0 0 0 0 0 0 0/' &&
        echo "$1 0 0 $3 $3 0 0 0 0"; } | tabs >"$work/few"
    mv "$work/few" "$record/few-counters.tsv"
}
stale() { # WHY
    compared 1 && grep -q "known.tsv, row 1: .*, $1\$" "$work/out" &&
        grep -qx '1 entries of known.tsv are not needed' "$work/out"
}

excepted mine 4 500 && compared 1 && grep -q 'exceed the limits of tiny' "$work/out"
tell 'a time that is off by more than 1.5 exceeds a limit'
excepted mine 10 700 && is_wrong 1
tell 'a count that differs by more than 2 % exceeds a limit'
known few mine 'shared wavefronts' no 'a cause' && is_right
tell 'unless it is a known difference'
excepted mine 10 500 && stale 'no longer differs'
tell 'a known difference that no longer differs fails'
known few mine 'shared wavefronts' yes 'a race' && is_right
tell 'unless the count varies between builds'
known few mine 'shared wavefronts' perhaps 'a race' && refused "varies is yes or no, not 'perhaps'"
tell 'other words about the variation are refused'
known few other 'shared wavefronts' no 'a cause' && stale 'names no launch'
tell 'an entry without a launch fails'
known few mine 'wavefronts' no 'a cause' && refused "known.tsv, row 1: there is no counter 'wavefronts'"
tell 'an entry with an unknown counter is refused'
known few mine 'shared wavefronts' no '' && refused 'known.tsv, row 1: there is no reason'
tell 'an entry without a reason is refused'
exit "$failed"
