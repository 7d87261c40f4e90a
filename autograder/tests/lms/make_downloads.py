"""make_downloads.py DIR - writes 64 entries as Canvas and Moodle deliver them.

The downloads are DIR/canvas and DIR/moodle.  The rosters are canvas.csv and moodle.csv.
The file expected.tsv has a line per entry: its points, or a part of the reason why it is not graded.

The lab is 01-sequential; its source "gets N" earns N points from the test's grader."""
import io
import os
import struct
import sys
import tarfile
import zipfile
import zlib

root = sys.argv[1]
expected = []


def put(path, text):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def source(points):
    return "gets %d\n" % points


def zip_of(**files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_c", ".c"), text)
    return data.getvalue()


def tar_of(name, text):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


def rar_of(name, text):
    """One stored file, RAR 4 (technote.txt of unrar); a block's CRC is half of its CRC-32."""
    body, path = text.encode(), name.encode()

    def block(kind, flags, rest):
        head = struct.pack("<BHH", kind, flags, 7 + len(rest)) + rest
        return struct.pack("<H", zlib.crc32(head) & 0xFFFF) + head

    file = struct.pack("<IIBIIBBHI", len(body), len(body), 3, zlib.crc32(body), 0x5A000000, 20,
                       0x30, len(path), 0o100644) + path
    return b"Rar!\x1a\x07\x00" + block(0x73, 0, bytes(6)) + block(0x74, 0x8000, file) + body


def sevenzip_of(name, text):
    """One stored file (7zFormat.txt), all numbers below 128."""
    body = text.encode()
    path = name.encode("utf-16-le") + b"\0\0"
    crc = struct.pack("<I", zlib.crc32(body))
    size = bytes([len(body)])
    streams = (b"\x06\x00\x01\x09" + size + b"\x00" + b"\x07\x0b\x01\x00\x01\x01\x00\x0c" + size
               + b"\x0a\x01" + crc + b"\x00" + b"\x08\x00")
    names = b"\x05\x01\x11" + bytes([len(path) + 1]) + b"\x00" + path + b"\x00"
    header = b"\x01\x04" + streams + b"\x00" + names + b"\x00"
    start = struct.pack("<QQI", len(body), len(header), zlib.crc32(header))
    check = struct.pack("<I", zlib.crc32(start))
    return b"7z\xbc\xaf\x27\x1c\x00\x04" + check + start + body + header


def entry(platform, name, outcome, text=None):
    if text is not None:
        put(platform + "/" + name, text)
    expected.append((platform, name, str(outcome)))


# ---- Canvas: sortable names, the user's ID, the attachment's ID, the file's name -----------------
canvas_people = []


def canvas(number, name, login, sortable, *files, late=False):
    """files: (name, content, outcome)."""
    canvas_people.append((sortable, 1000 + number, "S%04d" % number, login))
    for at, (file, text, outcome) in enumerate(files):
        prefix = "%s_%s%d_%d_" % (name, "LATE_" if late else "", 1000 + number,
                                  70000 + 10 * number + at)
        entry("canvas", prefix + file, outcome, text)


for i in range(8):
    canvas(i, "lastname" + "abcdefgh"[i] + "first", "user%d" % i,
           "Lastname%s, First" % "abcdefgh"[i], ("conv.c", source(50 + i), 50 + i),
           ("predict.ini", "[answer]\n", 50 + i))
canvas(10, "leelate", "late.lee", "Lee, Late", ("conv.c", source(60), 60), late=True)
canvas(11, "copybrowser", "copy1", "Copy, Browser", ("conv (1).c", source(61), 61))
canvas(12, "copycanvas", "copy2", "Copy, Canvas", ("conv-1.c", source(62), 62))
canvas(13, "twocopies", "copy3", "Two, Copies", ("conv-1.c", source(1), "which of the two counts"),
       ("conv-2.c", source(2), "which of the two counts"))
canvas(14, "zipper", "zip", "Zipper", ("work.zip", zip_of(conv_c=source(64)), 64))
canvas(15, "roshal", "rar", "Roshal", ("work.rar", rar_of("conv.c", source(65)), 65))
canvas(16, "pavlov", "7z", "Pavlov", ("work-3.7z", sevenzip_of("conv.c", source(66)), 66))
canvas(17, "broken", "broken", "Broken",
       ("work.zip", b"PK, and nothing more", "the archive is broken"))
canvas(18, "report", "report", "Report", ("report.pdf", b"%PDF", "not a file of the lab"))
canvas(19, "sourceandreport", "both", "Source, And Report", ("conv.c", source(69), 69),
       ("report, final.pdf", b"%PDF", "not a file of the lab"),
       ("conv-1.c", source(1), "the file with the lab's own name counts"))
canvas(20, "ünalzoë", "zoe", "Ünal, Zoë", ("conv.c", source(70), 70))
canvas(21, "tarlate", "tar", "Tar, Late",
       ("all.tar.gz", tar_of("01-sequential/conv.c", source(71)), 71), late=True)
for number, name, kind in ((22, "typed", "text"), (23, "linked", "link")):
    canvas_people.append((name.title(), 1000 + number, "S%04d" % number, name))
    entry("canvas", "%s_%d_%s.html" % (name, 1000 + number, kind), "Canvas's form", "<p>here</p>")
canvas_people.append(("Absent, \"Abe\"", 1030, "S0030", "abe"))
entry("canvas", "notes from me.txt", "does not say whose it is", "x")

# ---- Moodle: full names, the participant's number ------------------------------------------------
moodle_people = []


def moodle(number, name, email, group="", extension="", submitted=""):
    moodle_people.append((4700 + number, name, email, group, extension, submitted))
    return "%s_%d_assignsubmission_file" % (name, 4700 + number)


for i in range(6):
    prefix = moodle(i, "Flat Person%s" % "ABCDEF"[i], "flat%d@uni.example" % i)
    entry("moodle", prefix + "_conv.c", 30 + i, source(30 + i))
    entry("moodle", prefix + "_predict.ini", 30 + i, "[answer]\n")
for i, name in enumerate(["José Núñez", "李 小龍", "O'Neil, \"Bob\"", "Ann-Marie de la Cruz"]):
    prefix = moodle(10 + i, name, "folder%d@uni.example" % i)
    put("moodle/%s/conv.c" % prefix, source(40 + i))
    entry("moodle", prefix, 40 + i)
prefix = moodle(14, "Old Folder", "old@uni.example") + "_"
put("moodle/%s/conv (2).c" % prefix, source(44))
entry("moodle", prefix, 44)
prefix = moodle(15, "Zip Folder", "zip@uni.example")
put("moodle/%s/my work.zip" % prefix, zip_of(deep__conv_c=source(45)))
put("moodle/%s/readme.pdf" % prefix, b"%PDF")
entry("moodle", prefix, 45)
prefix = moodle(16, "Other Files", "empty@uni.example")
put("moodle/%s/notes.txt" % prefix, "x")
put("moodle/%s/conv.c.txt" % prefix, source(46))
entry("moodle", prefix, "holds no source of 01-sequential; it has conv.c.txt")
prefix = moodle(17, "Only Text", "text@uni.example")
text_folder = prefix.replace("_file", "_onlinetext")
put("moodle/%s/onlinetext.html" % text_folder, "<p>int main</p>")
entry("moodle", text_folder, "typed into Moodle")
prefix = moodle(18, "Text And File", "textfile@uni.example")
entry("moodle", prefix.replace("_file", "_onlinetext") + ".html", "typed into Moodle",
      "<p>see file</p>")
entry("moodle", prefix + "_conv.c", 48, source(48))
prefix = moodle(19, "Same Name", "same1@uni.example")
entry("moodle", prefix + "_conv.c", 49, source(49))
prefix = moodle(20, "Same Name", "same2@uni.example")
entry("moodle", prefix + "_conv.c", 20, source(20))
prefix = moodle(21, "Evil Zip", "evil@uni.example")
entry("moodle", prefix + "_work.zip", "path outside itself",
      zip_of(**{"..__..__conv_c": source(99)}))
prefix = moodle(22, "Link Maker", "link@uni.example")
os.symlink("/etc/passwd", os.path.join(root, "moodle", prefix))
entry("moodle", prefix, "symbolic link")
prefix = moodle(23, "Pair One", "pair1@uni.example", "Pair")
entry("moodle", prefix + "_conv.c", 77, source(77))
moodle(24, "Pair Two", "pair2@uni.example", "Pair")
moodle(25, "Nobody There", "nobody@uni.example")
prefix = moodle(26, "Late Lia", "lia@uni.example", submitted="Saturday, 3 October 2026, 11:30 AM")
entry("moodle", prefix + "_conv.c", 80, source(80))
prefix = moodle(27, "Longer Lou", "lou@uni.example", extension="3d",
                submitted="Saturday, 3 October 2026, 11:30 AM")
entry("moodle", prefix + "_conv.c", 80, source(80))
prefix = moodle(28, "Grace Period", "grace@uni.example",
                submitted="Thursday, 1 October 2026, 12:10 PM")
entry("moodle", prefix + "_conv.c", 80, source(80))
put("moodle/.DS_Store", b"\0")

# ---- rosters -------------------------------------------------------------------------------------
import csv

with open(os.path.join(root, "canvas.csv"), "w", encoding="utf-8-sig", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 1 (5501)"])
    rows.writerow(["    Points Possible", "", "", "", "", "100"])
    for person in canvas_people:
        rows.writerow(list(person) + ["Section 1", ""])
    rows.writerow(["Student, Test", "1999", "", "", "Section 1", ""])
with open(os.path.join(root, "moodle.csv"), "w", encoding="utf-8", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["Identifier", "Full name", "Email address", "Groups", "Extension",
                   "Last modified (submission)"])
    for person in moodle_people:
        rows.writerow(["Participant %d" % person[0]] + list(person[1:5]) + [person[5] or "-"])
with open(os.path.join(root, "expected.tsv"), "w", encoding="utf-8") as file:
    for row in expected:
        file.write("\t".join(row) + "\n")
