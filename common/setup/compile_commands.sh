#!/bin/sh
# compile_commands.sh BUILD [FILE] - compile_commands.json with the commands of FILE, a JSON list,
# and one entry for the source of each lab, with nvcc's or the C compiler's options.
set -eu
build=${1:?usage: compile_commands.sh BUILD [FILE]}
others=${2:-}
command -v jq >/dev/null || { echo 'compile-commands: no jq: sudo apt-get install jq' >&2; exit 1; }
tool()
{
    sed -n "s/^$1=//p" "$build/toolchain.env"
}
for ini in labs/*/lab.ini; do
    folder=${ini%/lab.ini}
    source=$folder/$(sed -n 's/^source *= *//p' "$ini")
    case $source in
    *.cu) set -- "$(tool NVCC)" -std=c++17 -ccbin "$(tool CXX)" ;;
    *) set -- "$(tool CC)" -std=c11 ;;
    esac
    jq -n --arg directory "$PWD" --arg file "$source" '{directory: $directory, file: $file,
        arguments: ($ARGS.positional + ["-Icommon/include", "-I.", "-c", $file])}' --args -- "$@"
done | jq -s . >compile_commands.json.labs
jq -s add ${others:+"$others"} compile_commands.json.labs >compile_commands.json.part
rm -f compile_commands.json.labs
mv compile_commands.json.part compile_commands.json
echo "wrote compile_commands.json: $(jq length compile_commands.json) sources"
