# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154  # used by the scripts that source this file, and set by them
# root.sh - a copy of the workbook whose labs may be edited, in $work/root, and its server.  The rest
# of the workbook, and the programs of $build, are links.
root=$(pwd)
mkdir -p "$work/root" "$work/build"
for part in autograder common docs solutions datasets; do ln -s "$root/$part" "$work/root/$part"; done
cp -r labs "$work/root/labs"
for part in bin lib obj simnvcc toolchain.env toolchain; do
    [ ! -e "$build/$part" ] || ln -s "$(realpath "$build/$part")" "$work/build/$part"
done

# The server's address is in $work/out as soon as it serves.
server_start()
{
    : >"$work/out" # now: the server empties it later, and it may hold an earlier address
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

# The python that has selenium; "" if there is none, or no chromium, or no editor.
python=
for candidate in python3 /usr/bin/python3; do
    [ "$python" ] || ! "$candidate" -c 'import selenium' 2>/dev/null || python=$candidate
done
{ [ -x /usr/bin/chromedriver ] && [ -f /usr/share/javascript/codemirror/codemirror.js ]; } || python=
