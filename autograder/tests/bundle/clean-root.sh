#!/bin/sh
# clean-root.sh [LAB] - tests the Gradescope and the Autolab bundle of one lab on a bare Debian 12,
# a root made by debootstrap.  There, setup.sh installs everything including nvcc; then the
# reference solution is graded as on each platform. Not part of `make test`: it needs root, the
# internet, 3 GB and some minutes.  It changes nothing outside of one temporary folder, which it
# removes.  EXTRA=dir is copied over the root first: the certificates of a proxy, for example.
# shellcheck disable=SC2015  # conditions, not choices
set -eu
lab=${1:-07}
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null ||
    { echo 'clean-root.sh: wants root and  apt-get install debootstrap' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
for platform in gradescope autolab; do sh common/setup/bundle.sh "$work" $platform "$lab"; done
debootstrap --variant=minbase bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" \
    >"$work/log"
cp /etc/resolv.conf "$root/etc/"
[ -z "${EXTRA:-}" ] || cp -a "$EXTRA/." "$root/"

# inside USER COMMAND: in the bare root, with a /proc of its own and nothing of this environment.
inside()
{
    unshare --mount --pid --fork --root="$root" --mount-proc env -i HOME="/tmp" \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        setpriv --reuid "$1" --regid "$1" --clear-groups sh -c "$2"
}

mkdir -p "$root/autograder/source" "$root/autograder/submission" "$root/autograder/results" \
    "$root/autolab"
python3 - "$work/bundle/gradescope.zip" "$root/autograder/source" <<'END'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as bundle:
    for entry in bundle.infolist():
        path = bundle.extract(entry, sys.argv[2])
        if not entry.is_dir():
            os.chmod(path, entry.external_attr >> 16 & 0o777)
END
cp "$root/autograder/source/run_autograder" "$root/autograder/"
cp solutions/"$lab"-*/* "$root/autograder/submission/"
inside 0 'cd /autograder && bash source/setup.sh'
inside 0 'cd /autograder && ./run_autograder'
grep '"score": 100.0' "$root/autograder/results/results.json" | head -n 1

# Autolab's image has what setup.sh installed; the job is no root.
tar -C "$root/autolab" -xf "$work/bundle/autolab.tar"
mv "$root/autolab/autograde-Makefile" "$root/autolab/Makefile"
tar -C solutions -cf "$root/autolab/handin.tar" "$(basename solutions/"$lab"-*)"
chown -R 1000:1000 "$root/autolab"
inside 1000 'cd /autolab && make' | tail -n 1 | tee "$work/last"
grep -q ':100.0}' "$work/last"
echo 'both bundles give the answer key 100 points on a bare Debian'
