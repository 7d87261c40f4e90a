#!/bin/sh
# annotate.sh github|gitlab FOLDER - findings of all SARIF files in FOLDER, without suppressed ones:
# as commands of GitHub Actions on stdout, or as a Code Quality report of GitLab on stdout.
#
# The exit status is 1 if one of them is an error.
set -eu
format=${1:?usage: annotate.sh github\|gitlab FOLDER}
folder=${2:?usage: annotate.sh github\|gitlab FOLDER}
all=$(find "$folder" -name '*.sarif' -exec cat {} +)
results='[.[].runs[].results[] | select(has("suppressions") | not)]
    | group_by([.ruleId, .message.text, .locations]) | map(.[0])'
case $format in
github)
    # The characters that end a command or one of its properties are written in hexadecimal.
    printf '%s' "$all" | jq -rs "$results"' | .[]
        | (.locations[0].physicalLocation // {}) as $at
        | def text: gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A");
          def property: text | gsub(":"; "%3A") | gsub(","; "%2C");
        "::\(.level) \(if $at.artifactLocation then "file=\($at.artifactLocation.uri | property),line=\($at.region.startLine)," else "" end)title=\(.ruleId | property)::\(.message.text | text)"'
    ;;
gitlab)
    printf '%s' "$all" | jq -s "$results"' | map(
        (.locations[0].physicalLocation // {artifactLocation: {uri: "unknown"}, region: {startLine: 1}}) as $at
        | {description: .message.text, check_name: .ruleId,
           fingerprint: ([.ruleId, $at.artifactLocation.uri, $at.region.startLine] | tostring | @base64),
           severity: (if .level == "error" then "critical" else "minor" end),
           location: {path: $at.artifactLocation.uri, lines: {begin: $at.region.startLine}}})'
    ;;
*)
    echo "annotate: the format is github or gitlab, not '$format'" >&2
    exit 2
    ;;
esac
printf '%s' "$all" | jq -es "$results"' | all(.[]; .level != "error")' >/dev/null
