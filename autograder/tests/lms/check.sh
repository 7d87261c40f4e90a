#!/bin/sh
# check.sh BUILD - the round trip with a learning management system (LMS).
#
# A fake grader grades 64 entries as Canvas and Moodle deliver them.  Every entry is accounted for.
# Independent parsers of the documented formats import the marks.  Feedback archives are opened and
# read.
# shellcheck disable=SC2015  # conditions, not choices
set -u
. autograder/tests/lib.sh
command -v python3 >/dev/null || skip 'no python3: sudo apt-get install python3'
here=$(dirname "$(realpath "$0")")
lab=01-sequential

mkdir -p "$work/nothing" "$work/in"
"$build/bin/grade" --build "$build" --lab 01 --engine sim --submission "$work/nothing" \
    --results "$work/form" >"$work/out" 2>&1
[ -s "$work/form/$lab.json" ] && python3 "$here/make_downloads.py" "$work/in" >"$work/out" 2>&1
tell downloads
cat >"$work/grade" <<END
#!/bin/sh
while [ \$# -gt 1 ]; do
    case \$1 in
    --lab) lab=\$2 ;;
    --submission) folder=\$2 ;;
    --results) results=\$2 ;;
    --seed) seed=\$2 ;;
    esac
    shift 2
done
source=\$(cat "\$folder/$lab/conv.c" 2>/dev/null)
points=\${source##* }
echo "\$folder" >>"$work/graded"
sed -e "s/^  \"points\": .*/  \"points\": \${points:-0}.0,/" \\
    -e "s/^  \"seed\": .*/  \"seed\": \"\$seed\",/" \\
    -e "\${points:+s/^  \"status\": .*/  \"status\": \"graded\",/}" \\
    "$work/form/$lab.json" >"\$results/part" && mv "\$results/part" "\$results/\$lab.json"
END
chmod +x "$work/grade"

# class PLATFORM OPTION...: grades its download, with its roster, into $work/PLATFORM.
class()
{
    platform=$1
    shift
    TZ=UTC "$build/bin/class" --build "$build" --submissions "$work/in/$platform" --lab 01 \
        --roster "$work/in/$platform.csv" --engine sim --seed 7 --results "$work/$platform" \
        --grade "$work/grade" "$@" >"$work/out" 2>&1
}
export_class()
{
    "$build/bin/export" --gradebook "$work/$from/gradebook.sqlite" "$@" >>"$work/out" 2>&1
}

class canvas && python3 "$here/account.py" canvas "$work/in" "$work/canvas" >>"$work/out" 2>&1
tell "every entry of Canvas's download is accounted for"
class moodle --deadline 2026-10-01T12:00 --grace 15m --penalty 10 &&
    python3 "$here/account.py" moodle "$work/in" "$work/moodle" >>"$work/out" 2>&1
tell "every entry of Moodle's download is accounted for"

# ---- marks
for each in canvas:canvas moodle:moodle moodle:moodle-worksheet canvas:blackboard \
    canvas:brightspace canvas:openedx; do
    from=${each%:*} format=${each#*:} items='01=Lab 1 (5501)'
    [ "$format" != openedx ] || items='1=no; 01=1a2b3c4d'
    : >"$work/out"
    [ "$from" != moodle ] || items=
    export_class --format "$format" --items "$items" --course course-v1:Uni+CUDA+2026 \
        --out "$work/$format.csv" &&
        python3 "$here/import_marks.py" "$format" "$work/$format.csv" "$work/in" >>"$work/out" 2>&1
    tell "$format imports the marks"
done
# The same parsers reject a file with one change.
rejected()
{
    sed "$2" "$work/$1.csv" >"$work/wrong.csv"
    ! cmp -s "$work/$1.csv" "$work/wrong.csv" &&
    ! python3 "$here/import_marks.py" "$1" "$work/wrong.csv" "$work/in" >"$work/out" 2>&1
}
rejected canvas 's/SIS User ID,//' && rejected canvas 's/,"1011",/,"9999",/; s/"copy1"/"x"/' &&
    rejected moodle 's/lia@uni/lea@uni/' &&
    rejected moodle-worksheet 's/Last modified (grade)/Modified/' &&
    rejected moodle-worksheet 's/,64,100,/,80,100,/' &&
    rejected blackboard 's/"66"/66/' && rejected brightspace 's/End-of-Line Indicator/End/' &&
    rejected openedx 's/"course-v1:[^"]*"/"other"/'
tell "wrong files are not imported"
from=canvas
export_class --format openedx; grep -q 'which course' "$work/out" && : >"$work/out" &&
    ! export_class --format openedx --course x &&
    grep -q 'which subsection is 01-sequential' "$work/out"
tell "Open edX needs a course and its subsections"

# ---- both marks, groups, extensions
from=moodle
export_class --format table --out "$work/table.csv"
grep -q '^"lia@.*,64,80,graded,2026-10-03T11:30:00Z,47.5,1' "$work/table.csv" &&
    grep -q '^"lou@.*,80,80,graded,2026-10-03T11:30:00Z,,1' "$work/table.csv" &&
    grep -q '^"grace@.*,80,80,graded' "$work/table.csv" &&
    [ "$(grep -c '^"pair[12]@.*,77,77,graded' "$work/table.csv")" = 2 ] &&
    grep -q '^"nobody@.*,,,no submission,,,0' "$work/table.csv" &&
    grep -q '80.*, 64 count' "$work/moodle/class.html"
tell "a late mark costs 10 % a day, an extension and grace cost nothing, a group has one mark"
class moodle --deadline 2026-10-01T12:00 --counts in-time &&
    export_class --format table --out "$work/table.csv" &&
    grep -q '^"lia@.*,80,80,graded' "$work/table.csv"
tell "a policy may change without a new grade"

# ---- mean over all, with missing as zero: 25 people, counted by hand from make_downloads.py
class moodle --deadline 2026-10-01T12:00 --grace 15m --penalty 10
mean=$(awk -F '\t' '$1 == "moodle" && $3 ~ /^[0-9]+$/ && $2 !~ /predict/ { sum += $3 }
    END { printf "%.1f", (sum + 77 - 16) / 25 }' "$work/in/expected.tsv")
people=$(($(wc -l <"$work/in/moodle.csv") - 1))
[ "$people" = 25 ] || mean="25 people, not $people"
grep -qE "^$lab +[0-9]+ +$mean " "$work/moodle/summary.txt" &&
    grep -q "refused: 2, no submission: 1" "$work/moodle/summary.txt" ||
    { echo "wanted a mean of $mean"; cat "$work/moodle/summary.txt"; false; } >>"$work/out"
tell "the mean counts what is missing as 0"

# ---- feedback
for from in canvas moodle; do
    : >"$work/out"
    export_class --format $from-feedback --lab 01 --out "$work/$from.zip" &&
        python3 "$here/read_feedback.py" $from "$work/$from.zip" "$work/in" >>"$work/out" 2>&1
    tell "$from assigns each page of the feedback archive"
done
: >"$work/graded"
export_class --format feedback --out "$work/pages" && [ "$(find "$work/pages" -mindepth 1 -maxdepth 1 | wc -l)" = 25 ] &&
    [ ! -s "$work/graded" ] &&
    grep -q 'No submission' "$work/pages/nobody@uni.example.html" &&
    grep -q 'In the class: you have 64 %' "$work/pages/lia@uni.example.html" &&
    grep -q 'convlab-result-1' "$work/pages/lia@uni.example.html" &&
    ! grep -qE 'José|flat0@' "$work/pages/lia@uni.example.html"
tell "each student has a page without others' names"
seed=$("$build/bin/class" --dump --results "$work/moodle" | awk -F '\t' '$1 ~ /Lia/ { print $9 }')
[ "${#seed}" -gt 9 ] && ! grep -rq "$seed" "$work/pages"
tell "no page has the seed of the hidden shapes"
for format in junit gradescope; do
    export_class --format "$format" --out "$work/$format" || break
done
[ "$(find "$work/junit" -mindepth 1 -maxdepth 1 | wc -l)" = 24 ] &&
    grep -q '<testsuite name="01-sequential"' "$work/junit/lia@uni.example.xml" &&
    grep -q '^  "score": 80.0,' "$work/gradescope/lia@uni.example.json" && [ ! -s "$work/graded" ]
tell "JUnit and Gradescope files per student need no grades"
export_class --format class --anonymous --out "$work/anonymous.html" &&
    ! grep -qE 'José|Flat|@uni|assignsubmission' "$work/anonymous.html" &&
    grep -q '<strong>student 7</strong>' "$work/anonymous.html"
tell "the anonymous page has no names"

# ---- changed labs
mkdir -p "$work/root/labs" "$work/root/solutions"
cp -r labs/$lab "$work/root/labs/" && cp -r solutions/$lab "$work/root/solutions/" &&
    cp -r autograder common "$work/root/" 2>/dev/null
regrade()
{
    : >"$work/graded"
    class canvas --results "$work/changing" --root "$work/root" "$@"
}
regrade && [ "$(wc -l <"$work/graded")" = 22 ] && regrade && [ ! -s "$work/graded" ] &&
    sed -i 's/^slack *=.*/slack = 1.3/; $a; changed' "$work/root/labs/$lab/lab.ini" && regrade &&
    [ ! -s "$work/graded" ] &&
    tr -s '\n ' ' ' <"$work/out" | grep -q '22 results are stale, because the lab has changed' &&
    regrade --regrade stale && [ "$(wc -l <"$work/graded")" = 22 ] &&
    regrade && ! grep -q stale "$work/out" && echo '# changed' >>"$work/grade" && regrade &&
    [ ! -s "$work/graded" ] &&
    tr -s '\n ' ' ' <"$work/out" | grep -q 'because the grader has changed'
tell "changed thresholds make results stale, and only REGRADE=stale grades them again"

# ---- open questions, marked by a person in columns of the roster
printf '[01 border]\nquestion = Which taps lie outside of x?\npoints = 5\n%s' \
    '[01 order]
question = Which loop order is fastest, and why?
points = 2.5
' >"$work/rubric.ini"
python3 - "$work/in/moodle.csv" "$work/marked.csv" <<'END' >>"$work/out" 2>&1
import csv, sys
with open(sys.argv[1], encoding="utf-8-sig", newline="") as file:
    rows = list(csv.reader(file))
MARKS = {"lia@uni.example": ["3.5", "<b>one</b> side only", "0", "1"], "grace@uni.example": ["5", "", "", ""]}
rows[0] += ["01 Border", "01 border comment", "01 order", "00 start"]
for row in rows[1:]:
    email = next(cell for cell in row if "@" in cell)
    row += MARKS.get(email, ["", "", "", ""])
with open(sys.argv[2], "w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows(rows)
END
from=moodle
marked()
{
    class moodle --roster "$work/marked.csv" --rubric "$work/${2:-rubric.ini}" \
        --deadline 2026-10-01T12:00 --grace 15m --penalty 10 --date "$1"
}
marked 2026-10-05 && export_class --format moodle --items '01=Lab 1; 01 questions=Open (7)' \
    --out "$work/marks.csv" &&
    grep -q '^Username,.*"Lab 1","Open (7)"' "$work/marks.csv" &&
    grep -q '"lia@uni.example".*,64,3.5' "$work/marks.csv" &&
    grep -q '"grace@uni.example".*,80,5' "$work/marks.csv" &&
    grep -q '"nobody@uni.example".*,,' "$work/marks.csv"
tell "marks of open questions are a column of their own"
export_class --format canvas --lab '01 questions' --out "$work/marks.csv" &&
    sed -n 2p "$work/marks.csv" | grep -q '^Points Possible,,,,,7.5' &&
    export_class --format feedback --out "$work/marked-pages" &&
    [ "$(find "$work/marked-pages" -mindepth 1 | wc -l)" = "$(find "$work/pages" -mindepth 1 | wc -l)" ] &&
    grep -q '&lt;b&gt;one&lt;/b&gt; side only' "$work/marked-pages/lia@uni.example.html" &&
    grep -q 'Which loop order is fastest' "$work/marked-pages/lia@uni.example.html" &&
    ! grep -q 'Which loop order' "$work/marked-pages/grace@uni.example.html"
tell "the student's page has the questions that are marked"
lia=$("$build/bin/class" --dump --results "$work/moodle" | awk -F '\t' '$1 ~ /Lia/ { print $1 }')
"$build/bin/class" --results "$work/moodle" --explain "$lia" >"$work/out" 2>&1 &&
    grep -q '3.5    5.0  01 border: Which taps lie outside of x?; <b>one' "$work/out"
tell "EXPLAIN shows the marks of open questions"
{ printf '[00 start]\nquestion = What is a warp?\npoints = 1\n' && cat "$work/rubric.ini"; } >"$work/two.ini"
marked 2026-10-05 two.ini && export_class --format feedback --lab 01 --out "$work/one-lab" &&
    grep -q 'Which loop order is fastest' "$work/one-lab/lia@uni.example.html" &&
    ! grep -q 'What is a warp' "$work/one-lab/lia@uni.example.html" &&
    export_class --format feedback --out "$work/both-labs" && grep -q 'What is a warp' "$work/both-labs/lia@uni.example.html" &&
    export_class --format class --lab 01 --out "$work/class.html" && grep -q '01 order' "$work/class.html" &&
    ! grep -q '00 start' "$work/class.html" &&
    export_class --format class --out "$work/class.html" && grep -q '00 start' "$work/class.html"
tell "LAB=01 selects the marks of that lab's open questions"
sed 's/,3.5,/,5.5,/' "$work/marked.csv" >"$work/wrong.csv"
! class moodle --roster "$work/wrong.csv" --rubric "$work/rubric.ini" &&
    tr -s '\n ' ' ' <"$work/out" | grep -q "wrong.csv:[0-9]*:[0-9]*: '5.5' is no mark of .01 border." &&
    sed 's/01 order/99 order/' "$work/rubric.ini" >"$work/wrong.ini" &&
    sed 's/01 order/99 order/' "$work/marked.csv" >"$work/wrong.csv" &&
    ! class moodle --roster "$work/wrong.csv" --rubric "$work/wrong.ini" &&
    tr -s '\n ' ' ' <"$work/out" | grep -q 'wrong.ini:4: .99 order.: there is no lab' &&
    ! "$build/bin/class" --submissions "$work/in/moodle" --lab 01 --rubric "$work/rubric.ini" \
        --results "$work/unlisted" >"$work/out" 2>&1 &&
    tr -s '\n ' ' ' <"$work/out" | grep -q 'give ROSTER=people.csv, too'
tell "a wrong rubric or mark is one line"

# ---- progress by week
grep -q '^2026-10-05' "$work/moodle/progress.tsv" && ! grep -q 'Progress by week' "$work/moodle/class.html"
marked 2026-10-13 &&
    [ "$(grep -c "^2026-10-05.$lab\|^2026-10-13.$lab" "$work/moodle/progress.tsv")" = 2 ] &&
    grep -q 'Progress by week' "$work/moodle/class.html" &&
    grep -q '2026-10-12' "$work/moodle/class.html" &&
    awk -F '\t' -v mean="$mean" '$1 == "2026-10-13" { ok = $5 == mean } END { exit !ok }' \
        "$work/moodle/progress.tsv" &&
    ! marked soon && grep -q 'DATE=soon' "$work/out"
tell "the page shows the progress by week"

# ---- malformed rosters: one line with file, line, column and remedy
roster_fails()
{
    printf '%b' "$2" >"$work/bad.csv"
    class canvas --roster "$work/bad.csv"
    [ $? = 2 ] && [ "$(wc -l <"$work/out")" -le 3 ] && tr -s '\n ' ' ' <"$work/out" | grep -q "$1"
}
roster_fails 'bad.csv:3:2: the quote is not closed' 'ID,Name\n1,a\n2,"b\n' &&
    roster_fails 'bad.csv:1:1: no heading names a person' 'a,b\n1,2\n' &&
    roster_fails "bad.csv:4:1: 'x' is also on line 2" 'login\nx\ny\nx\n' &&
    roster_fails "bad.csv:2:2: 'soon' is no extension" 'login,extension\nx,soon\n' &&
    roster_fails "bad.csv:3:2: '1/2/26' is no time" 'login,submitted\nx,-\ny,1/2/26\n' &&
    roster_fails 'bad.csv:1:1: the roster has no row' 'login\n' &&
    roster_fails 'bad.csv:2:1: the text is not UTF-8' 'login\n\0377\0376\n' &&
    roster_fails 'bad.csv:2:2: the row has 4 cells' 'login\nx,1,2,3\n' &&
    roster_fails 'bad.csv:2:1: the row names nobody' 'login,section\n,7\n' &&
    ! class canvas --penalty 101 &&
    grep -q 'PENALTY=101' "$work/out"
tell "a malformed roster is one line"
# ---- names and files that students choose: another student's name, an early time, a result
mkdir -p "$work/in/chosen/bob_2026-09-01T12:00/$lab" "$work/in/chosen/bob_2026-09-01T12:00/build/results"
echo 'gets 90' >"$work/in/chosen/Mal Lory_4713_assignsubmission_file_Ada Byron_4711_assignsubmission_file_conv.c"
echo 'gets 40' >"$work/in/chosen/bob_2026-09-01T12:00/$lab/conv.c"
sed 's/"points": 40.0/"points": 100.0/' "$work/form/$lab.json" >"$work/in/chosen/bob_2026-09-01T12:00/build/results/$lab.json"
cp "$work/in/chosen/bob_2026-09-01T12:00/build/results/$lab.json" "$work/in/chosen/bob_2026-09-01T12:00/$lab/"
printf 'login,name,participant,submitted\nada,Ada Byron,4711,-\nbob,Bob Stone,4712,2026-10-03T12:00:00Z\nmal,Mal Lory,4713,-\n' >"$work/in/chosen.csv"
class chosen --deadline 2026-10-01T12:00 --penalty 10 &&
    from=chosen export_class --format table --out "$work/table.csv" &&
    grep -q '^"ada",.*,,,no submission' "$work/table.csv" && ! grep -q '90,90' "$work/table.csv"
tell "a file's name does not make it another student's"
grep -q '^"bob",.*,32,40,graded,2026-10-03T12:00:00Z' "$work/table.csv"
tell "the platform's time counts, and no result in a submission"
exit "$failed"
