#!/bin/sh
# profile.sh BUILD OUT - the page that docs/student/profile.md explains.
. docs/numbers/lib.sh

{
    echo '```'
    # Without the last lines: where the files are, the engine, the seed.
    sed '/^  Roofline/{n;q;}' "$(profile 04 solutions --case electrode-1)/page"
    echo '```'
} >"$out/page.md"
