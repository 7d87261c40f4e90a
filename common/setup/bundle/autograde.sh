#!/bin/sh
# autograde.sh - grades the submitted file, a source or an archive of labs.  Its last line has the
# marks in Autolab's format.
set -eu
lab=$(cat lab.txt)
mkdir -p submission
for file in *; do
    case $file in
    Makefile | autograde.tar | autograde.sh | lab.txt | workbook | submission) ;;
    *.tar | *.tar.gz | *.tgz) tar -C submission --no-same-owner --no-same-permissions -xf "$file" ;;
    *.zip) python3 -m zipfile -e "$file" submission ;;
    *) cp -- "$file" submission/ ;;
    esac
done
here=$(pwd)
cd workbook
make --no-print-directory setup >&2
make --no-print-directory grade SUBMISSION="$here/submission" ENGINE=sim LAB="$lab"
make --no-print-directory export FORMAT=autolab RESULTS=build/results/submission
