#!/bin/sh
# labs.sh BUILD OUT - the table of docs/labs.md, from the labs' lab.ini; make check compares it with their handouts.
. docs/numbers/lib.sh

"$build/bin/lab" plan >"$out/plan.md"
say docs/labs.md "The $(ls -d labs/[0-9]* | wc -l) labs"
