# shellcheck shell=sh
# ticker.sh - progress line with the remaining time of a script on a terminal, as in grade and run;
# a script sources it:
#
#     ticker_begin BUILD WHAT ALL [FILE]     FILE: for parts of very different lengths, stores the
#                                            duration, from which the remaining time is computed
#                                            (text/ticker.h)
#     ... echo >&9 ...                       after each of ALL parts; other processes inherit the
#                                            descriptor
#     ticker_end
ticker_begin() {
    ticker_of=
    if [ ! -t 2 ]; then
        exec 9>/dev/null
        return
    fi
    _pipe=$1/ticker.$$
    mkfifo "$_pipe"
    "$1/bin/lab" ticker --what "$2" --all "$3" ${4:+--again "$4"} <"$_pipe" &
    ticker_of=$!
    exec 9>"$_pipe"
    rm "$_pipe"
}

ticker_end() {
    exec 9>&-
    [ ! "$ticker_of" ] || wait "$ticker_of"
}
