#!/bin/sh
# check.sh BUILD - compliance of the sources with the modules of mk/modules.mk (the table of USES_),
# and of docs/architecture.md with that table.  Every included header and every undefined name of an
# archive must belong to a module that may be used.
set -eu
build=${1:?usage: check.sh BUILD}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
make -s modules >"$scratch/uses"

# `tell WHAT FILE` prints one result; FILE lists the errors, one per line.
tell() {
    if [ -s "$2" ]; then
        cat "$2"
        echo "not ok $1"
    else
        echo "ok $1"
    fi
}

# common/setup contains a new lab's templates, which belong to the modules into which they are copied.
# A file may include headers of its own folder, of the modules that its folder may use, and of the
# modules that this file alone may use.
find autograder common datasets \( -name '*.[ch]' -o -name '*.inc' \) ! -path 'common/setup/*' \
    -exec grep -Ho '^ *# *include "[^"]*/' {} + | awk -v table="$scratch/uses" '
    BEGIN { while ((getline line < table) > 0) { n = split(line, word, " "); for (i = 2; i <= n; i++) may[word[1], word[i]] = 1 } }
    { file = $0; sub(/:.*/, "", file); module = file; sub("/[^/]*$", "", module); used = $0; sub(/.*"/, "", used); sub("/$", "", used)
      if (module == "common/apps/compare" || used == "convlab" || used == module || may[module, used] || may[file, used]) next
      print file " includes a header of " used }' >"$scratch/includes"
tell "every included header belongs to a module that may be used" "$scratch/includes"

# "MODULE T NAME" for each name that a module's archive defines, "MODULE U NAME" for each name that it
# uses from elsewhere.
while read -r module _; do
    archive=$build/lib/${module##*/}.a
    case $module in autograder | common/simulator/tests | *.c) continue ;; esac
    if [ -f "$archive" ]; then
        nm -g "$archive" | awk -v module="$module" 'NF >= 2 { print module, $(NF - 1), $NF }'
    else
        echo "$module has no archive: make tools tests" >>"$scratch/names"
    fi
done <"$scratch/uses" >"$scratch/symbols"
awk -v table="$scratch/uses" '
    BEGIN { while ((getline line < table) > 0) { n = split(line, word, " "); for (i = 2; i <= n; i++) may[word[1], word[i]] = 1 } }
    $2 != "U" { owners[$3] = owners[$3] " " $1; next } # modules that are not linked together may share a name
    { left[$1 " " $3] = 1 }
    END { for (name in left) { split(name, part, " "); count = split(owners[part[2]], owner, " "); wrong = ""
              for (i = 1; i <= count; i++) {
                  if (owner[i] == part[1] || may[part[1], owner[i]]) { wrong = ""; break }
                  wrong = owner[i]
              }
              if (wrong) print part[1] " calls " part[2] " of " wrong } }' \
    "$scratch/symbols" >>"$scratch/names"
tell "every undefined name of an archive belongs to a module that may be used" "$scratch/names"

awk '{ for (i = 2; i <= NF; i++) print $1, $i }' "$scratch/uses" |
    tsort 2>"$scratch/circles" >/dev/null || true
tell "no module uses itself through others" "$scratch/circles"

# The sizes, with the reasons for larger ones in exceptions.tsv.
for rule in "cycles $build" folders files structs; do
    # shellcheck disable=SC2086
    python3 autograder/tests/modules/limits.py $rule >"$scratch/larger" 2>&1 || [ -s "$scratch/larger" ] ||
        echo "limits.py $rule failed" >"$scratch/larger"
    tell "limits: ${rule%% *}" "$scratch/larger"
done
printf 'kind\tname\tnumber\treason\n' >"$scratch/none.tsv"
for rule in "cycles $build" files structs; do
    # shellcheck disable=SC2086
    if python3 autograder/tests/modules/limits.py $rule "$scratch/none.tsv" >"$scratch/found"; then
        echo "without exceptions nothing is too large" >"$scratch/blind"
    else
        awk -F'\t' -v rule="${rule%% *}" '$1 == rule && $2 !~ /\*/ { print $2 ": " }' autograder/tests/modules/exceptions.tsv |
            while read -r row; do grep -qF "$row" "$scratch/found" || echo "not found: $row"; done >"$scratch/blind"
    fi
    tell "limits finds each exception of ${rule%% *}" "$scratch/blind"
done

# No folder is an exception, so this needs one with 41 sources.
root=$PWD
mkdir -p "$scratch/tree/common/full"
for n in $(seq 41); do echo >"$scratch/tree/common/full/$n.c"; done
git -C "$scratch/tree" init -q
(cd "$scratch/tree" && python3 "$root/autograder/tests/modules/limits.py" folders "$scratch/none.tsv") >"$scratch/found" || :
echo 'common/full: 41 sources; 40 are allowed' | diff - "$scratch/found" >"$scratch/blind" || :
tell "limits finds a folder that is too large" "$scratch/blind"

find autograder common datasets -name '*.[ch]' ! -path 'common/include/*' \
    ! -path 'common/apps/compare/*' ! -path 'common/setup/*' ! -path 'autograder/tests/*' |
    sed 's|/[^/]*$||' | sort | uniq -c >"$scratch/folders"
awk -v table="$scratch/uses" 'BEGIN { while ((getline < table) > 0) module[$1] = 1 }
    !module[$2] { print $2 " is no module of mk/modules.mk" }' "$scratch/folders" >"$scratch/strays"
tell "every folder of sources is a module" "$scratch/strays"

# | `module` | `first header` | ...: in the table, and the header describes the module.  autograder itself
# has only programs.
while read -r module _; do
    case $module in autograder | common/simulator/tests | *.c) continue ;; esac
    header=$(sed -n "s#^| \`$module\` | \`\([a-z_]*\.h\)\` .*#\1#p" docs/architecture.md)
    [ -n "$header" ] || { echo "docs/architecture.md has no row with a first header for $module"; continue; }
    [ -f "$module/$header" ] || { echo "$module has no $header, which docs/architecture.md names"; continue; }
    for label in Module Callers 'May use'; do
        grep -q "^ \* $label: " "$module/$header" || echo "$module/$header does not say '$label: ...'"
    done
done <"$scratch/uses" >"$scratch/headers"
tell "docs/architecture.md names every module's first header, and that describes the module" \
    "$scratch/headers"

# The walk-throughs of docs/architecture.md name files below autograder/ or common/.
sed -n '/^## Two walk-throughs/,/^## Where is/p' docs/architecture.md |
    grep -oE '[a-z]+/[a-z_/]*\.[ch]\b' | sort -u >"$scratch/walked"
[ -s "$scratch/walked" ] || echo 'docs/architecture.md names no file in its walk-throughs' >"$scratch/lost"
while read -r file; do
    [ -e "autograder/$file" ] || [ -e "common/$file" ] || [ -e "$file" ] ||
        echo "docs/architecture.md names $file, which does not exist"
done <"$scratch/walked" >>"$scratch/lost"
tell "the walk-throughs of docs/architecture.md name existing files" "$scratch/lost"

# The table of costs: existing files, keys of machines, and each key where the row says.
python3 autograder/tests/modules/costs.py >"$scratch/costs" 2>&1 || [ -s "$scratch/costs" ] ||
    echo "costs.py failed" >"$scratch/costs"
tell "the table of costs in docs/architecture.md names files that use its keys" "$scratch/costs"
# shellcheck disable=SC2016 # the backticks are Markdown
sed -e 's|timing/timer\.h|timing/timers.h|' -e 's|`fence_cycles`|`fence_cost`|' \
    -e 's|`alu_latency`|`barrier_cycles`|' docs/architecture.md >"$scratch/page.md"
python3 autograder/tests/modules/costs.py "$scratch/page.md" >"$scratch/found" || true
for fault in 'no common/simulator/timing/timers.h' 'no machine has the key fence_cost' \
    'none of its files uses barrier_cycles'; do
    grep -qF "$fault" "$scratch/found" || echo "not found: $fault"
done >"$scratch/blind"
tell "the test of the table of costs finds a wrong file, a wrong key and a wrong row" "$scratch/blind"

# A target with two recipes: make uses the last one and warns.
make -n help 2>&1 | grep -E 'overriding|ignoring old' >"$scratch/twice" || true
tell "no target is defined twice" "$scratch/twice"
