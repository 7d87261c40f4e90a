#!/bin/sh
# objects.sh pack BUILD FILE OBJECT... - puts compiled objects of BUILD into FILE, a tar archive.
# A student's copy contains it (make handout).  The first build there would otherwise cost two minutes
# of CPU time.  Equal objects give an equal archive.
#
# objects.sh unpack BUILD FILE CUDA_INCLUDE - puts them into BUILD/obj, newer than their sources, so
# that make uses them.  If the sources or the machine differ, it does nothing, and make compiles.
#
# The archive has the objects and their lists of dependencies.  It also has four files: `machine` is
# the compiler's name of the machine, `libc` the version of glibc, `cuda` the version of the toolkit's
# headers, and `sources` has a digest of every source.  A newer glibc can link the objects, too.
set -eu
action=${1:?usage: objects.sh pack BUILD FILE OBJECT... | unpack BUILD FILE CUDA_INCLUDE}
build=${2:?usage: objects.sh pack BUILD FILE OBJECT... | unpack BUILD FILE CUDA_INCLUDE}
file=${3:?usage: objects.sh pack BUILD FILE OBJECT... | unpack BUILD FILE CUDA_INCLUDE}
shift 3
cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")

cuda_version()
{
    sed -n 's/^#define CUDART_VERSION *//p' "$1/cuda_runtime_api.h"
}

pack()
{
    for object; do
        object=${object#"$build"/}
        printf '%s\n' "$object" "${object%.o}.d"
    done | tar -C "$build" -cf - -T - | tar -xf - -C "$parts"
    find "$parts/obj" -name '*.d' -exec sed -i '1s|^[^ :]*/obj/||' {} +
    find "$parts/obj" -name '*.o' -exec strip --strip-debug {} +
    find "$parts/obj" -name '*.d' -exec cat {} + | tr ' ' '\n' | grep -E '^[a-z].*\.(c|h|def|inc)$' |
        sort -u | xargs sha256sum >"$parts/sources"
    "$cc" -dumpmachine >"$parts/machine"
    getconf GNU_LIBC_VERSION >"$parts/libc"
    cuda_version "$(sed -n 's/^CUDA_INCLUDE=//p' "$build/toolchain.env")" >"$parts/cuda"
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
        -C "$parts" -cf - cuda libc machine sources obj | gzip -9n >"$file.part"
    mv "$file.part" "$file"
}

# Whether the objects in $parts can be linked here.
fits()
{
    [ "$(cat "$parts/machine")" = "$("$cc" -dumpmachine)" ] &&
        here=$(getconf GNU_LIBC_VERSION 2>/dev/null) &&
        [ "$(printf '%s\n' "$(cat "$parts/libc")" "$here" | sort -V | tail -n 1)" = "$here" ] &&
        sha256sum --check --status "$parts/sources" 2>/dev/null
}

unpack()
{
    [ -f "$file" ] && ! cmp -s "$file" "$build/obj/unpacked" || return 0
    tar -xmzf "$file" -C "$parts" || return 0
    if fits; then
        # Only these include the toolkit's headers.
        [ "$(cat "$parts/cuda")" = "$(cuda_version "$1")" ] ||
            rm -rf "$parts/obj/common/cuda/runtime" "$parts/obj/common/operations/calls"
        find "$parts/obj" -name '*.d' -exec sed -i "1s|^|$build/obj/|" {} +
        mkdir -p "$build/obj"
        cp -r "$parts/obj/." "$build/obj/"
    fi
    mkdir -p "$build/obj"
    cp "$file" "$build/obj/unpacked"
}

# A folder that is not writable is complete already, or make says what it cannot write.
[ "$action" != unpack ] || [ -w "$build" ] || exit 0
parts=$(mktemp -d "$build/objects.XXXXXX")
trap 'rm -rf "$parts"' EXIT
"$action" "$@"
