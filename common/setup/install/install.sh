#!/bin/sh
# install.sh BUILD PREFIX - installs simnvcc, simrun and the simulated GPU below PREFIX, or below
# DESTDIR/PREFIX for a package; they no longer need the workbook's folder.
set -eu
build=$(realpath "${1:?usage: install.sh BUILD PREFIX}")
prefix=${2:?usage: make install PREFIX=/usr/local}
here=common/setup/install
case $prefix in
/*) ;;
*) prefix=$PWD/$prefix ;;
esac
case $prefix in *[!A-Za-z0-9/._+-]*)
    echo "install: PREFIX is a path of letters, digits and / . _ + -" >&2
    exit 2
    ;;
esac
to=${DESTDIR:-}$prefix
library=$to/lib/simcuda
mkdir -p "$to/bin" "$to/include" "$to/lib/pkgconfig" "$to/lib/cmake/simcuda" "$to/share/man/man1" "$library" || {
    echo "install: $to cannot be written: use sudo, or another PREFIX" >&2
    exit 2
}
rm -rf "$library"
mkdir "$library"
PLACE=$prefix/lib/simcuda/simnvcc SCRIPT=$prefix/lib/simcuda/simnvcc.sh sh common/setup/simnvcc_library.sh "$build" "$library/simnvcc" "$prefix/lib/simcuda/gpus"
cp -r common/simulator/gpus "$library/gpus"
cp "$build/toolchain.env" common/setup/simnvcc.sh "$library"
printf '#!/bin/sh\nexec sh "%s/simnvcc.sh" "%s" "$@"\n' "$prefix/lib/simcuda" "$prefix/lib/simcuda" >"$to/bin/simnvcc"
cp $here/simrun.sh "$to/bin/simrun"
chmod 755 "$to/bin/simnvcc" "$to/bin/simrun"
cp common/include/simcuda.h "$to/include"
cp $here/simnvcc.1 $here/simrun.1 "$to/share/man/man1"
version=$(git describe --always 2>/dev/null || cat RELEASE 2>/dev/null || echo 0)
include=$(sed -n 's/^CUDA_INCLUDE=//p' "$build/toolchain.env")
for file in lib/pkgconfig/simcuda.pc lib/cmake/simcuda/simcuda-config.cmake; do
    sed "s|@PREFIX@|$prefix|; s|@VERSION@|$(printf '%s' "$version" | head -n 1)|; s|@CUDA_INCLUDE@|$include|" \
        "$here/$(basename "$file")" >"$to/$file"
done
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
case $nvcc in "$build"/*) echo "install: nvcc is in $build, which must stay: keep it, or install the CUDA Toolkit and install again" >&2 ;; esac
echo "  installed $prefix/bin/simnvcc and simrun; man simnvcc"
