#!/bin/sh
# steps.sh NVCC FLAG... -c NAME.cu -o OBJECT - parallel execution of the steps that nvcc lists
# (--dryrun), as far as they are independent.
#
# nvcc compiles the host's code last, because it includes two files generated from device code: the
# stub, which registers kernels, and the fat binary.  But the stub is included at the end.  So here
# the host's compiler starts together with cicc and reads the stub from a pipe; the assembler
# includes the fat binary.
#
# If a step fails, nvcc itself is run, so that the student reads its messages.  NAME.fatbin stays,
# so that the grader knows which GPU code the compiler made.
set -u
name='' option=''
for argument; do
    [ "$option" != -c ] || name=${argument%.cu}
    option=$argument
done
stub=$name.cudafe1.stub.c

# Prevents the host's compiler from waiting at the pipe forever.  -Xcompiler=-D leaves out functions
# that the source possibly needs (build_command.c).
plain()
{
    exec 3<>"$stub"
    rm -f "$stub"
    exec 3>&-
    wait
    for argument; do
        shift
        case $argument in -Xcompiler=-D*) ;; *) set -- "$@" "$argument" ;; esac
    done
    exec "$@" --threads=2 --keep
}

# nvcc's steps are shell text that contains these paths.
case "$PWD $*" in *[!]A-Za-z0-9/._\ +@,:=[-]*) plain "$@" ;; esac

# A function for each step.
"$@" --keep --dryrun 2>plan || plain "$@"
machine_code()
{
    :
}
sed -n '
    s/^#\$ //
    s/^\(PATH\|LD_LIBRARY_PATH\|CICC_PATH\|NVVMIR_LIBRARY_DIR\)=\(.*\)/export \1="\2"/p
    s/^.* -E .* -o "[^"]*\.cpp4\.ii".*/host_text() { &; }/p
    s/^.* -E .* -o "[^"]*\.cpp1\.ii".*/device_text() { &; }/p
    s/^cudafe++ .*/host_half() { &; }/p
    s/^"[^"]*\/cicc" .*/device_half() { &; }/
    s/^\(device_half.* --stub_file_name \)"[^"]*"/\1stub/p
    s/^ptxas .*/machine_code() { &; }/p
    s/^\(fatbinary .*\) --embedded-fatbin="[^"]*"/fat_binary() { \1; }/p
    s/^\("[^"]*"\/[^ ]*\)\( .*\) -c\( -x c++ .*\) -o "[^"]*"/host_object() { \1 -c host.s -o '"$option"'; }\
host_code() { \1\2 -S\3 -o host.s; }/p
    ' plan >steps
# shellcheck source=/dev/null
. ./steps

cat >"$name.fatbin.c" <<END
#include "fatbinary_section.h"
asm(".section .nv_fatbin, \"a\"\n.align 8\nfatbinData:\n.incbin \"$name.fatbin\"\n.text\n");
extern "C" {
extern const unsigned long long fatbinData[];
static const __fatBinC_Wrapper_t __fatDeviceText __attribute__((aligned(8)))
__attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, fatbinData, 0};
}
END

device_text >2.log 2>&1 &
device=$!
if ! { host_text >1.log 2>&1 && host_half >3.log 2>&1 && wait $device && mkfifo "$stub"; }; then
    plain "$@"
fi
host_code >7.log 2>&1 &
host=$!
device_half >4.log 2>&1 || plain "$@"
cat stub >"$stub" &
feeding=$!
# Without the pipe: an assembler file in the source could otherwise wait forever, too.
if ! { machine_code >5.log 2>&1 && fat_binary >6.log 2>&1 && wait $host && wait $feeding &&
    rm "$stub" && host_object >8.log 2>&1; }; then
    plain "$@"
fi
exec cat [1-8].log
