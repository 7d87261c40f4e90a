#!/bin/sh
# check.sh BUILD - do the sources keep to the rooms of the Makefile (its table of USES), and does
# docs/architecture.md show
# them?  Every header that is included and every name that an archive leaves to others must be of a
#        room that may be used.
set -eu
build=${1:?usage: check.sh BUILD}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
make -s rooms >"$scratch/uses"

# tell WHAT FILE - one result; FILE holds what is wrong, a line each.
tell() {
    if [ -s "$2" ]; then
        cat "$2"
        echo "not ok $1"
    else
        echo "ok $1"
    fi
}

# common/setup holds a new lab's templates, which are of the rooms that they go to.  A file may
# include headers of its own folder, of what its folder may use and of what it alone may use.
find autograder common datasets \( -name '*.[ch]' -o -name '*.inc' \) ! -path 'common/setup/*' \
    -exec grep -Ho '^ *# *include "[^"]*/' {} + | awk -v table="$scratch/uses" '
    BEGIN { while ((getline line < table) > 0) { n = split(line, word, " "); for (i = 2; i <= n; i++) may[word[1], word[i]] = 1 } }
    { file = $0; sub(/:.*/, "", file); room = file; sub("/[^/]*$", "", room); used = $0; sub(/.*"/, "", used); sub("/$", "", used)
      if (room == "common/apps/compare" || used == "convlab" || used == room || may[room, used] || may[file, used]) next
      print file " includes a header of " used }' >"$scratch/includes"
tell "every header that is included is of a room that may be used" "$scratch/includes"

# "room T name" of what each room's archive defines, "room U name" of what it leaves to others.
while read -r room _; do
    archive=$build/lib/${room##*/}.a
    case $room in autograder | common/simulator/tests | *.c) continue ;; esac
    if [ -f "$archive" ]; then
        nm -g "$archive" | awk -v room="$room" 'NF >= 2 { print room, $(NF - 1), $NF }'
    else
        echo "$room has no archive: make tools tests" >>"$scratch/names"
    fi
done <"$scratch/uses" >"$scratch/symbols"
awk -v table="$scratch/uses" '
    BEGIN { while ((getline line < table) > 0) { n = split(line, word, " "); for (i = 2; i <= n; i++) may[word[1], word[i]] = 1 } }
    $2 != "U" { owner[$3] = $1; next }
    { left[$1 " " $3] = 1 }
    END { for (name in left) { split(name, part, " "); at = owner[part[2]]
              if (at && at != part[1] && !may[part[1], at]) print part[1] " calls " part[2] " of " at } }' \
    "$scratch/symbols" >>"$scratch/names"
tell "every name that an archive needs is of a room that may be used" "$scratch/names"

awk '{ for (i = 2; i <= NF; i++) print $1, $i }' "$scratch/uses" |
    tsort 2>"$scratch/circles" >/dev/null || true
tell "no room uses itself through others" "$scratch/circles"

find autograder common datasets -name '*.[ch]' ! -path 'common/include/*' \
    ! -path 'common/apps/compare/*' ! -path 'common/setup/*' ! -path 'autograder/tests/*' |
    sed 's|/[^/]*$||' | sort | uniq -c >"$scratch/folders"
awk -v table="$scratch/uses" 'BEGIN { while ((getline < table) > 0) room[$1] = 1 }
    !room[$2] { print $2 " is no room of the Makefile" } $1 > 40 { print $2 " has " $1 " sources; 40 are enough" }' "$scratch/folders" >"$scratch/strays"
tell "every folder of sources is a room of at most 40" "$scratch/strays"

# | `room` | `first header` | ...: in the table, and the header says what the room is.  autograder
# itself has only programs.
while read -r room _; do
    case $room in autograder | common/simulator/tests | *.c) continue ;; esac
    header=$(sed -n "s#^| \`$room\` | \`\([a-z_]*\.h\)\` .*#\1#p" docs/architecture.md)
    [ -n "$header" ] || { echo "docs/architecture.md has no row with a first header for $room"; continue; }
    [ -f "$room/$header" ] || { echo "$room has no $header, which docs/architecture.md names"; continue; }
    for label in Room Callers 'May use'; do
        grep -q "^ \* $label: " "$room/$header" || echo "$room/$header does not say '$label: ...'"
    done
done <"$scratch/uses" >"$scratch/headers"
tell "docs/architecture.md names every room's first header, and that says what the room is" \
    "$scratch/headers"

# The walks of docs/architecture.md name files below autograder/ or common/.
sed -n '/^## Two walks/,/^## Decisions/p' docs/architecture.md |
    grep -oE '[a-z]+/[a-z_/]*\.[ch]\b' | sort -u >"$scratch/walked"
[ -s "$scratch/walked" ] || echo 'docs/architecture.md names no file in its walks' >"$scratch/lost"
while read -r file; do
    [ -e "autograder/$file" ] || [ -e "common/$file" ] || [ -e "$file" ] ||
        echo "docs/architecture.md walks to $file, which is not there"
done <"$scratch/walked" >>"$scratch/lost"
tell "the walks of docs/architecture.md lead to files that are there" "$scratch/lost"
