#!/bin/sh
# check.sh BUILD - tests names that are commands in some language.  Every target of make gets them
# in every variable, on the command line and by the environment: nothing in them may be executed,
# and a program gets them unchanged.
#
# The programs are stand-ins that write down what they are given, and nothing is built for them
# (MAKE=true).  At the end a folder with such a name is really graded.
# shellcheck disable=SC2015,SC2317  # conditions, not choices; functions that is_held calls
set -u
. autograder/tests/lib.sh
root=$(pwd)

# A root of its own: a command in a name leaves the file `ran` there.  It has the modules with
# scripts and one lab, because nothing is built here, and `make handout` reads every file for each
# name.
mkdir -p "$work/root/b/bin" "$work/root/b/tests/datasets"
cd "$work/root" || exit 1
mkdir docs labs solutions common common/apps common/simulator autograder autograder/tests autograder/tests/skeletons autograder/tests/attacks
for part in Makefile mk README.md docs/numbers labs/02-naive solutions/02-naive common/setup common/include common/apps/compare common/simulator/validation common/apps/serve \
    autograder/handout autograder/tests/skeletons/02-naive autograder/tests/attacks/10-exit-0; do
    ln -s "$root/$part" "$part"
done
cp "$build/toolchain.env" b/
cat >b/bin/grade <<END
#!/bin/sh
{ printf '<%s>' "\$@" | tr '\n' '~'; echo; } >>"$work/arguments"
END
for program in b/bin/lab b/bin/handout b/bin/class b/bin/export b/bin/doctor b/bin/load b/tests/datasets/tool_maps autograder/tests/run.sh; do cp b/bin/grade "$program"; done
echo "[ \"\$1\" != names ]" >>b/bin/lab # there is no such lab, or make watch would watch it
chmod +x b/bin/* b/tests/datasets/*

# Legal names of folders, a ~ for the end of a line.
cat >"$work/names" <<'END'
x';touch ran;'
x";touch ran;"
$(touch ran)
`touch ran`
$(shell touch ran)
${shell touch ran}
$$(touch ran)
$(eval $(shell touch ran))
'$(shell touch ran)'
x;touch ran
x&touch ran&
x|touch ran
>ran
x~touch ran~
x\';touch ran;'
two words
#x
*
END

# as_values NAME COMMAND...: runs the command with NAME as the value of every variable, on its
# command line.
as_values()
{
    name=$1
    shift
    "$@" SUBMISSION="$name" SUBMISSIONS="$name" RESULTS="$name" DEADLINE="$name" SBATCH="$name" ROSTER="$name" GRACE="$name" PENALTY="$name" COUNTS="$name" ATTEMPTS="$name" REGRADE="$name" SINCE="$name" ITEMS="$name" COURSE="$name" ANONYMOUS="$name" ENGINE="$name" GPU="$name" LAB="$name" CASE="$name" SHAPE="$name" MAPS="$name" WEIGHTS="$name" SEED="$name" \
        FAIL_UNDER="$name" NAME="$name" OPERATION="$name" SECONDS="$name" SAMPLE="$name" CLANG="$name" JOBS="$name" VERBOSE="$name" \
        PTX="$name" LONG="$name" QUICK="$name" FORMAT="$name" RESULTS="$name" GRADEBOOK="$name" OUT="$name" FROM="$name" PLATFORM="$name" CCACHE="$name" CUDA_INCLUDE="$name" CFLAGS="$name" \
        CPPFLAGS="$name" LDFLAGS="$name" LDLIBS="$name" WARN="$name" SANITIZE="$name" \
        SET="$name" DATA="$name" EPOCHS="$name" RESUME="$name" STOP="$name" CHECK="$name" WINDOW="$name" SOCKET="$name" QUEUE="$name" LIMIT="$name" MARGIN="$name" METRICS="$name" RATE="$name" CLIENTS="$name" EACH="$name" THREADS="$name" SHOW="$name" PROGRAM="$name" ARGS="$name" PROFILE="$name" ARCH="$name" NVCCFLAGS="$name" FILES="$name" MACHINE="$name" LOWER="$name" ANY_OTHER="$name"
}

# is_held HANDED NAME COMMAND...: nothing is executed, and HANDED programs got NAME as one argument.
is_held()
{
    handed=$1 name=$2
    shift 2
    rm -f ran "$work/arguments"
    : >"$work/arguments"
    "$@" >"$work/out" 2>&1 </dev/null
    if [ -e ran ]; then
        echo "executed a part of: $name" >>"$work/out"
        return 1
    fi
    [ "$handed" = 0 ] || [ "$(grep -cF -- "<$(printf '%s' "$name" | tr '\n' '~')>" "$work/arguments")" = "$handed" ] ||
        { echo "not handed on: $name" >>"$work/out"; return 1; }
}

# by_command_line TARGET..., by_environment TARGET...: one make for all of them, which continues
# after a failure.
by_command_line()
{
    as_values "$name" timeout 3000 make -k MAKE=true BUILD=b "$@"
}

by_environment()
{
    (
        as_values "$name" export
        timeout 3000 make -k MAKE=true BUILD=b "$@"
    )
}

# try HANDED TARGET...: every name.
try()
{
    wanted=$1
    shift
    while IFS= read -r line; do
        is_held "$wanted" "$(printf '%s.' "$line" | tr '~' '\n')" by_command_line "$@" &&
            is_held "$wanted" "$name" by_environment "$@" || return 1
    done <"$work/names"
}

# try_targets WHOLE TARGET...: together; after an error one by one, to find the target.
try_targets()
{
    whole=$1
    shift
    if try $((whole * $#)) "$@"; then
        for target; do echo "ok names/$target"; done
        return
    fi
    false
    tell "together: $*"
    for target; do
        try "$whole" "$target"
        tell "$target"
    done
}

# Each of the first targets runs one program with the name; of the others not all run one.
try_targets 1 grade class export run profile hint ladder reset solution keep maps
try_targets 0 help labs simulate datasets train serve load doctor bundle watch check mutate numbers new-lab variant bench compare fuzz sanitize validate handout update style test

# A lab in the student's folder, and make test names it.
mv labs kept
mkdir -p "labs/x';>ran;'"
: >"labs/x';>ran;'/lab.ini"
is_held 0 plain by_command_line test
tell a-lab-with-such-a-name
rm -rf labs
mv kept labs

# A missing compiler is reported once.
try_compilers()
{
    while IFS= read -r line; do
        is_held 0 "$line" timeout 3000 make MAKE=true BUILD=b setup NVCC="$line" && grep -q 'is not an nvcc of CUDA' "$work/out" || return 1
        for compiler in CC CXX; do
            is_held 0 "$line" timeout 3000 make MAKE=true BUILD=b setup "$compiler=$line" && grep -q "there is no compiler $compiler=" "$work/out" || return 1
        done
    done <"$work/names"
}
try_compilers
tell setup

# make reads the path that setup found.
folder="$work/\$(shell touch ran)"
mkdir -p "$folder" plain
printf '#!/bin/sh\nexec %s "$@"\n' "$(sed -n 's/^NVCC=//p' "$build/toolchain.env")" >"$folder/nvcc"
chmod +x "$folder/nvcc"
is_held 0 "$folder" timeout 3000 env NVCC="$folder/nvcc" sh common/setup/setup.sh plain && is_held 0 "$folder" timeout 3000 make MAKE=true BUILD=plain doctor &&
    is_held 0 "$folder" timeout 3000 make MAKE=true BUILD=b doctor NVCC="$folder/nvcc"
tell compiler-in-such-a-folder

# Build folders: only those without special characters, rejected with one line.
try_build_folders()
{
    while IFS= read -r line; do
        is_held 0 "$line" make MAKE=true help BUILD="$line" && [ "$(grep -c 'BUILD is a path of letters' "$work/out")" = 1 ] &&
            is_held 0 "$line" make MAKE=true clean BUILD="$line" && is_held 0 "$line" env BUILD="$line" make help || return 1
    done <"$work/names"
}
try_build_folders
tell build-folder

# Without fakes: graded like any other, with make and all of its stages.
cd "$root" || exit 1
folder=$(printf '%s/%s\n%s' "$work" "x';touch ran;'\$(shell touch ran)\"\`touch ran\`" 'two words')
mkdir -p "$folder"
cp -r autograder/tests/skeletons/02-naive "$folder/"
rm -f ran
make BUILD="${build#"$root"/}" grade LAB=02 ENGINE=sim SUBMISSION="$folder" >"$work/out" 2>&1 &&
    tail -n 1 "$work/out" | grep -q '^total  0/100 points$' && grep -q 'TODO(3)' "$work/out" && [ ! -e ran ]
tell graded-in-earnest
rm -f ran

exit $failed
