"""read_feedback.py PLATFORM ZIP DIR - opens a feedback archive and assigns each file to a person.

It does what the platform's importer does: Moodle's assignfeedback_file_zip_importer, Canvas's
infer_comment_context_from_filename.  Prints "assigned N" or what is wrong."""
import csv
import os
import re
import sys
import zipfile

platform, path, root = sys.argv[1:4]
archive = zipfile.ZipFile(path)
if archive.testzip():
    sys.exit("damaged: %s" % archive.testzip())
with open(os.path.join(root, platform + ".csv"), encoding="utf-8-sig", newline="") as file:
    roster = list(csv.DictReader(file))
seen = set()
for name in archive.namelist():
    if platform == "moodle":
        parts = name.split("/")[0].split("_", 4)
        if len(parts) < 4 or parts[2:4] != ["assignsubmission", "file"]:
            sys.exit("%s: no plugin" % name)
        number = parts[1]
        known = [row for row in roster if row["Identifier"] == "Participant " + number]
        person = known and known[0]["Full name"]
    else:
        numbers = [part for part in name.split("_") if re.fullmatch(r"\d+", part)][:2]
        number = numbers[0]
        known = [row for row in roster if row["ID"] == number]
        handed = [entry for entry in os.listdir(os.path.join(root, "canvas"))
                  if "_%s_%s_" % tuple(numbers) in entry]
        if not handed:
            sys.exit("%s: the attachment is not the user's" % name)
        person = known and known[0]["Student"]
    if len(known) != 1 or number in seen:
        sys.exit("%s: finds %d people" % (name, len(known)))
    seen.add(number)
    text = archive.read(name).decode("utf-8")
    title = re.search(r"<title>(.*?)</title>", text)[1]
    shown = title.replace("&#39;", "'").replace("&quot;", '"')
    if shown != person + ": feedback" or "points" not in text:
        sys.exit("%s: the page of '%s'" % (name, shown))
print("assigned %d" % len(seen))
