#!/bin/sh
# commit_message.sh FILE - checks one commit message by rule 15 of docs/style/guide.md: an imperative
# subject of at most 72 characters, a blank line, a body.  It reports each violation on standard
# error and then exits with 1.  As a git hook it checks a message before git accepts it:
#   ln -s ../../common/setup/commit_message.sh .git/hooks/commit-msg
set -eu
export LC_ALL=C.UTF-8 # characters, not bytes
file=${1:?usage: commit_message.sh FILE}
failed=0

wrong()
{
    echo "commit message: $*" >&2
    failed=1
}

# The message without the lines that git removes.
message=$(sed '/^# -* >8 -*$/,$d; /^#/d' "$file")
subject=$(printf '%s\n' "$message" | sed -n 1p)
first=${subject%%[ :]*}

case $subject in
'Merge '* | 'Revert "'*) exit 0 ;; # git writes these messages
'fixup! '* | 'squash! '*) exit 0 ;; # rebase --autosquash removes these commits
esac
length=$(printf '%s' "$subject" | wc -m)
[ "$length" -le 72 ] || wrong "the subject has $length characters; at most 72 are allowed: $subject"
case $first in
Address | Bypass | Compress | Cross | Discuss | Embed | Express | Feed | Focus | Guess | Need | Pass | \
    Press | Proceed | Process | Seed | Speed | Stress | Suppress | String | Bring) ;;
A | All | An | As | At | By | For | How | If | In | It | Its | New | No | Nothing | Of | On | One | Some | \
    That | The | There | This | To | What | When | Where | Who | With | \
    *ed | *ing | *s) wrong "the subject starts with \"$first\", not with a verb in the imperative: $subject" ;;
[A-Z][a-z]*) ;;
*) wrong "the subject starts with \"$first\", not with a capital letter: $subject" ;;
esac
case $subject in
*.) wrong "the subject ends with a full stop: $subject" ;;
esac
[ -z "$(printf '%s\n' "$message" | sed -n 2p)" ] || wrong "the second line is not blank: $subject"
printf '%s\n' "$message" | sed 1,2d | grep -v '^[A-Z][A-Za-z-]*-by: ' | grep -q '[[:alpha:]]' ||
    wrong "no body with the reason and the measurement: $subject"
exit $failed
