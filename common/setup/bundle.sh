#!/bin/sh
# bundle.sh BUILD PLATFORM LAB - writes an instructor's upload for a platform into BUILD/bundle: the
# course as committed, solutions included, with the scripts that the platform calls
# (common/setup/bundle).  LAB empty: all labs.
set -eu
build=${1:?usage: bundle.sh BUILD PLATFORM LAB}
platform=$2
lab=$3
parts=$(dirname "$0")/bundle
out=$build/bundle

fail()
{
    printf 'bundle: %s\n' "$1" >&2
    exit 2
}

[ "$platform" ] || fail 'which platform?  PLATFORM=gradescope, autolab or classroom'
case $platform in
gradescope | autolab | classroom) ;;
*) fail "there is no platform '$platform'; there are: gradescope, autolab, classroom" ;;
esac
# The lab's folder, found as in make grade; LAB may be a number or empty.
case $lab in
'') ;;
[0-9][0-9]) [ -d "$(echo labs/"$lab"-*)" ] || fail "there is no lab '$lab'; make lists them" ;;
*) fail "LAB is two digits, such as LAB=02, not '$lab'" ;;
esac
mkdir -p "$out"

# archive FORMAT OUT PART=NAME ...: the committed tree in workbook/, the parts under their names,
# lab.txt.
archive()
{
    [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] ||
        fail "this is not a git checkout, and a bundle contains only committed files"
    [ -z "$(git status --porcelain)" ] || echo 'bundle: uncommitted changes are not included' >&2
    work=$(mktemp -d "$out/part.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    format=$1 to=$2
    shift 2
    for part; do
        cp "$parts/${part%%=*}" "$work/${part#*=}"
    done
    printf '%s\n' "$lab" >"$work/lab.txt"
    set --
    for file in "$work"/*; do set -- "$@" --add-file="$file"; done
    git archive --format="$format" -o "$work/bundle" --prefix='' "$@" --prefix=workbook/ HEAD
    mv "$work/bundle" "$to"
}

case $platform in
gradescope)
    archive zip "$out/gradescope.zip" gradescope-setup.sh=setup.sh \
        gradescope-run_autograder=run_autograder
    echo "  $out/gradescope.zip: upload it under Configure Autograder" ;;
autolab)
    archive tar "$out/autograde.tar" autograde.sh=autograde.sh
    cp "$parts/autograde-Makefile" "$out/autograde-Makefile"
    tar -C "$out" -cf "$out/autolab.tar" autograde-Makefile autograde.tar
    rm "$out/autograde-Makefile" "$out/autograde.tar"
    echo "  $out/autolab.tar: contains the two files that the lab's page requires" ;;
classroom)
    sed "s/@LAB@/$lab/" "$parts/classroom.yml" >"$out/classroom.yml"
    echo "  $out/classroom.yml: .github/workflows/classroom.yml of the template repository" ;;
esac
