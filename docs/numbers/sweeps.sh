#!/bin/sh
# sweeps.sh OUT [BUILD] [NAME ...] - the simulated sweeps that lab 20's handout shows, as `make
# sweep` makes them: OUT/NAME.tsv. All of them take some ten minutes on a core.
set -eu
out=${1:?usage: sweeps.sh OUT [BUILD] [NAME ...]}
build=${2:-build}
shift
[ $# = 0 ] || shift
mkdir -p "$out"

# sweep NAME LAB GPU OVER SHAPE
sweep() {
    case " ${chosen:-$1} " in *" $1 "*) ;; *) return 0 ;; esac
    SUBMISSION=solutions sh common/apps/tail/sweep.sh "$build" nvcc "$2" "$5" "$4" sim "$3" 1
    cp "$build/sweep/$2-$3.tsv" "$out/$1.tsv"
}

chosen=$*
# Another GPU, other steps.
for gpu in titanv gtx1080ti h200; do
    sweep "filters-$gpu" 02 "$gpu" 40:1240:40 'N=1 C=32 H=16 W=16 K=% R=3 S=3 pad=1 stride=1'
done
sweep tail-gtx480 05 gtx480 8:128:8 'N=64 C=3 H=10 W=12 K=% R=5 S=5 pad=same stride=1 layout=chwn'
# Batch, resolution, filter shape.
sweep batch-titanv 02 titanv 1:20:1 'N=% C=32 H=16 W=16 K=64 R=3 S=3 pad=1 stride=1'
sweep resolution-titanv 04 titanv 8:136:8 'N=1 C=16 H=% W=% K=64 R=3 S=3 pad=1 stride=1'
sweep one-titanv 02 titanv 40:1240:40 'N=1 C=64 H=16 W=16 K=% R=1 S=1 pad=0 stride=1'
sweep five-titanv 02 titanv 40:1240:40 'N=1 C=16 H=16 W=16 K=% R=5 S=5 pad=same stride=1'
sweep depthwise-titanv 02 titanv 40:1240:40 'N=1 C=1 H=16 W=16 K=% R=3 S=3 pad=1 stride=1'
# A kernel that selects its tile and its split-K slices.
sweep chosen-titanv 10 titanv 16:640:16 'N=1 C=256 H=14 W=14 K=% R=3 S=3 pad=1 stride=1'
