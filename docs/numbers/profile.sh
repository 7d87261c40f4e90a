#!/bin/sh
# profile.sh BUILD OUT - the page that docs/student/profile.md explains.  Its kernel is one that every
# student gets, because the page shows its lines.
. docs/numbers/lib.sh

{
    echo '```'
    # Without the last lines: where the files are, the engine, the seed.
    sed '/^  By definition/{n;q;}' "$(profile 05 labs/05-register-tiled/steps/fig-6.cu --case table-1 --gpu h200)/page"
    echo '```'
} >"$out/page.md"
