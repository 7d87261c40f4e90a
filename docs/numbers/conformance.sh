#!/bin/sh
# conformance.sh BUILD OUT - the tables of docs/conformance.md: forms by group, and how far off
# approximate ones are.
. docs/numbers/lib.sh

"$build/tests/common/conformance/tool_conformance" report >"$out/report.md"
