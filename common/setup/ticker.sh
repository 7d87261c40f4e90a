# shellcheck shell=sh
# ticker.sh - the progress of a script with time left, on a terminal, by the ticker that grade and
# run have; a script sources it:
#
#     ticker_begin BUILD WHAT ALL [FILE]     FILE: parts differ much, so the time left is what it
#     took the last time (text/ticker.h) ... echo >&9 ...                       in each of ALL parts
#     that is done; other processes inherit the descriptor ticker_end
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
