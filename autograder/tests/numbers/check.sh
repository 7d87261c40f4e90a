#!/bin/sh
# check.sh BUILD - compares the numbers in the pages with their commands' output; and tests the
# driver (docs/numbers) with errors in a small project.
set -eu
build=${1:?usage: check.sh BUILD}
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A project of one lab and one page; its `lab` reports for every submission 1234567 cycles, or an
# error.
start_project() {
    rm -rf "$work/p"
    mkdir -p "$work/p/docs/numbers" "$work/p/labs/02-x" "$work/p/solutions/02-x" "$work/p/build/bin" "$work/p/build/lib" \
        "$work/p/common/simulator/gpus" "$work/p/common/include/convlab"
    cd "$work/p"
    cp "$root/docs/numbers/lib.sh" "$root/docs/numbers/numbers.sh" docs/numbers
    ln -s "$root/common/setup" common/setup
    for file in build/lib/launch.a common/simulator/gpus/h200.ini common/include/convlab/conv.h README.md labs/02-x/README.md; do echo "$file" >"$file"; done
    echo 'source = conv.cu' >labs/02-x/lab.ini
    printf 'int tiles = 16;\nint right = 1;\n' >solutions/02-x/conv.cu
    cat >build/bin/lab <<'EOF'
#!/bin/sh
[ "$1" != ticker ] || exec cat >/dev/null
echo "$*" >>calls
while [ $# -gt 0 ]; do
    case $1 in
    --counters) counters=$2 ;;
    --submission) submission=$2 ;;
    esac
    shift
done
[ ! -d "$submission" ] || submission=$submission/02-x/conv.cu
grep -q 'right = 1' "$submission" || { echo '  WRONG (halo)'; exit 1; }
cp "$submission" source
printf 'cycles\t1234567\n' >"$counters"
EOF
    chmod +x build/bin/lab
    cat >docs/numbers/page.sh <<'EOF'
. docs/numbers/lib.sh
simulate mine 02 solutions --case a
printf '| cycles |\n| --- |\n| %s |\n' "$(number mine cycles)" >"$out/cycles.md"
say docs/page.md "took $(thousands "$(number mine cycles)") cycles, $(calc '%.1f' "$(number mine cycles) / 1e6") million"
EOF
    printf '# Page\n\n<!-- begin cycles -->\n<!-- end cycles -->\n\nIt took 1,234,567\n  cycles, 1.2 million.\n' >docs/page.md
}

numbers() {
    sh docs/numbers/numbers.sh build "$@" >log 2>&1
}

# expect NAME YES: one verdict; without YES it failed, and the log shows how.
expect() {
    if [ -n "$2" ]; then
        printf 'ok numbers/driver: %s\n' "$1"
    else
        printf 'not ok numbers/driver: %s\n' "$1"
        sed 's/^/    /' log
        bad=1
    fi
}

# expect_failure NAME WORDS: the check fails with these words.
expect_failure() {
    expect "$1" "$(! numbers check && grep -F -- "$2" log)"
}

bad=0
start_project
expect_failure 'an empty place is an error' 'docs/page.md has other numbers'
expect 'write fills it' "$(numbers write && grep -qx '| 1234567 |' docs/page.md && echo yes)"
expect 'then the check passes' "$(numbers check && echo yes)"
expect 'a run is made once' "$([ "$(wc -l <calls)" = 1 ] && echo yes)"

sed -i 's/| 1234567 |/| 1234576 |/' docs/page.md
expect_failure 'an edited number of a table is found, with its line' 'docs/page.md:7: | 1234576 |'
numbers write
sed -i 's/1.2 million/1.3 million/' docs/page.md
expect_failure 'an edited number of a sentence is found' "docs/page.md does not say 'took 1,234,567 cycles, 1.2 million'"
expect 'write leaves sentences to people' "$(! numbers write && grep '1.3 million' docs/page.md)"
sed -i 's/1.3 million/1.2 million/' docs/page.md

sed -i 's/begin cycles/begin other/; s/end cycles/end other/' docs/page.md
expect_failure 'a place without a table' "docs/page.md has a place for 'other', which docs/numbers/page.sh does not make"
expect 'a table without a place' "$(grep -q "no page has a place for its table 'cycles'" log && echo yes)"
sed -i 's/begin other/begin cycles/; /end other/d' docs/page.md
expect_failure 'a place that does not end' 'a table begins and does not end'

start_project
numbers write
echo 'a newer simulator' >build/lib/launch.a
expect 'another simulator runs again' "$(numbers check && [ "$(wc -l <calls)" = 2 ] && echo yes)"
sed -i 's/right = 1/right = 0/' solutions/02-x/conv.cu
expect_failure 'a wrong answer is no measurement' 'WRONG (halo)'

start_project
numbers write
# shellcheck disable=SC2016 # the script expands it
echo 'say docs/page.md "It took 1,234,567 cycles$(number mine hours)"' >>docs/numbers/page.sh
expect_failure 'a metric that there is not' "runs/mine has no 'hours'"

start_project
numbers write
cat >>docs/numbers/page.sh <<'EOF'
simulate tiled 02 "$(variant tiled solutions/02-x/conv.cu docs/numbers/tiles.patch STEPS=3)"
EOF
diff -u solutions/02-x/conv.cu - >docs/numbers/tiles.patch <<'EOF' || :
int tiles = 32;
int right = 1;
EOF
expect 'a variant is patched and defined' "$(numbers check && [ "$(tr '\n' ';' <source)" = '#define STEPS 3;int tiles = 32;;int right = 1;;' ] && echo yes)"
sed -i 's/tiles = 16/tiles = 64/' solutions/02-x/conv.cu
expect_failure 'a patch that does not fit' 'docs/numbers/tiles.patch'

start_project
sed -i 's/^simulate/simulate_long/' docs/numbers/page.sh
expect_failure 'a long run needs its record' 'there is no docs/data/simulated/page/mine.tsv; make it:  make numbers LAB=page'
expect 'the check takes the record' "$(numbers write && rm calls && numbers check && [ ! -f calls ] && echo yes)"
sed -i 's/1234567/1234568/' docs/data/simulated/page/mine.tsv
export NUMBERS_LONG=1
expect_failure 'a long check finds a record that drifted' 'these differ: ./docs/data/simulated/page/mine.tsv'
unset NUMBERS_LONG

# make validate with programs that print nothing and a comparison that prints a fixed report:
# without machine code a report of exceeded limits is no failure.
start_validation() { # STATUS OPTIONS
    rm -rf "$work/v"
    mkdir -p "$work/v/validate" "$work/v/tests/common/simulator/validation" "$work/v/bin"
    printf '#!/bin/sh\nexec cat >/dev/null\n' >"$work/v/bin/lab" # the ticker
    chmod +x "$work/v/bin/lab"
    for times in common/simulator/validation/data/h200/*-times.tsv; do
        program=$work/v/validate/run-$(basename "$times" -times.tsv)
        # shellcheck disable=SC2016 # the program expands them
        printf '#!/bin/sh\ncat >/dev/null\necho "$1" "${3-}"\n' >"$program"
        chmod +x "$program"
    done
    compare=$work/v/tests/common/simulator/validation/tool_validate
    printf '#!/bin/sh\nprintf "times\\n\\n| launch kind | off |\\n\\nworst\\n"\nexit %s\n' "$1" >"$compare"
    chmod +x "$compare"
    shift
    validated=0
    sh common/simulator/validation/validate.sh "$@" >"$work/v/said" 2>&1 || validated=$?
}
cd "$root"
start_validation 1 --ptx "$work/v"
expect 'a comparison of PTX alone shows the table of kinds' "$(grep -qx '| launch kind | off |' "$work/v/said" &&
    ! grep -q 'times\|worst' "$work/v/said" && [ $validated = 0 ] &&
    grep -qx 'h200 ptx' "$work/v/validate/h200-ptx/textures.tsv" && echo yes)"
start_validation 2 --ptx "$work/v"
expect 'a comparison that fails is no success' "$([ $validated = 2 ] && echo yes)"
start_validation 1 --jobs 2 "$work/v"
expect 'an exceeded limit is a failure' "$([ $validated = 1 ] && grep -qx worst "$work/v/said" && echo yes)"
start_validation 0 "$work/v" h100 common/simulator/validation/data/h100/measured-machine.ini
expect 'a machine file is simulated' "$([ $validated = 0 ] &&
    grep -qx 'measured-machine ' "$work/v/validate/h100-measured-machine/textures.tsv" && echo yes)"
start_validation 0 "$work/v" rtx
expect 'a GPU without records is refused' "$([ $validated = 2 ] &&
    grep -qx "validate: no records of a GPU 'rtx': there are h100 h200" "$work/v/said" && echo yes)"
start_validation 0 "$work/v" h100 "$work/none.ini"
expect 'a missing machine file is refused' "$([ $validated = 2 ] &&
    grep -q 'there is no machine file .*none.ini' "$work/v/said" && echo yes)"

sh docs/numbers/numbers.sh "$build" check && [ "$bad" = 0 ]
