#!/bin/sh
# simulate.sh [--ptx] [--jobs N] BUILD GPU MACHINE OUT - simulates every validation set into
# OUT/SET.tsv, N programs at a time.
#
# GPU: a folder of records in data/, whose cases of labs are simulated.  MACHINE: the name of a
# machine in common/simulator/gpus, or a machine file (path ending in .ini), such as `make machine`
# writes.  --ptx: without machine code, as in labs.
set -eu
usage='usage: simulate.sh [--ptx] [--jobs N] BUILD GPU MACHINE OUT'
mode='' jobs=1
while :; do
    case ${1-} in
    --ptx) mode=ptx ;;
    --jobs) jobs=${2:?"$usage"} && shift ;;
    *) break ;;
    esac
    shift
done
build=${1:?"$usage"} gpu=${2:?"$usage"} machine=${3:?"$usage"} out=${4:?"$usage"}
records=common/simulator/validation/data/$gpu gpus=common/simulator/gpus
fail() { echo "validate: $1" >&2 && exit 2; }
[ -d "$records" ] || fail "no records of a GPU '$gpu': there are $(basename -a common/simulator/validation/data/* | paste -sd' ' -)"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $machine in
*.ini) # in a folder with all others, because its key `like` may name one of them
    [ -f "$machine" ] || fail "there is no machine file $machine"
    cp -r "$gpus"/. "$work"
    name=$(basename "$machine" .ini | tr -c 'A-Za-z0-9_\n-' _)
    cp "$machine" "$work/$name.ini"
    machine=$name gpus=$work
    ;;
esac

# The largest sets first, so that no core is idle at the end.
wc -l "$records"/*-times.tsv | sed -n 's|^ *\([0-9]*\) .*/\(.*\)-times.tsv$|\1 \2|p' | sort -rn |
    cut -d' ' -f2 >"$work/sets"
. common/setup/ticker.sh
ticker_begin "$build" "sets on the simulated $machine" "$(wc -l <"$work/sets")" "$out/seconds"
# shellcheck disable=SC2016 # the inner shell expands them
xargs -P "$jobs" -I{} sh -c '
    cases=$1/$6-cases.txt # the measured cases of a lab
    [ -f "$cases" ] || cases=/dev/null
    "$2/validate/run-$6" "$3" "$4" ${7:+"$7"} <"$cases" >"$5/.$6" || exit 255
    mv "$5/.$6" "$5/$6.tsv" && echo >&9' \
    sh "$records" "$build" "$machine" "$gpus" "$out" {} "$mode" <"$work/sets"
ticker_end
