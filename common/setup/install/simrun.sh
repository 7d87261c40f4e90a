#!/bin/sh
# simrun [OPTION...] PROGRAM [ARGUMENT...] - runs a program that simnvcc built, with settings of the
# simulated GPU (man simrun).
set -eu
fail()
{
    printf 'simrun: %s\n' "$1" >&2
    exit 2
}
usage()
{
    echo 'usage: simrun [--gpu NAME] [--kernel NAME] [--launch N] [--launches N] [--report FILE]'
    echo '              [--suppressions FILE] [--profile FILE] [--root DIR] [--debug] PROGRAM [ARGUMENT...]'
}
# set_of VARIABLE OPTION [VALUE...]
set_of()
{
    [ $# -gt 2 ] || fail "$2 needs a value"
    export "$1=$3"
}
number_of()
{
    set_of "$@"
    case $3 in '' | *[!0-9]*) fail "$2 takes a number, not '$3'" ;; esac
}
while [ $# -gt 0 ]; do
    case $1 in
    --debug)
        export SIMCUDA_DEBUG=1
        shift
        continue
        ;;
    --gpu) set_of SIMULATE_GPU "$@" ;;
    --kernel) set_of SIMULATE_ONLY_KERNEL "$@" ;;
    --launch) number_of SIMULATE_ONLY_LAUNCH "$@" ;;
    --launches) number_of SIMULATE_ONLY_LAUNCHES "$@" ;;
    --report)
        set_of SIMULATE_REPORT "$@"
        case $2 in *.json | *.sarif | *.supp) ;; *) fail "--report: the name ends with .json, .sarif or .supp, not '$2'" ;; esac
        ;;
    --suppressions)
        set_of SIMULATE_SUPPRESSIONS "$@"
        [ -f "$2" ] || fail "there is no file $2"
        ;;
    --profile) set_of SIMULATE_PROFILE "$@" ;;
    --root) set_of SIMULATE_ROOT "$@" ;;
    --help)
        usage
        exit 0
        ;;
    --)
        shift
        break
        ;;
    -*) fail "unknown option $1; --help lists the options" ;;
    *) break ;;
    esac
    shift 2
done
[ $# -gt 0 ] || { usage >&2; exit 2; }
command -v "$1" >/dev/null || fail "there is no program $1"
[ -z "${SIMCUDA_DEBUG:-}" ] || grep -qa 'Kernels are debugged on the simulated GPU' "$(command -v "$1")" ||
    fail "--debug: $1 was not linked for the debugger: compile and link it with simnvcc -G"
exec "$@"
