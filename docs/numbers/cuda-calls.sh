#!/bin/sh
# cuda-calls.sh BUILD OUT - the numbers of docs/simulator/cuda-calls.md.
. docs/numbers/lib.sh

recording=common/cuda/recording.h
say docs/simulator/cuda-calls.md "more than $(thousands "$(constant RECORDING_CALLS "$recording")") operations"
say docs/simulator/cuda-calls.md "more than $(sed -n 's/^#define RECORDING_BYTES (\([0-9]*\)ull << 20)$/\1/p' "$recording") MiB copied from the host"
