#!/bin/sh
# check.sh BUILD - make workbench: the page in a real browser, and what its server refuses.
# SCREENS=folder keeps screenshots of each state at three widths, light and dark.
set -eu
. autograder/tests/lib.sh
screens=${SCREENS:-$work/screens}
export SHOTS="${SCREENS:-}"
mkdir -p "$screens"
# shellcheck source=autograder/tests/workbench/root.sh
. autograder/tests/workbench/root.sh
cp autograder/tests/skeletons/02-naive/conv.cu "$work/root/labs/02-naive/conv.cu"

# status CURL-ARGUMENTS...: the HTTP status; the answer is in $work/err.
status()
{
    curl -s -o "$work/err" -w '%{http_code}' --path-as-is "$@"
}
with_token()
{
    status -H "Authorization: Bearer $token" "$@"
}

server_start
here=http://127.0.0.1:$port
set +e

[ "$(with_token "$here/api/labs")" = 200 ] && jq -e --argjson all "$(find labs -name lab.ini | wc -l)" '.labs | length == $all' "$work/err" >"$work/said"
tell lists-the-labs
[ "$(status "$here/api/labs")" = 401 ] && [ "$(status -H 'Authorization: Bearer 0' "$here/api/labs")" = 401 ] &&
    [ "$(status -H "Cookie: token=$token" "$here/api/labs?token=$token")" = 401 ] && grep -q 'make workbench printed' "$work/err"
tell needs-the-key
[ "$(with_token -H 'Host: evil.example' "$here/api/labs")" = 403 ] &&
    [ "$(with_token -H "Host: 127.0.0.1:1" "$here/api/labs")" = 403 ]
tell refuses-another-host
[ "$(with_token -H 'Origin: http://evil.example' "$here/api/labs")" = 403 ] &&
    [ "$(with_token -H "Origin: http://127.0.0.1:1" "$here/api/labs")" = 403 ] &&
    [ "$(with_token -H "Origin: https://127.0.0.1:$port" "$here/api/labs")" = 403 ] &&
    [ "$(with_token -H "Origin: $here" "$here/api/labs")" = 200 ]
tell refuses-another-origin
ok=yes
for path in /page/../workbench.h /figures/../../Makefile /codemirror/../../../../etc/passwd /page/.hidden.js \
    /page//etc/passwd.js /page/index.html/ /figures/%2e%2e/%2e%2e/README.md /files/../labs/02-naive/conv.cu \
    /labs/02-naive/conv.cu /../../../../etc/passwd /page/%00.js; do
    code=$(status "$here$path")
    [ "$code" = 404 ] || [ "$code" = 400 ] || { ok=no; echo "$path: $code" >>"$work/said"; }
done
[ "$ok" = yes ]
tell serves-no-other-file
[ "$(with_token "$here/api/labs/..%2f..%2fetc")" = 404 ] && [ "$(with_token -X PUT -d '{"text":"x","base":""}' "$here/api/labs/02/lab.ini")" = 400 ] &&
    [ "$(with_token -X PUT -d '{"text":"x","base":""}' "$here/api/labs/02/..%2fconv.cu")" = 400 ] && [ ! -e "$work/root/labs/conv.cu" ]
tell edits-no-other-file
# Bytes of a request that are not UTF-8, or are cut in a character, are in the message.
[ "$(with_token "$here/api/labs/%ff")" = 404 ] && jq -e '.error' "$work/err" >"$work/said" &&
    [ "$(with_token -X POST -d '{"action":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaé"}' "$here/api/labs/02/jobs")" = 400 ] &&
    jq -e '.error | contains("there is no action")' "$work/err" >"$work/said"
tell answers-requests-that-are-not-utf-8
head -c 4000000 /dev/zero | tr '\0' a >"$work/large"
[ "$(with_token -X PUT --data-binary "@$work/large" "$here/api/labs/02/source")" = 413 ] &&
    [ "$(with_token -X POST -d '[1' "$here/api/labs/02/jobs")" = 400 ] &&
    [ "$(with_token -X POST -d '{"action":"solution"}' "$here/api/labs/02/jobs")" = 400 ] &&
    [ "$(with_token -X BREW "$here/api/labs/02")" != 200 ]
tell refuses-malformed-requests
# Without the key the body is not even stored.
[ "$(status -X PUT --data-binary "@$work/large" "$here/api/labs/02/source")" = 401 ] &&
    [ "$(with_token -H 'Origin: http://evil.example' -X PUT --data-binary "@$work/large" "$here/api/labs/02/source")" = 403 ]
tell stores-no-body-of-others
# A FIFO in place of a file must not stop the server.
mv "$work/root/labs/06-unrolled/README.md" "$work/kept.md"
mkfifo "$work/root/labs/06-unrolled/README.md"
[ "$(with_token --max-time 60 "$here/api/labs/06")" = 200 ] && grep -q 'handout README.md is missing' "$work/err"
tell a-fifo-blocks-nothing
rm "$work/root/labs/06-unrolled/README.md"
mv "$work/kept.md" "$work/root/labs/06-unrolled/README.md"
codes=
for _ in 1 2 3 4 5 6 7 8; do codes="$codes $(with_token -X POST -d '{"action":"grade"}' "$here/api/labs/04/jobs")"; done
echo "$codes" >"$work/said"
[ "${codes% 429}" != "$codes" ] && [ "${codes# 200}" != "$codes" ]
tell limits-the-queue
# Links in the folders that the page edits, and names that leave the playground.
mkdir -p "$work/root/playground" "$work/secret"
echo secret >"$work/secret/conv.cu"
mv "$work/root/labs/03-layout/conv.cu" "$work/kept.cu"
ln -s "$work/secret/conv.cu" "$work/root/labs/03-layout/conv.cu"
mv "$work/root/labs/05-register-tiled" "$work/kept"
ln -s "$work/secret" "$work/root/labs/05-register-tiled"
ln -s "$work/secret/conv.cu" "$work/root/playground/link.cu"
ok=yes
for path in labs/03 labs/05 playground/link.cu; do
    with_token "$here/api/$path" >"$work/code"
    ! grep -q secret "$work/err" || { ok=no; cp "$work/err" "$work/said"; }
    with_token -X PUT -d '{"text":"lost","base":""}' "$here/api/$path/source" >"$work/code"
    grep -q '^507$' "$work/code" || { ok=no; echo "$path $(cat "$work/code")" >"$work/said"; }
done
for name in '../x.cu' '/tmp/x.cu' '.cu' 'x' 'x.cu/..' 'a b.cu' '-x.cu' ''; do
    [ "$(with_token -X POST -d "{\"name\":\"$name\"}" "$here/api/playground")" = 400 ] ||
        { ok=no; echo "new program '$name'" >>"$work/said"; }
done
[ "$(with_token "$here/api/playground/..%2f..%2fMakefile")" = 404 ] || ok=no
[ "$ok" = yes ] && [ "$(cat "$work/secret/conv.cu")" = secret ]
tell follows-no-link
rm "$work/root/labs/05-register-tiled" "$work/root/playground/link.cu"
mv "$work/kept" "$work/root/labs/05-register-tiled"
mv "$work/kept.cu" "$work/root/labs/03-layout/conv.cu"
[ "$(with_token -X POST -d '{"name":"a.cu"}' "$here/api/playground")" = 200 ] &&
    [ "$(with_token -X POST -d '{"name":"a.cu"}' "$here/api/playground")" = 400 ] &&
    with_token "$here/api/playground" >"$work/code" && jq -e '.programs == ["a.cu"]' "$work/err" >"$work/said" &&
    with_token "$here/api/playground/a.cu" >"$work/code" && jq -e '.source.text | contains("__global__")' "$work/err" >"$work/said"
tell creates-a-program-once
# No argument of a process has the key, and no other user may connect.
if [ "$(id -u)" = 0 ] && command -v setpriv >"$work/said"; then
    [ "$(setpriv --reuid 65534 --clear-groups curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$here/api/labs")" = 000 ] &&
        [ "$(with_token "$here/api/labs")" = 200 ]
    tell refuses-another-user
fi
if grep -q "$token" /proc/[0-9]*/cmdline 2>/dev/null; then false; else true; fi
tell hides-the-key-from-other-processes
if (ss -ltn 2>/dev/null || netstat -ltn) | grep -q "\(0\.0\.0\.0\|\*\|\[::\]\):$port"; then false; else true; fi
tell listens-on-this-machine-only
server_end
# The grader's own children end when they notice that it has ended.
for _ in $(seq 600); do pgrep -af "$work/build/bin/" >"$work/said" || break; sleep 0.1; done
[ "$(wc -c <"$work/said")" = 0 ]
tell leaves-no-process-behind
if server_start --port "$port"; then
    ! (cd "$work/root" && "$build/bin/workbench" --root . --build "$work/build" --port "$port") >"$work/said" 2>&1 &&
        grep -q "port $port of 127.0.0.1: Address already in use; choose another" "$work/said"
    tell says-that-a-port-is-in-use
    server_end
fi
! "$build/bin/workbench" --root "$work/root" --port 70000 >"$work/said" 2>&1 && grep -q 'a number from 1 to 65535' "$work/said"
tell checks-the-port

# The page itself.
[ "$python" ] ||
    skip 'no chromium: sudo apt-get install chromium chromium-driver python3-selenium libjs-codemirror'
server_start
export AXE="$build/axe/axe.min.js"
"$python" autograder/tests/workbench/browser.py "$url" "$work/root" "$screens" "$server" >"$work/said" 2>"$work/err"
cat "$work/said"
grep -q '^ok ' "$work/said" && ! grep -q '^not ok' "$work/said"
tell page-in-a-browser
exit "$failed"
