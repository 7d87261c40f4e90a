#!/bin/sh
# labs.sh BUILD OUT - the table of docs/labs.md, from the labs' lab.ini; make check compares it with their handouts.
. docs/numbers/lib.sh

"$build/bin/lab" plan >"$out/plan.md"
