#!/bin/sh
# alone.sh BUILD COMMAND... - runs the command while no other does through here: two calls of make
# that build the same files at once would spoil them.  A folder that nobody can write builds nothing.
lock=$1/building
shift
if command -v flock >/dev/null && ( : >>"$lock" ) 2>/dev/null; then
    exec flock -o "$lock" "$@"
fi
exec "$@"
