#!/bin/sh
# splice.sh PAGE DIR - puts DIR/NAME.md between <!-- begin NAME --> and <!-- end NAME --> of a page, for every NAME in it.
set -eu
page=${1:?usage: splice.sh PAGE DIR}
from=${2:?usage: splice.sh PAGE DIR}
awk -v from="$from" '
    /<!-- end / { skip = 0 }
    !skip { print }
    /<!-- begin / { file = from "/" $3 ".md"; print ""; while ((getline line < file) > 0) print line; print ""; skip = 1 }' "$page" >"$from/page"
cp "$from/page" "$page"
