#!/bin/sh
# picture.sh BUILD LAB SUBMISSION ENGINE PICTURE FILTER - for `make picture`: runs one of the labs
# 00 to 04 on a picture.
set -u
build=$1 lab=$2 submission=$3 engine=$4 picture=$5 filter=$6
here=$(dirname "$(dirname "$0")")/apps/picture/picture.py
for python in python3 /usr/bin/python3 ''; do # the first python in PATH may not be the one with the packages
    [ -z "$python" ] || "$python" -c 'import numpy, PIL' 2>/dev/null && break
done
[ "$python" ] || { printf 'picture: python3 has no numpy or no Pillow:\n  sudo apt-get install python3-numpy python3-pil\n' >&2; exit 2; }
case $lab in
[0-9][0-9]*) ;;
*) echo "picture: which lab?  for example:  make picture LAB=02 FILTER=edges" >&2; exit 2 ;;
esac
case $lab in
00*) filter=${filter:-brighter} ;;
01* | 02* | 03* | 04*) filter=${filter:-edges} ;;
*) echo "picture: a picture has three channels and one image, which only labs 00 to 04 accept" >&2; exit 2 ;;
esac
folder=$build/picture/$lab
mkdir -p "$folder" || exit 2
rm -f "$folder/w.npy" "$folder/y.npy"
"$python" "$here" prepare "$lab" "$picture" "$filter" "$folder" || exit 2
set -- # lab 00 has no weights
[ ! -f "$folder/w.npy" ] || set -- --weights "$folder/w.npy"
"$build/bin/lab" run --root . --build "$build" --lab "$lab" --submission "$submission" \
    --engine "$engine" --alone \
    --shape "$(cat "$folder/shape")" --input "$folder/x.npy" "$@" --output "$folder/y.npy"
status=$?
# A wrong output is shown as well, because the picture helps to find the error.
if [ -f "$folder/y.npy" ]; then "$python" "$here" show "$folder" "$folder/$filter.png" || exit 2; fi
exit $status
