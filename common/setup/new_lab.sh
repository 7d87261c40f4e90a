#!/bin/sh
# new_lab.sh NUMBER NAME OPERATION [ROOT] - creates every file of a lab from new-lab/OPERATION next
# to this script: a small working lab, to be changed step by step (docs/developer/writing-a-lab.md).
# The operation "new" also creates an operation with the lab's name.  Overwrites nothing.
set -eu
templates=$(cd "$(dirname "$0")/new-lab" && pwd)

fail()
{
    printf 'new-lab: %s\n' "$1" >&2
    exit 2
}

usage='make new-lab LAB=30 NAME=mine [OPERATION=conv_forward|new]'
case ${1:-} in [0-9][0-9]) ;; *) fail "LAB is two digits, as in  $usage" ;; esac
case ${2:-} in '' | [!a-z]* | *[!a-z0-9-]*) fail "NAME may contain lower-case letters, digits and '-', as in  $usage" ;; esac
number=$1 lab=$1-$2 operation=${3:-conv_forward} root=${4:-.}
[ -f "$templates/$operation/lab.ini" ] ||
    fail "there is no template for the operation '$operation'; there are: $(cd "$templates" && ls -x)"

# An operation of the lab's own: small-steps -> small_steps, SmallStepsProblem, SMALL_STEPS.
own=$(printf '%s' "$2" | tr - _)
struct=$(printf '%s' "$2" | sed 's/-*\([a-z0-9]*\)/\u\1/g')Problem
guard=$(printf '%s' "$own" | tr '[:lower:]' '[:upper:]')

# Destination of each template.
places="lab.ini labs/$lab/lab.ini
README.md labs/$lab/README.md
skeleton.cu labs/$lab/conv.cu
predict.ini labs/$lab/predict.ini
solution.cu solutions/$lab/conv.cu
answers.ini solutions/$lab/predict.ini
skeleton.cu autograder/tests/skeletons/$lab/conv.cu
no-guard.patch autograder/tests/mutants/$lab/no-guard.patch
derive.c autograder/tests/predictions/$lab.c
numbers.sh docs/numbers/labs/$lab.sh"
if [ "$operation" = new ]; then
    places="$places
operation.h common/include/convlab/$own.h
operation.c common/operations/catalog/$own.c
test.c common/operations/catalog/test_$own.c
call.c common/operations/calls/$own.c"
fi

cd "$root"
catalog=common/operations/catalog/operations.c
if [ "$operation" = new ] && grep -q "&${own}_operation\b" "$catalog"; then
    fail "there is an operation '$own' already; choose another NAME"
fi
for tree in labs solutions autograder/tests/skeletons autograder/tests/mutants \
    autograder/tests/predictions docs/numbers/labs; do
    there=$(find "$tree" -maxdepth 1 -name "$number-*" | head -n 1)
    [ -z "$there" ] || fail "$there already exists; choose another number, or remove it"
done
for place in $(echo "$places" | sed 's/.* //'); do
    [ ! -e "$place" ] || fail "$place already exists; choose another NAME"
done
title=$(printf '%s' "$2" | sed 's/-/ /g; s/^./\u&/')
echo "$places" | while read -r template place; do
    mkdir -p "$(dirname "$place")"
    from=$templates/$operation/$template
    [ -f "$from" ] || from=$templates/conv_forward/$template # a file without the name
    sed "s/@LAB@/$lab/g; s/@NUMBER@/$number/g; s/@ORDER@/${number#0}/g; s/@TITLE@/$title/g
        s/@OPERATION@/$own/g; s/@STRUCT@/$struct/g; s/@GUARD@/$guard/g" "$from" >"$place"
    echo "  $place"
done
list=autograder/tests/predictions/labs.def
printf 'LAB(%s)\n' "$number" >>"$list"
sort -o "$list" "$list"
echo "  autograder/tests/predictions/labs.def (a line)"
if grep -qs 'a CUDA course in [0-9]* labs' README.md; then
    count=$(find labs -name lab.ini | wc -l)
    sed -i "s/a CUDA course in [0-9]* labs/a CUDA course in $count labs/" README.md
    echo '  README.md (the number of labs)'
fi
if [ "$operation" = new ]; then
    sed -i "/^static const Operation \*const operations/{
        s/^/extern const Operation ${own}_operation;\n\n/
    }
    /^    &quantize_operation/s/^/    \&${own}_operation,\n/" "$catalog"
    echo "  $catalog (two lines)"
fi
