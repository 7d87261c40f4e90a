#!/bin/sh
# build_lock.sh BUILD COMMAND... - runs the command under a lock: two parallel calls of make that
# build the same files would corrupt them.  A folder that is not writable is not locked.
lock=$1/building
shift
if command -v flock >/dev/null && ( : >>"$lock" ) 2>/dev/null; then
    exec flock -o "$lock" "$@"
fi
exec "$@"
