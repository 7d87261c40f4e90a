#!/bin/sh
# numbers.sh BUILD check|write [LAB] - the numbers in the pages.  It runs the pages' scripts (with LAB
# only that one: 02, or a page's name such as cheng) and compares their output with the pages.  `write` puts tables and figures there.  README.md says how.
set -eu
build=${1:?usage: numbers.sh BUILD check|write [LAB]}
mode=${2:?usage: numbers.sh BUILD check|write [LAB]}
only=${3:-}
here=docs/numbers

# script_of NAME: a page's script, which may not exist; those of the labs have a folder.
script_of() {
    case $1 in [0-9][0-9]-*) echo "$here/labs/$1.sh" ;; *) echo "$here/$1.sh" ;; esac
}

# Called below through xargs: one script, into a folder of its own.
if [ "$mode" = script ]; then
    made=$NUMBERS_MADE
    sh "$(script_of "$only")" "$build" "$made/$only" >"$made/$only/log" 2>&1 || : >"$made/$only/failed"
    echo >&9
    exit 0
fi

pages() {
    ls README.md docs/*.md docs/[!dn]*/*.md docs/developer/*.md book/*.md labs/*/README.md 2>/dev/null
}

# The name under which a page's own tables are made: 02-naive for labs/02-naive/README.md, cheng for
# docs/student/cheng.md.
name_of() {
    case $1 in labs/*) _part=${1%/*} ;; *) _part=${1%.md} ;; esac
    printf '%s\n' "${_part##*/}"
}

is_chosen() {
    case $1 in
    "$only" | "$only"-*) ;;
    *) [ -z "$only" ] ;;
    esac
}

# The pages that have a script.
scripts() {
    pages | while read -r page; do
        name=$(name_of "$page")
        [ ! -f "$(script_of "$name")" ] || ! is_chosen "$name" || echo "$name"
    done
}

for tool in jq patch; do
    command -v "$tool" >/dev/null ||
        { echo "numbers: this needs $tool: sudo apt-get install $tool" >&2; exit 2; }
done

wrong=0
complain() {
    printf 'not ok numbers/%s: %s\n' "$1" "$2"
    wrong=$((wrong + 1))
}

# Every place for a table: SCRIPT/TABLE, tab, page.
list_places() {
    pages | tr '\n' '\0' | xargs -0 grep -H '^<!-- begin [^ ]* -->$' |
        sed "s/:<!-- begin /$tab/; s/ -->\$//" | while IFS=$tab read -r page table; do
        case $table in */*) ;; *) table=$(name_of "$page")/$table ;; esac
        printf '%s\t%s\n' "$table" "$page"
    done
}

# The tables `shapes` and `questions` of a handout, which depend on lab.ini only.
make_handout_tables() {
    while IFS=$tab read -r table page; do
        name=${table%/*} table=${table#*/}
        case $table in shapes | questions) ;; *) continue ;; esac
        is_chosen "$name" || continue
        mkdir -p "$made/$name"
        "$build/bin/lab" "$table" --lab "$name" >"$made/$name/$table.md"
    done <"$made/.places"
}

# A page as it should be, on stdout.  A table that was not made now stays as it is.
filled() {
    awk -v name="$(name_of "$1")" -v made="$made" '
        function whole(file,    text, line) {
            text = ""
            while ((getline line < file) > 0) text = text line "\n"
            close(file)
            return text
        }
        open == "" || text == "" || $0 == "<!-- end " open " -->" { print }
        $0 == "<!-- end " open " -->" { open = "" }
        /^<!-- begin [^ ]+ -->$/ {
            open = $3
            text = whole(made "/" (open ~ "/" ? open : name "/" open) ".md")
            if (text != "") printf "\n%s\n", text
        }
        END { exit open != "" }' "$1"
}

# Tables that have a place, against what was made for it.
check_page() {
    name=$(name_of "$1")
    if ! filled "$1" >"$made/.page"; then
        complain "$name" "$1: a table begins and does not end: <!-- end NAME -->"
    elif cmp -s "$made/.page" "$1"; then
        printf 'ok numbers/%s: the tables of %s\n' "$name" "$1"
    elif [ "$mode" = write ]; then
        cat "$made/.page" >"$1"
        printf 'ok numbers/%s: the tables of %s (written)\n' "$name" "$1"
    else
        complain "$name" "$1 has other numbers than the commands make; correct them with  make numbers LAB=${name%%-*}"
        diff --unchanged-line-format= --old-line-format="    $1:%dn: %L" \
            --new-line-format='    made: %L' "$1" "$made/.page" || :
    fi
}

check_pages() {
    while IFS=$tab read -r table page; do
        ! is_chosen "${table%/*}" || echo "$page"
    done <"$made/.places" | sort -u >"$made/.pages"
    while read -r page; do check_page "$page"; done <"$made/.pages"
}

# A place that nothing is made for, and a table that no page has a place for.
check_places() {
    while IFS=$tab read -r table page; do
        is_chosen "${table%/*}" && [ ! -s "$made/$table.md" ] &&
            [ ! -f "$made/${table%/*}/failed" ] &&
            complain "$(name_of "$page")" \
            "$page has a place for '${table#*/}', which $(script_of "${table%/*}") does not make"
    done <"$made/.places"
    for file in "$made"/*/*.md; do
        [ -f "$file" ] || continue
        table=$(basename "$(dirname "$file")")/$(basename "$file" .md)
        grep -q "^$table$tab" "$made/.places" ||
            complain "${table%/*}" \
            "no page has a place for its table '${table#*/}': <!-- begin $table --> and <!-- end $table -->"
    done
}

# The words of a page, wherever its lines break.
check_words() {
    before=$wrong
    while IFS=$tab read -r page words; do
        tr -s ' \n' '  ' <"$page" | tr -s ' ' | grep -qF -- "$words" ||
            complain "$1" "$page does not say '$words', and that is what $(script_of "$1") makes; correct the page's words"
    done <"$made/$1/said"
    [ "$wrong" != "$before" ] || [ ! -s "$made/$1/said" ] ||
        printf 'ok numbers/%s: %d numbers in sentences\n' "$1" "$(wc -l <"$made/$1/said")"
}

# Long simulations are kept (lib.sh); so are figures, which are drawn but not compared.
check_data() {
    if [ "$mode" = write ]; then
        [ ! -d "$made/$1/data" ] || cp -r "$made/$1/data/." .
        for figure in "$made/$1"/*.svg; do [ ! -f "$figure" ] || cp "$figure" docs/figures; done
    elif [ -d "$made/$1/data" ]; then
        (cd "$made/$1/data" && find . -type f) | while read -r file; do
            cmp "$made/$1/data/$file" "$file" || echo "$file" >>"$made/$1/drifted"
        done
        [ ! -f "$made/$1/drifted" ] ||
            complain "$1" "simulated anew, these differ: $(tr '\n' ' ' <"$made/$1/drifted")"
    fi
}

tab=$(printf '\t')
mkdir -p "$build/numbers/cache"
find "$build/numbers/cache" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
made=$(mktemp -d "$build/numbers/made.XXXXXX")
trap 'rm -rf "$made"' EXIT
export NUMBERS_MADE="$made"
list_places >"$made/.places"
make_handout_tables
names=$(scripts)
for name in $names; do mkdir -p "$made/$name"; done
[ "$mode" != write ] || [ -n "${NUMBERS_QUICK:-}" ] || export NUMBERS_LONG=1
. common/setup/ticker.sh
ticker_begin "$build" "scripts of docs/numbers" \
    "$(printf '%s\n' "$names" | wc -w)" "$build/numbers/seconds-$mode${only:+-$only}"
printf '%s\n' "$names" | xargs -r -P 2 -n 1 sh "$0" "$build" script
ticker_end
for name in $names; do
    if [ -f "$made/$name/failed" ]; then
        complain "$name" "$(script_of "$name") failed: $(tail -n 20 "$made/$name/log")"
        rm -f "$made/$name"/*.md
    else
        check_data "$name"
    fi
done
check_places
check_pages
for name in $names; do
    [ -f "$made/$name/failed" ] || check_words "$name"
done
# book/gpu.md repeats what docs/simulator/validation.md and its record say, which are new only now.
if [ "$mode" = write ] && [ -z "$only" ] && [ -f "$here/gpu.sh" ]; then
    sh "$0" "$build" write gpu || wrong=$((wrong + 1))
fi
[ "$wrong" = 0 ]
