#!/bin/bash
# setup.sh - Gradescope calls this once, as root, while it builds the grading machine.
# Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/
#
# It installs the course's packages, builds the grader and grades the reference solutions, so that a
# machine that cannot grade is detected here and not with a student.
set -eu
cd "$(dirname "$(realpath "$0")")"
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends make gcc g++ python3-pip \
    ca-certificates
lab=$(cat lab.txt)
cd workbook
make setup
make grade SUBMISSION=solutions ENGINE=sim LAB="$lab" FAIL_UNDER=90
make export FORMAT=gradescope RESULTS=build/results/solutions OUT=build/setup.json
