#!/bin/sh
# check.sh BUILD - a class on a Slurm cluster: a controller and two nodes, real ones, started here
# in a temporary folder and on ports of its own.  One node is killed half-way, with all that runs on
# it.
#
# The grader is a stand-in, which takes half a second; autograder/tests/class has the rest of what a
# class is.
# shellcheck disable=SC2015,SC2317  # conditions, not choices
set -u
. autograder/tests/lib.sh
PATH=$PATH:/usr/sbin # folder of daemons, also if the user is not root
why=
for tool in slurmctld slurmd sbatch munged unshare; do
    command -v $tool >/dev/null ||
        why="no $tool: sudo apt-get install slurmctld slurmd slurm-client munge"
done
[ -z "$why" ] || skip "$why"
[ "$(id -u)" = 0 ] && unshare -pf true 2>/dev/null || {
    echo 'skipped: a node that can be killed takes a namespace of its own: run this as root'
    exit 0
}
chmod 755 "$work" # munge wants to know that nobody else writes there
daemons=
lab=01-sequential

# Kills all started processes and their children.  There is nothing to save, and a node that is
# asked to end waits for ever for a controller that has ended before it.
end_all()
{
    for daemon in $daemons; do kill -9 "$daemon" 2>/dev/null; done
    wait
    rm -rf "$work"
}
trap end_all EXIT

# ---- a cluster
mkdir -m 700 "$work/munge"
mkdir "$work/state"
(umask 077 && head -c 64 /dev/urandom >"$work/munge/key")
port=$((20000 + $$ % 20000))
host=$(hostname)
export SLURM_CONF="$work/slurm.conf"
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/controller.pid
SlurmdPidFile=$work/%n.pid
SlurmctldLogFile=$work/controller.log
SlurmdLogFile=$work/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=2
SlurmctldTimeout=5
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2
PartitionName=all Nodes=one,two Default=YES State=UP
END
munged --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
    --log-file="$work/munge/log" \
    --seed-file="$work/munge/seed" --force --foreground >"$work/out" 2>&1 &
daemons="$daemons $!"
slurmctld -D >>"$work/out" 2>&1 &
daemons="$daemons $!"
slurmd -D -N one >>"$work/out" 2>&1 &
daemons="$daemons $!"
unshare -pf --mount-proc --kill-child slurmd -D -N two >>"$work/out" 2>&1 &
second=$!
daemons="$daemons $second"
tries=0
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] || [ $tries = 3000 ]; do
    sleep 0.2
    tries=$((tries + 1))
done
[ "$(sinfo -h -t idle -o %D)" = 2 ]
tell "a controller and two nodes"
[ $failed = 0 ] || exit 1

# ---- a class
mkdir "$work/nothing"
"$build/bin/grade" --build "$build" --lab 01 --engine sim --submission "$work/nothing" \
    --results "$work/form" >"$work/out" 2>&1
cat >"$work/grade" <<END
#!/bin/sh
while [ \$# -gt 1 ]; do
    case \$1 in --submission) folder=\$2 ;; --results) results=\$2 ;; --seed) seed=\$2 ;; esac
    shift 2
done
echo "\${SLURMD_NODENAME:-here}" >>"$work/nodes"
source=\$(cat "\$folder/$lab/conv.c")
points=\${source##* }
case \$source in
'dies once'*) [ -e "$work/died" ] || { : >"$work/died"; kill -9 \$\$; } ;;
'dies always'*) kill -9 \$\$ ;;
esac
[ -z "\${SLURMD_NODENAME:-}" ] || sleep 0.5
sed -e "s/^  \"points\": .*/  \"points\": \$points.0,/; s/^  \"seed\": .*/  \"seed\": \"\$seed\",/" \\
    -e 's/^  "status": .*/  "status": "graded",/' "$work/form/$lab.json" >"\$results/part" && mv "\$results/part" "\$results/$lab.json"
END
chmod +x "$work/grade"
hand_in()
{
    mkdir -p "$work/all/$1/$lab"
    echo "$2" >"$work/all/$1/$lab/conv.c"
}
i=0
while [ $i -lt 16 ]; do
    hand_in "student $i" "gets $((i * 6))"
    i=$((i + 1))
done
# shellcheck disable=SC2016  # a name that is a command
hand_in '$(touch ran)' 'gets 3'
hand_in frail 'dies once 55'
class()
{
    results=$1
    shift
    timeout 3000 "$build/bin/class" --build "$build" --submissions "$work/all" --lab 01 --seed 7 \
        --grade "$work/grade" \
        --results "$work/$results" "$@" >"$work/out" 2>&1
}
class here --engine sim --jobs 2 && [ -e "$work/died" ]
tell "on this machine"
rm -f "$work/died"
: >"$work/nodes"
class there --engine slurm &
child=$!
tries=0
until [ "$(grep -c two "$work/nodes")" -ge 3 ] || [ $tries = 200 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -9 $second
scontrol update nodename=two state=down reason=killed # it would find out itself, in half a minute
wait $child && [ "$(grep -c two "$work/nodes")" -ge 3 ] &&
    [ "$(grep -c one "$work/nodes")" -ge 3 ] && ! grep -q here "$work/nodes"
tell "on two nodes, one of which is killed half-way"
cmp "$work/here/gradebook.sqlite" "$work/there/gradebook.sqlite" >>"$work/out" && [ ! -e ran ]
tell "the same gradebook byte for byte"
hand_in dead 'dies always 5'
class there --engine slurm && grep -q '1 deferred' "$work/out"
tell "a job that dies twice is deferred"
class refused --engine slurm --sbatch '--partition=nowhere'
[ $? = 1 ] && [ "$(grep -c '^class: sbatch refuses: ' "$work/out")" = 1 ]
tell "what sbatch refuses is one line"
class refused --engine slurm-gpu
[ $? = 2 ] && grep -q "started with engine 'sim', not 'gpu'" "$work/out" &&
    class cards --engine slurm-gpu
[ $? = 1 ] && grep -q 'sbatch refuses: .*' "$work/out"
tell "a GPU for each job, although no node has one"
hand_in slow 'dies never 7'
sed -i 's/sleep 0.5/sleep 20/' "$work/grade"
class there --engine slurm &
child=$!
tries=0
until [ -n "$(squeue -h)" ] || [ $tries = 3000 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
# The class is the child of timeout, which hands the signal on.
kill -TERM "$(pgrep -P "$child" -x timeout || echo "$child")"
wait $child
tries=0
until [ -z "$(squeue -h)" ] || [ $tries = 3000 ]; do # also for completing jobs
    sleep 0.1
    tries=$((tries + 1))
done
[ -z "$(squeue -h -t PD,R)" ] && grep -q 'interrupted; the same command' "$work/out"
tell "an interrupted class takes its jobs back"
exit $failed
