#!/bin/sh
# datasets.sh BUILD SET SEED - creates a data set as IDX files in BUILD/datasets/SET, with MNIST's
# file names.
#
# SET digits (and an empty one) is generated from SEED, 60,000 for training and 10,000 for the test;
# SET recordings has 600 and 400, and trained weights.  TRAIN= and TEST= are other numbers. The
# other sets are published ones: downloaded, compared with the SHA-256 of recipes.tsv, unpacked.
# RECIPES=file uses other recipes.  A correct file is not downloaded again; a file with another
# digest is never unpacked.
set -eu
build=${1:?usage: datasets.sh BUILD SET SEED}
set_name=${2:-digits}
seed=${3:-1}
recipes=${RECIPES:-datasets/recipes.tsv}
tab=$(printf '\t')
to=$build/datasets/$set_name
part=

fail() {
    printf 'datasets: %s\n' "$1" >&2
    exit 1
}
trap '[ -z "$part" ] || rm -f "$part" "$part.unpacked"' EXIT
trap 'exit 130' INT TERM

# fetch FILE SHA256 URL - downloads one file of the set, compressed with gzip
fetch() {
    ready=$to/${1%.gz}
    [ -s "$ready" ] && [ "$(cat "$ready.from" 2>/dev/null)" = "$2" ] && return
    part=$to/$1.part
    printf '  FETCH   %s\n' "$ready"
    why=$(curl --fail --location --silent --show-error --retry 2 --max-time 600 --output "$part" "$3" 2>&1) ||
        fail "$3 could not be downloaded: ${why##*curl: (*) }; the files that are complete are kept, so run it again later"
    [ "$(sha256sum <"$part" | cut -d' ' -f1)" = "$2" ] ||
        fail "$3 is not the published file (its SHA-256 is not $2): the download is damaged, or the file was replaced"
    gunzip -c <"$part" >"$part.unpacked" || fail "$3 cannot be unpacked: possibly the disk is full"
    mv "$part.unpacked" "$ready"
    printf '%s\n' "$2" >"$ready.from"
    rm -f "$part"
    part=
}

known="digits recordings $(cut -f1 "$recipes" | sed 1d | sort -u | tr '\n' ' ')"
case " $known" in *" $set_name "*) ;; *) fail "no set '$set_name'; SET= is one of: $known" ;; esac
mkdir -p "$to"
if [ "$set_name" = digits ]; then
    "$build/tests/datasets/tool_digits" "$to" "$seed" "${TRAIN:-60000}" "${TEST:-10000}"
elif [ "$set_name" = recordings ]; then
    "$build/tests/datasets/tool_recordings" "$to" "$seed" "${TRAIN:-600}" "${TEST:-400}"
else
    for tool in curl sha256sum gunzip; do
        command -v "$tool" >/dev/null ||
            fail "$tool is missing: sudo apt-get install curl coreutils gzip"
    done
    while IFS=$tab read -r name file sum url; do
        [ "$name" != "$set_name" ] || fetch "$file" "$sum" "$url"
    done <"$recipes"
fi
printf 'datasets: %s is in %s\n' "$set_name" "$to"
