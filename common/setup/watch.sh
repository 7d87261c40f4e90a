#!/bin/sh
# watch.sh BUILD LAB COMMAND... - run COMMAND again whenever a file of lab LAB is saved; Ctrl-C ends
# it.
set -eu
name=$("$1/bin/lab" names --root . --lab "$2")
folder=labs/$name
shift 2
trap 'exit 0' INT
seen=
while :; do
    now=$(find "$folder" -type f -printf '%p %T@\n' | sort)
    if [ "$now" != "$seen" ]; then
        seen=$now
        # Clears the terminal, so that only this grade is shown.
        if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then printf '\033[H\033[2J\033[3J'; fi
        echo "grading $folder ..."
        "$@" || true
        echo "watching $folder: save to grade again, Ctrl-C ends"
    fi
    sleep 0.3
done
