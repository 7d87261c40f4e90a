#!/bin/sh
# check.sh BUILD - make workbench: the page in a real browser, and what its server refuses.
# SCREENS=folder keeps screenshots of each state at three widths, light and dark.
set -eu
. autograder/tests/lib.sh
screens=${SCREENS:-$work/screens}
export SHOTS="${SCREENS:-}"
mkdir -p "$work/root" "$work/build" "$screens"

# A copy of the workbook whose labs may be edited; the rest, and the programs, are links.
root=$(pwd)
for part in autograder common docs solutions datasets; do ln -s "$root/$part" "$work/root/$part"; done
cp -r labs "$work/root/labs"
cp autograder/tests/skeletons/02-naive/conv.cu "$work/root/labs/02-naive/conv.cu"
for part in bin lib obj toolchain.env toolchain; do
    [ ! -e "$build/$part" ] || ln -s "$(realpath "$build/$part")" "$work/build/$part"
done

# The server's address is in $work/out as soon as it serves.
server_start()
{
    (cd "$work/root" && exec "$build/bin/workbench" --root . --build "$work/build" "$@") >"$work/out" 2>&1 &
    server=$!
    until grep -q '#[0-9a-f]' "$work/out"; do kill -0 "$server" 2>/dev/null || return 1; sleep 0.1; done
    url=$(sed -n 's/^ *\(http.*#.*\)/\1/p' "$work/out")
    port=${url##*:}
    port=${port%%/*}
    token=${url##*#}
}
server_end()
{
    kill "$server"
    wait "$server" || true
}

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
head -c 4000000 /dev/zero | tr '\0' a >"$work/large"
[ "$(with_token -X PUT --data-binary "@$work/large" "$here/api/labs/02/source")" = 413 ] &&
    [ "$(with_token -X POST -d '[1' "$here/api/labs/02/jobs")" = 400 ] &&
    [ "$(with_token -X POST -d '{"action":"solution"}' "$here/api/labs/02/jobs")" = 400 ] &&
    [ "$(with_token -X BREW "$here/api/labs/02")" != 200 ]
tell refuses-malformed-requests
codes=
for _ in 1 2 3 4 5 6 7 8; do codes="$codes $(with_token -X POST -d '{"action":"grade"}' "$here/api/labs/04/jobs")"; done
echo "$codes" >"$work/said"
[ "${codes% 429}" != "$codes" ] && [ "${codes# 200}" != "$codes" ]
tell limits-the-queue
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
python=
for candidate in python3 /usr/bin/python3; do
    [ "$python" ] || ! "$candidate" -c 'import selenium' 2>/dev/null || python=$candidate
done
{ [ "$python" ] && [ -x /usr/bin/chromedriver ] && [ -f /usr/share/javascript/codemirror/codemirror.js ]; } ||
    skip 'no chromium: sudo apt-get install chromium chromium-driver python3-selenium libjs-codemirror'
server_start
export AXE="$build/axe/axe.min.js"
"$python" autograder/tests/workbench/browser.py "$url" "$work/root" "$screens" "$server" >"$work/said" 2>"$work/err"
cat "$work/said"
grep -q '^ok ' "$work/said" && ! grep -q '^not ok' "$work/said"
tell page-in-a-browser
exit "$failed"
