"""account.py PLATFORM DIR RESULTS - checks that each entry of a download is accounted for.

Either it is a graded submission with its points, or summary.txt, class.html and gradebook.sqlite
list it with the reason that DIR/expected.tsv expects.  Prints "accounted N" or what is wrong."""
import html
import os
import re
import sqlite3
import sys

platform, root, results = sys.argv[1:4]
wrong = []
with open(os.path.join(root, "expected.tsv"), encoding="utf-8") as file:
    expected = {entry: outcome for where, entry, outcome in
                (line.rstrip("\n").split("\t") for line in file) if where == platform}
book = sqlite3.connect(os.path.join(results, "gradebook.sqlite"))
graded = {row[0]: row[1] for row in book.execute(
    "SELECT submission, points FROM result WHERE status = 'graded'")}
ungraded = dict(book.execute("SELECT path, reason FROM entry"))
with open(os.path.join(results, "summary.txt"), encoding="utf-8") as file:
    summary = re.sub(r"\s+", " ", file.read())
with open(os.path.join(results, "class.html"), encoding="utf-8") as file:
    page = html.unescape(file.read())
listed = {name for name in os.listdir(os.path.join(root, platform)) if not name.startswith(".")}
if listed != set(expected):
    wrong.append("entries without an expectation: %s" % (listed ^ set(expected)))


def group(entry):
    """The student's part of a loose file's name."""
    found = re.match(r"(.*_\d+)_assignsubmission_file|([^_]+_(?:LATE_)?\d+)_\d+_", entry)
    return found and (found[1] or found[2])


for entry, outcome in expected.items():
    if outcome.isdigit():
        points = [graded[one] for one in graded if one.split("/")[0] == entry
                  or (group(entry) and group(one) == group(entry))]
        if float(outcome) not in points:
            wrong.append("%s: graded with %s, not %s" % (entry, points, outcome))
    else:
        flat = re.sub(r"\s+", " ", entry)
        if outcome not in ungraded.get(entry, ""):
            wrong.append("%s: the gradebook's reason is '%s'" % (entry, ungraded.get(entry)))
        elif flat not in summary or entry not in page:
            wrong.append("%s: not in summary.txt or class.html" % entry)
for entry in ungraded:
    if entry.split("/")[0] not in expected:
        wrong.append("%s: listed, but no entry" % entry)
print("\n".join(wrong) or "accounted %d" % len(expected))
sys.exit(bool(wrong))
