#!/bin/sh
# check.sh BUILD - tests a class from folders and archives to the gradebook: names that are
# commands, broken archives, runs killed at random times, graders that die, a full disk.
#
# Most of it uses a fake grader, which takes milliseconds: the source determines its points, and
# whether it dies.  At the end three students are really graded.  The times of killing depend on
# SEED.
# shellcheck disable=SC2015,SC2317  # conditions, not choices; functions that lib.sh calls
set -u
. autograder/tests/lib.sh
SEED=${SEED:-20261001}
lab=01-sequential

# class RESULTS [OPTION ...]: grades $work/all with the fake grader.
class()
{
    results=$1
    shift
    timeout 3000 "$build/bin/class" --build "$build" --submissions "$work/all" --lab 01 --engine sim --seed 7 --results "$work/$results" \
        --grade "$work/grade" "$@" >"$work/out" 2>&1
}

# marks RESULTS: "student status points" of each row, after a |.
marks()
{
    "$build/bin/class" --build "$build" --results "$work/$1" --dump | awk -F '\t' 'NR > 1 { print "|" $1 "|" $6 "|" $7 "|" $5 "|" $3 }'
}

# hand_in FOLDER TEXT: creates a folder below $work/all with a source that contains TEXT.
hand_in()
{
    mkdir -p "$work/all/$1/$lab"
    echo "$2" >"$work/all/$1/$lab/conv.c"
}

# The record of an empty submission is the fake grader's template.
mkdir -p "$work/nothing"
"$build/bin/grade" --build "$build" --lab 01 --engine sim --submission "$work/nothing" --results "$work/form" >"$work/out" 2>&1
[ -s "$work/form/$lab.json" ]
tell stand-in
cat >"$work/grade" <<END
#!/bin/sh
while [ \$# -gt 1 ]; do
    case \$1 in --lab) lab=\$2 ;; --submission) folder=\$2 ;; --results) results=\$2 ;; --seed) seed=\$2 ;; esac
    shift 2
done
source=\$(cat "\$folder/$lab/conv.c" 2>/dev/null)
points=\${source##* }
case \$source in
'dies always'*) echo 'what was said last'; kill -9 \$\$ ;;
'dies once'*) [ -e "$work/died" ] || { : >"$work/died"; kill -9 \$\$; } ;;
'waits'*) echo \$\$ >"$work/waits"; exec sleep 3000 ;;
'') points= ;;
esac
sleep 0.0\$((points % 4))
sed -e "s/^  \"points\": .*/  \"points\": \${points:-0}.0,/; s/^  \"seed\": .*/  \"seed\": \"\$seed\",/" \\
    -e "s/^  \"seconds\": .*/  \"seconds\": 1.\$\$,/; s|^  \"source\": .*|  \"source\": \"\$folder/$lab/conv.c\",|" \\
    -e "\${points:+s/^  \"status\": .*/  \"status\": \"graded\",/}" \\
    "$work/form/$lab.json" >"\$results/part" && mv "\$results/part" "\$results/\$lab.json" && echo "\$folder" >>"$work/graded"
END
chmod +x "$work/grade"

# ---- names and kinds of submissions
hand_in ada 'gets 70'
hand_in "x';touch ran;'" 'gets 61'
# shellcheck disable=SC2016  # a name that is a command
hand_in '$(touch ran) `touch ran`' 'gets 62'
hand_in "$(printf 'two\nlines\033[31m')" 'gets 63'
hand_in 'Zoë "Q" Ünal' 'gets 64'
hand_in '-rf' 'gets 65'
echo 'PK, and nothing more' >"$work/all/broken.zip"
ln -s "$work/all/ada" "$work/all/linked"
mkdir -p "$work/all/inside/$lab" "$work/all/nothing"
ln -s ../../ada/$lab/conv.c "$work/all/inside/$lab/conv.c"
mkdir -p "$work/packed/deep/labs/$lab"
echo 'gets 80' >"$work/packed/deep/labs/$lab/conv.c"
tar -C "$work/packed" -czf "$work/all/grace.tar.gz" deep
tar -C "$work/packed" -cf "$work/all/linus_123_assignsubmission_file_work.tar" deep
tar -C "$work/packed/deep/labs/$lab" -cJf "$work/all/loose.tar.xz" ./conv.c
cd "$work" || exit 1
root=$OLDPWD
cd "$root" && class first
tell "a class is graded"
cat >"$work/expected" <<'END'
|$(touch ran) `touch ran`|graded|62||$(touch ran) `touch ran`
|-rf|graded|65||-rf
|Zoë "Q" Ünal|graded|64||Zoë "Q" Ünal
|ada|graded|70||ada
|broken|missing|0||broken.zip
|grace|graded|80||grace.tar.gz
|inside|missing|0||inside
|linked|missing|0||linked
|linus_123|graded|80||linus_123_assignsubmission_file_work.tar
|loose|graded|80||loose.tar.xz
|nothing|missing|0||nothing
|two?lines?[31m|graded|63||two?lines?[31m
|x';touch ran;'|graded|61||x';touch ran;'
END
marks first >"$work/marks" && cp "$work/marks" "$work/out" && diff "$work/expected" "$work/marks" >"$work/out" && [ ! -e ran ]
tell "names are data, and what cannot be read is a student's record"

# ---- repeated runs
: >"$work/graded"
class first && grep -q ' 0 results to grade, 13 are there' "$work/out" && [ ! -s "$work/graded" ]
tell "a second run grades nothing"
class first --seed 8
[ $? = 2 ] && grep -q "started with seed '7', not '8'" "$work/out"
tell "another seed is another gradebook"
cp "$work/first/gradebook.sqlite" "$work/before.sqlite"
! class first --seed 8 && cmp "$work/before.sqlite" "$work/first/gradebook.sqlite" >>"$work/out" &&
    [ ! -e "$work/first/gradebook.sqlite-wal" ]
tell "a refused run leaves the gradebook as it was"
echo 'gets 71' >"$work/all/ada/$lab/conv.c"
class first && grep -q ' 1 results to grade' "$work/out" && marks first | grep -q '^|ada|graded|71|'
tell "what is handed in again is graded again"

# ---- repeated and late submissions
for at in 2026-10-01T12:00 2026-10-02T12-00-00Z 2026-10-03; do hand_in "often/$at" "gets $((90 - ${at%%T*} + 2026 + 10))"; done
echo 'gets 50' >"$work/all/often/2026-10-01T12:00/$lab/conv.c"
echo 'gets 90' >"$work/all/often/2026-10-02T12-00-00Z/$lab/conv.c"
echo 'gets 40' >"$work/all/often/2026-10-03/$lab/conv.c"
cp "$work/all/grace.tar.gz" "$work/all/grace_2.tar.gz"
touch -d 2026-09-01T00:00Z "$work"/all/*.* "$work"/all/*/$lab/* 2>/dev/null
TZ=UTC class first --deadline 2026-10-02T11:59 && marks first | grep '|often|' >"$work/marks"
printf '|often|graded|50||often/2026-10-01T12:00\n|often|graded|90|late|often/2026-10-02T12-00-00Z\n|often|graded|40|late|often/2026-10-03\n' |
    diff - "$work/marks" >>"$work/out" && marks first | grep -q '^|grace|graded|80||grace_2.tar.gz' && grep -qE '^01-sequential +10 .* 1 +1$' "$work/out" &&
    grep -q 'refused: 3' "$work/out"
tell "repeated ones count once, and late ones are marked"
TZ=UTC class first --deadline 2026-10-02T12:00 && ! marks first | grep -q 'late|often/2026-10-02'
tell "a deadline may move"
# counted RESULTS: the mark of `often` that counts, and what it earned.
counted()
{
    "$build/bin/export" --format table --gradebook "$work/$1/gradebook.sqlite" |
        sed -n 's/^"often",.*,\([0-9.]*,[0-9.]*\),graded.*/\1/p'
}
late=2026-10-01T12:00
TZ=UTC class first --deadline $late --penalty 20 && [ "$(counted first)" = 72,90 ] &&
    class first --counts last && [ "$(counted first)" = 40,40 ] &&
    class first --attempts 1 && [ "$(counted first)" = 50,50 ] &&
    TZ=UTC class first --deadline $late --counts in-time && [ "$(counted first)" = 50,50 ] &&
    class first && [ "$(counted first)" = 90,90 ] && grep -q ' 0 results to grade' "$work/out"
tell "what counts is a policy that may change"


# ---- points with their explanations
"$build/bin/class" --build "$build" --results "$work/first" --explain often >"$work/out" 2>&1 &&
    grep -q '^often: how each point was earned' "$work/out" && [ "$(grep -c '^01-sequential, often/' "$work/out")" = 3 ] &&
    [ "$(grep -c 'counts for this lab' "$work/out")" = 1 ] && grep -q 'often/2026-10-02T12-00-00Z: 90/.*, counts for this lab' "$work/out" &&
    grep -q '  together$' "$work/out"
tell "a student's points are explained from the gradebook alone"
! "$build/bin/class" --build "$build" --results "$work/first" --explain nobody >"$work/out" 2>&1 && grep -q 'no such student' "$work/out"
tell "nobody's points are not explained"

# ---- times and attempts that a student chooses
moodle="$work/lms/Fay_1_assignsubmission_file_"
mkdir -p "$moodle" "$work/lms/old"
for n in 2026-09-01T12-00-00Z 2026-09-02T12-00-00Z; do
    rm -rf "$work/one" && mkdir -p "$work/one/$lab" && echo "gets ${n#2026-09-0}" | sed 's/T.*/0/' >"$work/one/$lab/conv.c"
    (cd "$work/one" && tar czf "$moodle/$n.tgz" "$lab")
done
mkdir -p "$work/lms/old/$lab" && echo 'gets 30' >"$work/lms/old/$lab/conv.c"
touch -d 2026-08-01T00:00Z "$moodle"/* "$work/lms/old/$lab/conv.c"
"$build/bin/class" --build "$build" --submissions "$work/lms" --lab 01 --engine sim --seed 7 --results "$work/lms-results" \
    --grade "$work/grade" --jobs 1 --deadline 2026-09-15 >"$work/out" 2>&1 &&
    grep -q 'The time of 3 submissions is not known' "$work/out" &&
    "$build/bin/class" --dump --results "$work/lms-results" >"$work/marks" && grep -q 'graded.*10' "$work/marks" &&
    ! grep -q '	graded	20' "$work/marks" && grep -q '^Fay_1.*missing' "$work/marks" &&
    "$build/bin/class" --build "$build" --results "$work/lms-results" --explain Fay_1 | grep -q 'one attempt'
tell "names and file times that a student chose give neither a time nor a second attempt"

# ---- killed
i=0
while [ $i -lt 14 ]; do
    hand_in "student $i" "gets $((i * 37 % 101))"
    i=$((i + 1))
done
hand_in frail 'dies once 55'
rm -f "$work/died"
class calm --jobs 1 && [ -e "$work/died" ] && marks calm | grep -q '^|frail|graded|55|'
tell "a calm run, in which one grader dies once"
rm -f "$work/died"
: >"$work/graded"
kills=0
graded()
{
    wc -l <"$work/graded"
}
# Each row: number of additional results, and seconds before the kill.
awk -v seed="$SEED" 'BEGIN { srand(seed); for (i = 0; i < 10; i++) printf "%d:%.3f\n", 4 * rand(), 0.1 * rand() }' >"$work/moments"
while read -r moment; do
    until=$(($(graded) + ${moment%:*}))
    "$build/bin/class" --build "$build" --submissions "$work/all" --lab 01 --engine sim --seed 7 --results "$work/killed" \
        --grade "$work/grade" --jobs 2 >"$work/out" 2>&1 &
    child=$!
    while [ "$(graded)" -lt $until ] && kill -0 $child 2>/dev/null; do sleep 0.02; done
    sleep "${moment#*:}"
    kill -9 $child 2>/dev/null && kills=$((kills + 1))
    wait $child 2>/dev/null
done <"$work/moments"
begun=$(grep -c . "$work/graded")
class killed --jobs 2 && cmp "$work/calm/gradebook.sqlite" "$work/killed/gradebook.sqlite" >>"$work/out"
tell "killed at 10 moments and resumed: the same gradebook byte for byte"
rows=$(marks killed | wc -l)
echo "$kills kills, $begun graded before the last run, $(grep -c . "$work/graded") at its end, $rows rows" >>"$work/out"
[ $kills -ge 5 ] && [ "$rows" = "$(marks calm | wc -l)" ] && [ "$(grep -c . "$work/graded")" -le $((rows + 2 * kills)) ] && [ "$begun" -gt 0 ]
tell "no work is lost"

# ---- interrupted
hand_in slow 'waits 5'
# stop SIGNAL: repeatedly, to a class that waits for the slow submission; prints its exit status.
stop()
{
    rm -f "$work/waits"
    "$build/bin/class" --build "$build" --submissions "$work/all" --lab 01 --engine sim --seed 7 --results "$work/stopped" --jobs 2 \
        --grade "$work/grade" >"$work/out" 2>&1 &
    child=$!
    while [ ! -s "$work/waits" ] && kill -0 $child 2>/dev/null; do sleep 0.02; done
    while grep -q '^State:.[^Z]' /proc/$child/status; do kill "-$1" $child 2>/dev/null; done
    wait $child 2>/dev/null
}
stop TERM
[ $? = 130 ] && grep -q 'interrupted; the same command resumes' "$work/out" && ! kill -0 "$(cat "$work/waits")" 2>/dev/null
tell "an interrupted run ends its graders and says how to resume"
"$build/bin/export" --format table --gradebook "$work/stopped/gradebook.sqlite" >"$work/out" 2>&1
grep -q 'make class has not finished' "$work/out" &&
    ! "$build/bin/export" --format table --gradebook "$work/calm/gradebook.sqlite" 2>&1 | grep -q 'has not finished'
tell "an export says that the class has not finished"
stop KILL
tries=0
while kill -0 "$(cat "$work/waits")" 2>/dev/null && [ $tries -lt 3000 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
[ -s "$work/waits" ] && [ $tries -lt 3000 ]
tell "the graders of a killed run end too"
rm -r "$work/all/slow"
class stopped && cmp "$work/calm/gradebook.sqlite" "$work/stopped/gradebook.sqlite" >>"$work/out"
tell "and resumes"

# ---- full disk, if a file system can be mounted
if unshare -rm true 2>/dev/null; then
    mkdir -p "$work/small"
    # shellcheck disable=SC2016  # the inner shell's
    work=$work build=$build unshare -rm sh -c '
        mount -t tmpfs -o size=450k none "$work/small"
        set -- --build "$build" --submissions "$work/all" --lab 01 --engine sim --seed 7 --results "$work/small" --grade "$work/grade"
        "$build/bin/class" "$@" >"$work/full" 2>&1
        echo $? >"$work/full-status"
        mount -o remount,size=20M "$work/small"
        "$build/bin/class" "$@" >"$work/out" 2>&1
        cmp "$work/calm/gradebook.sqlite" "$work/small/gradebook.sqlite" >>"$work/out" 2>&1' &&
        [ "$(cat "$work/full-status")" = 1 ] && [ "$(grep -c '^class: .*free some disk space and run the same command again' "$work/full")" = 1 ] &&
        grep -q '^\[1/' "$work/full"
    tell "a full disk is one line, and what was graded is kept"
fi

# ---- deferred
hand_in dead 'dies always'
class calm --jobs 2 && grep -q '1 deferred: the same command tries them again' "$work/out" && marks calm | grep -q '^|dead|deferred|0|'
tell "a grader that dies twice defers, and is no 0"
echo 'gets 33' >"$work/all/dead/$lab/conv.c"
class calm && marks calm | grep -q '^|dead|graded|33|'
tell "and is graded at last"

# ---- similar solutions
rm -r "$work/all"
for name in ada bob cy; do
    mkdir -p "$work/all/$name/02-naive" "$work/all/skeleton $name/02-naive"
    cp autograder/tests/skeletons/02-naive/conv.cu "$work/all/skeleton $name/02-naive/"
done
cp solutions/02-naive/conv.cu "$work/all/ada/02-naive/"
sed 's/\<op\>/row/g; s/\<oq\>/column/g; s/\<sum\>/total/g; s|^ *// .*[a-z]$|// my own words|' solutions/02-naive/conv.cu >"$work/all/bob/02-naive/conv.cu"
cp solutions/13-sparse/conv.cu "$work/all/cy/02-naive/"
printf '#!/bin/sh\necho no >&2\nexit 1\n' >"$work/refuses"
chmod +x "$work/refuses"
"$build/bin/class" --build "$build" --submissions "$work/all" --lab 02 --engine sim --results "$work/alike" --grade "$work/refuses" >"$work/out" 2>&1
if command -v sim_c++ >/dev/null; then
    cat "$work/alike/similarity.txt" >>"$work/out"
    printf '\tN %% of\tada\tis in\tbob\n\tN %% of\tbob\tis in\tada\n%s\n' \
        '02-naive	2 submissions	up to N %	ada, bob' >"$work/expected"
    sed 's/[0-9]* %/N %/' "$work/alike/similarity.txt" | sort | diff "$work/expected" - >>"$work/out"
    tell "two who differ in names and comments are alike, and skeletons are not"
fi
mkdir -p "$work/path"
for tool in sh cat sed mv sleep; do ln -s "$(command -v "$tool")" "$work/path/"; done
hand_in dan 'gets 5'
hand_in eve 'gets 6'
PATH=$work/path "$build/bin/class" --build "$build" --submissions "$work/all" --lab 01 --engine sim --results "$work/bare" --grade "$work/grade" >"$work/out" 2>&1
tr -s "\n " " " <"$work/out" >"$work/said"
grep -q "sudo apt-get install similarity-tester" "$work/said" && grep -q "sudo apt-get install gnuplot-nox" "$work/said" && ! grep -q ".\{81\}" "$work/bare/summary.txt" &&
    grep -q 'gradebook.sqlite, class.html, summary.txt, progress.tsv$' "$work/out"
tell "without sim_c++ and gnuplot two lines say what is missing"

# ---- real grading, once without and once with a kill after the first result
rm -r "$work/all"
hand_in broken 'this is no C;'
for name in right skeleton; do mkdir -p "$work/all/$name/$lab"; done
cp solutions/$lab/conv.c solutions/$lab/predict.ini "$work/all/right/$lab/"
cp autograder/tests/skeletons/$lab/conv.c "$work/all/skeleton/$lab/"
class real --grade "$build/bin/grade"
[ "$(marks real | cut -d '|' -f 2-4)" = "$(printf 'broken|no-build|0\nright|graded|100\nskeleton|graded|0')" ]
tell "right, wrong and broken work is really graded"
: >"$work/out" # otherwise its [1/3] would be found again
"$build/bin/class" --build "$build" --submissions "$work/all" --lab 01 --engine sim --seed 7 --results "$work/really-killed" --jobs 2 >"$work/out" 2>&1 &
child=$!
while ! grep -q '^\[1/3' "$work/out" && kill -0 $child 2>/dev/null; do sleep 0.05; done
kill -9 $child 2>/dev/null
wait $child 2>/dev/null
class really-killed --grade "$build/bin/grade" && grep -qE ' [12] results to grade, [12] are there' "$work/out" &&
    cmp "$work/real/gradebook.sqlite" "$work/really-killed/gradebook.sqlite" >>"$work/out" ||
    { # the differences: a record is one line of JSON
        for book in real really-killed; do
            tr ',' '\n' <"$work/$book/gradebook.sqlite" >"$work/$book.lines"
        done
        diff -a "$work/real.lines" "$work/really-killed.lines" >>"$work/out"
        false
    }
tell "and killed and resumed it is the same byte for byte"

# ---- another folder: below the course's root, where a grader writes shorter paths
below=$(mktemp -d "$build/class-XXXXXX")
"$build/bin/class" --build "$build" --submissions "$work/all" --lab 01 --engine sim --seed 7 \
    --results "$below" >"$work/out" 2>&1 &&
    cmp "$work/real/gradebook.sqlite" "$below/gradebook.sqlite" >>"$work/out"
tell "a folder of results below the root has the same gradebook byte for byte"
rm -rf "$below"

# ---- user errors
says()
{
    class "$@"
    [ $? = 2 ] && [ "$(wc -l <"$work/out")" = 1 ]
}
says calm --deadline tomorrow && says calm --jobs none && says calm --submissions "$work/nowhere" && says calm --submissions "$work/nothing" &&
    says calm --lab 99 && says calm --lab 02,03 &&
    grep -q 'names more than one lab' "$work/out" && says calm --grade /nowhere && says out/deeper
tell "wrong usage is one line"

exit $failed
