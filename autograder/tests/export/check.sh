#!/bin/sh
# check.sh BUILD - checks that each exporter's output matches its documented format and has the
# record's points.  The records are tool_sample's: every status and verdict, and texts with special
# characters.  Each validator must also reject a wrong output.
# shellcheck disable=SC2015,SC2016  # conditions, not choices; names that have a dollar
set -u
. autograder/tests/lib.sh
here=$(dirname "$(realpath "$0")")
root=$(pwd)
missing=
command -v xmllint >/dev/null || missing="$missing libxml2-utils"
python3 -c 'import jsonschema' 2>/dev/null || missing="$missing python3-jsonschema"
perl -MTAP::Parser -e 1 2>/dev/null || missing="$missing perl"
command -v jq >/dev/null || missing="$missing jq"
command -v tidy >/dev/null || missing="$missing tidy"
[ -z "$missing" ] || skip "sudo apt-get install$missing"

cd "$work" || exit 1

# write FORMAT SAMPLE: FORMAT.SAMPLE, from the sample's records.
write()
{
    "$build/bin/export" --format "$1" --results "$2" --out "$1.$2" 2>>said || exit 1
}

"$build/tests/autograder/export/tool_sample" . >said 2>&1 ||
    { echo "not ok export/tool_sample"; exit 1; }
for format in terminal html junit tap gradescope autolab classroom prairielearn submitty; do
    for sample in every hostile no-build; do write $format $sample; done
done
page() # page FORMAT OUT OPTION...: of the class
{
    format=$1 out=$2
    shift 2
    "$build/bin/export" --root "$root" --format "$format" --gradebook gradebook.sqlite \
        --out "$out" "$@" 2>>said || exit 1
}
page canvas canvas.class
page moodle moodle.class
page class page-class.html
page class page-since.html --since before.sqlite

# ---- JSON and CSV, each against its schema, and a wrong one of each ------------------------------
for sample in every hostile no-build; do
    base64 -d classroom.$sample >classroom-json.$sample
    tail -n 1 autolab.$sample >autolab-last.$sample
    tail -n 2 autolab.$sample | head -n 1 >autolab-first.$sample
    for each in gradescope:gradescope autolab:autolab-last autolab-feedback:autolab-first \
        classroom:classroom-json \
        prairielearn:prairielearn submitty:submitty; do
        echo "json $here/${each%:*}.schema.json ${each#*:}.$sample"
    done
done >asked
echo "canvas 5 canvas.class" >>asked
echo "moodle 5 moodle.class" >>asked
python3 "$here/validate.py" <asked >answers 2>&1
paste -d ' ' answers asked | grep -v '^valid ' >said
[ ! -s said ] && [ "$(wc -l <answers)" = 20 ]
tell json-and-csv

# Each is damaged in one place.
jq '.tests[0].score = "5"' gradescope.every >wrong.gradescope
jq '.tests[0].visibility = "always"' gradescope.every >wrong.gradescope-2
jq '.scores["01-graded"] = null' autolab-last.every >wrong.autolab
jq '.["01-graded"]["correct"].passed = 1' autolab-first.every >wrong.autolab-feedback
jq 'del(.max_score)' classroom-json.every >wrong.classroom
jq '.score = 1.5' prairielearn.every >wrong.prairielearn
jq 'del(.format_errors)' prairielearn.no-build >wrong.prairielearn-2
jq '.data.message[0].status = "good"' submitty.hostile >wrong.submitty
sed 's/^Points Possible/Points/' canvas.class >wrong.canvas
sed "s/\"'=/\"=/g" moodle.class >wrong.moodle
for file in wrong.*; do
    name=${file#wrong.}
    name=${name%-2}
    case $name in
    canvas | moodle) echo "$name 5 $file" ;;
    *) echo "json $here/$name.schema.json $file" ;;
    esac
done >asked
python3 "$here/validate.py" <asked >answers 2>&1
paste -d ' ' answers asked | grep '^valid ' >said
[ ! -s said ] && [ "$(wc -l <answers)" = 10 ]
tell wrong-json-and-csv-are-refused

# ---- XML, TAP, HTML ------------------------------------------------------------------------------
xmllint --noout --relaxng "$here/junit.rng" junit.every junit.hostile junit.no-build >said 2>&1
tell junit
sed 's/tests="/tests="x/' junit.every >wrong-junit
sed 's/&gt;/>/; s/&lt;/</' junit.hostile >wrong-junit-2
! xmllint --noout --relaxng "$here/junit.rng" wrong-junit >said 2>&1 &&
    ! xmllint --noout wrong-junit-2 >>said 2>&1
tell wrong-junit-is-refused

(for sample in every hostile no-build; do perl "$here/check_tap.pl" tap.$sample || exit 1; done) >said 2>&1
tell tap
sed 's/^ok 1 /ok 2 /' tap.every >wrong-tap
sed 's/\\#/#/' tap.hostile >wrong-tap-2
sed '$d' tap.every >wrong-tap-3
sed 's/^  message: "/&"/' tap.every >wrong-tap-4
printf 'printed by a kernel\n' | cat tap.every - >wrong-tap-5
(for wrong in wrong-tap*; do ! perl "$here/check_tap.pl" "$wrong" || exit 1; done) >said 2>&1
tell wrong-tap-is-refused

tidy -quiet -errors html.every html.hostile html.no-build page-class.html page-since.html \
    >said 2>&1 && [ ! -s said ] &&
    ! grep -qiE '<script|<img|<link|<iframe|https?:|url\(|@import|<[^>]* on[a-z]+=' html.* \
    page-*.html
tell html
sed 's/&lt;/</g' html.hostile >wrong-html
! tidy -quiet -errors wrong-html >said 2>&1
tell wrong-html-is-refused

# ---- the marks -----------------------------------------------------------------------------------
# The sums, from the records by jq.
points=$(jq -s 'map(.points) | add' every/*.json)
possible=$(jq -s 'map(.possible) | add' every/*.json)
near() # near EXPRESSION FILE NUMBER: six digits are kept
{
    jq -e --argjson n "$3" "($1) - \$n | fabs < 1e-3" "$2" >>said 2>&1 ||
        { echo "$2: $1 is not $3" >>said; return 1; }
}
: >said
near .score gradescope.every "$points" &&
    near '.tests | map(.score) | add' gradescope.every "$points" &&
    near '.tests | map(.max_score) | add' gradescope.every "$possible" &&
    near '.scores | add' autolab-last.every "$points" &&
    near '.scoreboard[0]' autolab-last.every "$points" &&
    near .max_score classroom-json.every "$possible" &&
    near '.tests | map(.score) | add' classroom-json.every "$points" &&
    near ".score * $possible" prairielearn.every "$points" &&
    near '.tests | map(.points) | add' prairielearn.every "$points" &&
    near .data.score submitty.hostile 0 &&
    xmllint --xpath 'sum(//property[@name="points"]/@value)' junit.every >junit-sum &&
    near . junit-sum "$points"
tell marks

# Number of tests by status and verdict, counted by hand from tool_sample.c.  Graded: 10 cases of
# each verdict, 8 timed ones, the hidden set and 2 predictions; the speed of the first timed case is
# none.  Four stopped labs have a case and its speed.
count() # count FILE XPATH NUMBER
{
    found=$(xmllint --xpath "count($2)" "$1")
    [ "$found" = "$3" ] || { echo "$1: $found of $2, not $3" >>said; return 1; }
}
: >said
count junit.every //testcase 36 && count junit.every '//testcase/system-out' 10 &&
    count junit.every '//testcase/failure' 17 &&
    count junit.every '//testcase/skipped' 6 && count junit.every '//testcase/error' 3 &&
    [ "$(xmllint --xpath 'concat(sum(//@tests), " ", sum(//@failures), " ", sum(//@errors), " ", sum(//@skipped))' junit.every)" = '36 17 3 6' ] &&
    [ "$(jq -r .status classroom-json.every)" = error ] &&
    [ "$(jq -r .status classroom-json.no-build)" = fail ] &&
    [ "$(jq -r .status submitty.every)" = failure ] &&
    [ "$(jq -r .gradable prairielearn.every)" = true ] &&
    [ "$(jq -r .gradable prairielearn.no-build)" = false ] &&
    [ "$(grep -c '# SKIP left' tap.every)" = 6 ]
tell outcomes

# Ada's best marks; Bob's 80 of 80, scaled to the 100 of others; no mark if no case counts; no
# formula.
printf '"ada","","","ada",90,50\r\n' >expected
{ grep '^"ada"' moodle.class | cmp - expected && grep -q '^"o'"'"'neil, ""bob""",.*,100,' moodle.class && grep -q '^"Zo.*\$(id)",,.$' moodle.class &&
    grep -q "^\"'=cmd" moodle.class && head -n 1 moodle.class |
    grep -q '^Username,.*,"02-naive","04-tiled"' &&
    grep -q '^Points Possible,,,,,100,100.$' canvas.class; } >said 2>&1
tell class

# The page of the class, as text from a browser if there is one, else from its XML.  Counted by
# hand: three of four had the case of lab 02 correct; the lowest come first, and a deferred student
# has no zero; Ada had 40 and 90 before, Bob did not exist.
text_of()
{
    tidy -quiet -asxml --numeric-entities yes "$1" 2>>said | sed 's/ xmlns="[^"]*"//' >page.xml
    xmllint --xpath "$2" page.xml 2>>said
}
: >said
[ "$(text_of page-class.html 'string(//h1)')" = 'A class of 5, 6 results' ] &&
    [ "$(text_of page-class.html 'normalize-space(//h3[.="02-naive"]/following::tr[2]/td[2])')" = \
    '75 % 3 of 4' ] &&
    [ "$(text_of page-class.html 'string(//td[.="tile-edge"]/following-sibling::td[1]//meter/@value)')" = 0.200 ] &&
    [ "$(text_of page-class.html 'normalize-space(//details[1]/summary)')" = \
    "0 % 0/200 =cmd|' /C calc'!A0 04: no submission" ] &&
    text_of page-class.html 'string(//details[5]/summary)' | grep -q ada &&
    text_of page-class.html 'count(//details)' | grep -qx 5 &&
    [ "$(text_of page-class.html 'normalize-space(//summary[contains(., "id")])')" = \
    '0 % 0/100 Zoë � $(id) 02: no submission' ] &&
    [ "$(text_of page-class.html 'string(//p[.="This is the first run."])')" = \
    'This is the first run.' ] &&
    [ "$(text_of page-since.html 'count(//h2[.="Since the last run"]/following::table[1]//tr)')" = \
    4 ] &&
    [ "$(text_of page-since.html 'normalize-space(//td[.="ada"]/following-sibling::td[.="04-tiled"]/..)')" = 'ada 04-tiled 50 +10' ] &&
    [ "$(text_of page-since.html 'count(//h2[.="Since the last run"]/following::table[1]//td[.="new"])')" = 2 ]
tell page-of-a-class
# A browser shows it, with unchanged names and without running or fetching anything.
if command -v chromium >/dev/null; then
    timeout 3000 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" \
        --dump-dom "file://$work/page-since.html" >dom 2>said &&
        grep -q '<strong>&lt;script&gt;alert(1)&lt;/script&gt;</strong>' dom &&
        [ "$(grep -c '<details>' dom)" = 5 ] && ! grep -q '<script' dom
    tell page-in-a-browser
fi

# No control character except the newline in any output.
: >said
for file in terminal.* html.* junit.* tap.* gradescope.* autolab.* prairielearn.* submitty.* \
    *.class page-since.html; do
    tr -d '\n\r' <"$file" | LC_ALL=C grep -q '[[:cntrl:]]' &&
        echo "$file has control characters" >>said
    iconv -f UTF-8 -t UTF-8 "$file" >/dev/null 2>>said || echo "$file is no UTF-8" >>said
done
[ ! -s said ]
tell plain

# ---- bad input -----------------------------------------------------------------------------------
refused() # refused STATUS TEXT OPTION...: one line with the error, and no output
{
    status=$1 text=$2
    shift 2
    "$build/bin/export" "$@" >out 2>said
    [ $? = "$status" ] && [ "$(wc -l <said)" = 1 ] && grep -q -- "$text" said && [ ! -s out ]
}
mkdir empty && mkdir other && echo '{"schema": "other"}' >other/01-x.json
refused 2 "there is no format 'abacus'; there are: terminal, html" --format abacus &&
    refused 2 'which format?' &&
    refused 1 'holds no result record' --format tap --results empty &&
    refused 1 'No such file' --format tap --results none &&
    refused 1 'other/01-x.json: not a result record' --format tap --results other &&
    refused 1 'no gradebook yet' --format canvas --gradebook none.sqlite &&
    refused 1 'Not a directory' --format tap --results every --out /dev/null/no/dir
tell bad-input
exit $failed
