# shellcheck shell=sh
# ticker.sh - progress of a script with the remaining time (text/ticker.h).  A terminal shows one
# line, as in grade and run; a file or a pipe gets one line every ten seconds.  A script sources it:
#
#     ticker_begin BUILD WHAT ALL [FILE]     FILE: for parts of very different lengths, stores the
#                                            duration, from which the remaining time is computed
#                                            (text/ticker.h)
#     ... echo >&9 ...                       after each of ALL parts; other processes inherit the
#                                            descriptor
#     ticker_end
ticker_begin() {
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
