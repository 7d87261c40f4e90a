#!/bin/sh
# check.sh BUILD - make debug: recorded sessions are reproduced exactly, and bad input gives one
# clear line.
#
# sessions/NAME starts with "# KEY=value ..." (PROGRAM, ARGS, LAB, CASE, SUBMISSION); what follows
# is what the terminal showed.  Its lines "(debug) COMMAND" are the commands.
set -u
. autograder/tests/lib.sh
here=autograder/tests/debug
mkdir "$work/build"
for link in "$build"/*; do ln -s "$link" "$work/build/"; done
rm -f "$work/build/debug"
build=$work/build

# session FILE: the transcript of its commands, into $work/out.
session() {
    sed -n 's/^(debug) //p' "$1" >"$work/commands"
    # shellcheck disable=SC2046
    (
        unset LAB PROGRAM ARGS CASE SHAPE SUBMISSION
        eval "export $(sed -n '1s/^# //p' "$1")"
        COMMANDS=$work/commands sh common/setup/debug.sh "$build" "${LAB:-}" "${PROGRAM:-}" "${ARGS:-}"
    ) >"$work/out" 2>"$work/err"
}

# commands PROGRAM ARGS <commands: what the debugger says, into $work/out.
commands() {
    cat >"$work/commands"
    COMMANDS=$work/commands sh common/setup/debug.sh "$build" '' "$1" "${2:-}" >"$work/out" 2>"$work/err"
}
says() { grep -qF -- "$1" "$work/out"; }

# The mistake of lab 04 that docs/student/debug.md finds.
mkdir -p "$work/mistake/04-tiled"
sed 's/bool inside = ih >= 0 /bool inside = ih > 0 /' solutions/04-tiled/conv.cu >"$work/mistake/04-tiled/conv.cu"
! cmp -s solutions/04-tiled/conv.cu "$work/mistake/04-tiled/conv.cu"
tell a-mistake-can-be-planted
sed -n '/<!-- recorded session/,/<!-- end of recorded session/p' docs/student/debug.md | sed '1,3d' | head -n -3 >"$work/page"
sed 1d "$here/sessions/lab-04-border" | diff -u - "$work/page" >"$work/differ"
tell the-page-shows-a-recorded-session
mkdir "$work/pictures"
python3 $here/pictures.py "$work/pictures" && (
    for picture in "$work"/pictures/*; do cmp "$picture" "docs/figures/$(basename "$picture")" || exit 1; done
) >"$work/said" 2>&1
tell the-pictures-show-the-recorded-session

for file in "$here"/sessions/*; do
    session "$file"
    sed 1d "$file" | diff -u - "$work/out" >"$work/differ"
    tell "session-$(basename "$file")"
done

# A handout shows parts of a session, without the lines that would be a solution.
for page in labs/*/README.md; do
    sed -n 's/^<!-- recorded session \(.*\) -->$/\1/p' "$page" >"$work/names"
    while read -r shown; do
        sed -n "/<!-- recorded session $shown -->/,/<!-- end of recorded session/p" "$page" |
            sed '1,3d' | head -n -3 >"$work/page"
        sed 's/ *$//' "$here/sessions/$shown" | diff "$work/page" - >"$work/differ"
        [ -s "$work/page" ] && ! grep '^<' "$work/differ"
        tell "$(basename "$(dirname "$page")")-shows-$shown"
    done <"$work/names"
done
rm -f "$work/differ"

commands $here/programs/first.cu <<'END' && says 'Line 9 has no code of a kernel' &&
break 18 if threadIdx.x ==
break 18 if nothing == 1
break 9
break 400
break nowhere
break
frobnicate
print
delete 2
run
END
    says 'an expression is expected' && says 'No line 400 in file' &&
    says 'Function "nowhere" not defined in device code.' && says 'Undefined command: "frobnicate".' &&
    says 'No symbol "nothing" in current context.'
tell bad-input-is-answered-by-a-line
# Random sequences of steps forward and backward: the same moment has the same state, bit for bit.
for walk in halo:18 phase:96 barrier:45 gradient:134 stale:109; do
    { printf 'break %s\nbreak %s\nrun\ninfo state\n' "${walk#*:}" "${walk%:*}"
      python3 $here/random_walks.py 1 "${WALKS:-20}" 10; } |
        commands $here/programs/faults.cu "${walk%:*}"
    python3 $here/random_walks.py check <"$work/out" >"$work/said"
    tell "walks-return-to-the-same-state-${walk%:*}"
done

: | COMMANDS='' sh common/setup/debug.sh "$build" '' $here/programs/none.cu >"$work/out" 2>&1
[ $? = 2 ] && says 'debug: there is no file'
tell no-such-program

# A project that simnvcc -G builds: it runs as usual, in the debugger, and with gdb on its host code.
if [ -x "$build/bin/simnvcc" ]; then
    cat >"$work/part.cu" <<'END'
__global__ void twice(float *x)
{
    float v = x[threadIdx.x];
    x[threadIdx.x] = 2 * v;
}
void twice_all(float *x) { twice<<<1, 32>>>(x); }
END
    cat >"$work/main.cu" <<'END'
#include <cstdio>
void twice_all(float *x);
int main(int argc, char **)
{
    float h[32] = {3}, *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    twice_all(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    printf("%g of %d\n", h[0], argc);
}
END
    (cd "$work" && "$(realpath "$build")/bin/simnvcc" -G -g -o app main.cu part.cu) >"$work/said" 2>&1 &&
        "$work/app" one two >"$work/out" 2>"$work/err" && says '6 of 3' && grep -q 'simulated h200' "$work/err"
    tell a-program-of-simnvcc-G-runs-without-the-debugger
    commands "$work/app" 'one two' <<'END' && says 'twice<<<(1,1,1),(32,1,1)>>>' && says "\$1 = 3" && says '6 of 3'
break part.cu:4
run
print v
reverse-step
continue
continue
END
    tell a-program-of-simnvcc-G-in-the-debugger
    if gdb -batch -ex run true 2>&1 | grep -q 'exited normally'; then # not in a container without ptrace
        printf 'break part.cu:4\nrun\nprint v\ncontinue\n' >"$work/commands"
        SIMCUDA_DEBUG=1 DEBUG_COMMANDS=$work/commands gdb -batch -ex 'break twice_all' -ex run -ex 'up' -ex 'print argc' \
            -ex continue "$work/app" >"$work/out" 2>&1 && says "\$1 = 1" && says "\$1 = 3" && says '6 of 1'
        tell gdb-and-the-debugger-in-one-program
    fi
fi
commands /bin/sh </dev/null
grep -q 'compile and link it with simnvcc -G' "$work/err"
tell a-program-without-the-debugger-is-refused

# Every message is validated against the protocol's schema.
if python3 -c 'import jsonschema' 2>/dev/null && [ -x "$build/bin/debug" ]; then
    BUILD=$build timeout 3000 python3 $here/dap_session.py "$build/bin/debug" $here/programs/first.cu || failed=1
else
    echo "# the protocol is not tested: it needs python3-jsonschema and build/bin/debug"
fi

# Third-party clients, where they are installed.
if [ -x "$build/bin/debug" ] && python3 -c 'import dap' 2>/dev/null; then
    BUILD=$build timeout 300 python3 $here/client_python.py "$build/bin/debug" $here/programs/first.cu >"$work/said" 2>&1
    tell dap-python-drives-a-session
fi
if [ -x "$build/bin/debug" ] && [ -d "${NVIM_DAP:-}" ]; then
    BUILD=$build PROGRAM=$here/programs/first.cu timeout 300 nvim --headless -u NONE --cmd "set rtp+=$NVIM_DAP" \
        -c "luafile $here/client_nvim.lua" >"$work/said" 2>&1
    tell nvim-dap-drives-a-session
fi
exit $failed
