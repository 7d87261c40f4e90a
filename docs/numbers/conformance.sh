#!/bin/sh
# conformance.sh BUILD OUT - the tables of docs/simulator/conformance.md: forms by group, and how far off
# approximate ones are.
. docs/numbers/lib.sh

"$build/tests/common/simulator/conformance/tool_conformance" report >"$out/report.md"
