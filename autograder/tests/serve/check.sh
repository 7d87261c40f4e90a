#!/bin/sh
# check.sh BUILD - tests make serve and make load on the simulator, with LeNet-5: answers are
# correct, excess load is rejected, every request has an outcome, and a killed process does not
# affect the others.
# shellcheck disable=SC2015  # conditions, not choices
set -u
. autograder/tests/lib.sh
server=
trap 'kill -9 $server 2>/dev/null; rm -rf "$work"' EXIT

# serve WORD=VALUE ...: starts LeNet-5 at $work/socket in the background; returns when it answers.
serve() {
    env SOCKET="$work/socket" SUBMISSION=solutions CASE=lenet BATCH=4 QUEUE=16 "$@" sh \
        common/apps/serve/serve.sh "$build" 16 sim >"$work/server" 2>&1 &
    server=$!
    for _ in $(seq 6000); do
        ! grep -q ' at /' "$work/server" || return 0
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    cat "$work/server" >>"$work/err"
    return 1
}
load() { timeout 3000 "$build/bin/load" SOCKET="$work/socket" "$@" >"$work/out" 2>"$work/err"; }
# count METRIC: its value at the server.
count() { "$build/bin/load" SOCKET="$work/socket" SHOW=metrics | sed -n "s/^$1 //p"; }
# ended STATUS PROCESS: it ends within a minute, with that status.
ended() {
    for _ in $(seq 6000); do
        kill -0 "$2" 2>/dev/null || break
        sleep 0.1
    done
    ! kill -0 "$2" 2>/dev/null || return 1
    status=0
    wait "$2" 2>/dev/null || status=$?
    [ "$status" = "$1" ]
}

serve && load RATE=40 SECONDS=1 CHECK=1 &&
    grep -q 'answers to 8 inputs, all within the oracle' "$work/out" &&
    grep -q 'the server counted the same: [1-9][0-9]* requests' "$work/out"
tell answers-are-right-and-counted
load CLIENTS=3 EACH=2 SECONDS=1 CHECK=1 && grep -q 'all within the oracle' "$work/out" &&
    [ "$(count 'serve_batch_requests_bucket{le="1"}')" -lt "$(count serve_batch_requests_count)" ]
tell whole-batches-are-right-too
load RATE=4000 SECONDS=1 && grep -q ' full [1-9]' "$work/out" &&
    grep -q 'lost 0, unanswered 0' "$work/out" && grep -q 'the server counted the same' "$work/out"
tell too-much-is-refused-and-nothing-lost

# The generator is killed: its requests are dropped, and the next generator's are answered.
"$build/bin/load" SOCKET="$work/socket" CLIENTS=4 EACH=4 SECONDS=60 >"$work/out" 2>&1 &
generator=$!
for _ in $(seq 6000); do [ "$(count serve_connections)" -le 4 ] || break; sleep 0.05; done
kill -9 $generator
ended 137 $generator && load RATE=40 SECONDS=1 && grep -q 'lost 0, unanswered 0' "$work/out"
tell a-killed-generator

# The server is killed under load: the generator ends and reports its lost requests; the next server
# reuses the socket.
"$build/bin/load" SOCKET="$work/socket" CLIENTS=4 EACH=4 SECONDS=60 >"$work/out" 2>"$work/err" &
generator=$!
for _ in $(seq 6000); do [ "$(count serve_connections)" -le 4 ] || break; sleep 0.05; done
kill -9 $server
ended 137 $server && ended 1 $generator &&
    grep -q '^load: 16 requests were lost with their connection, 0 not answered$' "$work/err" &&
    [ -S "$work/socket" ]
tell a-killed-server
serve LIMIT=600000 && load RATE=40 SECONDS=1 CHECK=1 && load SHOW=model &&
    grep -qx 'limit 600000000000' "$work/out"
tell the-next-server

# Stopped under load: 0, and its generator does not hang.
"$build/bin/load" SOCKET="$work/socket" CLIENTS=4 EACH=4 SECONDS=60 >"$work/out" 2>"$work/err" &
generator=$!
for _ in $(seq 6000); do [ "$(count serve_connections)" -le 4 ] || break; sleep 0.05; done
kill -TERM $server
ended 0 $server && [ ! -e "$work/socket" ] && for _ in $(seq 6000); do kill -0 $generator 2>/dev/null || break; sleep 0.1; done && ! kill -0 $generator 2>/dev/null
tell a-stop-under-load
kill -9 $generator 2>/dev/null

# An invalid setting is reported in one line.
refused() { [ "$(wc -l <"$work/err")" = 1 ] && grep -q -- "$1" "$work/err"; }
wrong() { env SOCKET="$work/socket" "$@" >"$work/out" 2>"$work/err"; }
! load && refused 'no server listens at .*make serve'
tell nobody-there
! load RATE=fast && refused "RATE is requests a second from 0 to 1e+08, not 'fast'"
tell a-rate-that-is-no-number
! wrong SUBMISSION=solutions CASE=lenet LIMIT=0.6 BATCH=1 sh common/apps/serve/serve.sh "$build" 16 \
    sim && refused 'one image alone takes .* LIMIT=.* is the least'
tell a-limit-that-cannot-be-kept
! wrong SUBMISSION=solutions CASE=lenet LIMIT=soon sh common/apps/serve/serve.sh "$build" 16 sim &&
    refused "LIMIT is milliseconds from 0.01 to 1e+06, not 'soon'"
tell a-limit-that-is-no-number
! wrong CASE=no-such sh common/apps/serve/serve.sh "$build" 16 sim && refused "no case 'no-such'"
tell no-such-case
! wrong sh common/apps/serve/serve.sh "$build" 01 sim && refused 'runs on the CPU'
tell a-lab-without-kernels
! wrong sh common/apps/serve/serve.sh "$build" 16 abacus && refused "not 'abacus'"
tell no-such-engine
! wrong SUBMISSION=/nowhere sh common/apps/serve/serve.sh "$build" 16 sim &&
    refused 'there is no /nowhere/16-layers/conv.cu'
tell no-such-kernels
exit "$failed"
