"""The chapters of the book, as `make book` and its test read them.

    python3 book/pages.py            says what is wrong with them, a line each
    python3 book/pages.py OUT        and leaves their text in OUT, code included

index.md lists the chapters.  Most are in docs/ and labs/, and are readable there.  The book changes
two things: a link to a file that is no chapter becomes the file's path, and a lab's chapter ends
with the TODO regions of its skeleton.
"""
import argparse
import glob
import os
import re
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

INDEX = "book/index.md"
# Pages of docs/ for instructors and for who works on the workbook.
LEFT_OUT = {
    "architecture", "class", "containers", "contributing", "corrections", "decisions",
    "explanations", "export", "guide", "instructor", "lab-ini", "result-record", "security",
    "trials", "variants", "verification", "writing-a-lab",
    "cheng",  # has the value of a prediction of lab 06
}

LINK = re.compile(r"(!?)\[([^\]\[]*)\]\(([^)# ]*)(#[^) ]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
TOC = re.compile(r"^```\{toctree\}\n(.*?)^```", re.M | re.S)
INCLUDE = re.compile(r"^```\{literalinclude\} (\S+)\n(.*?)^```", re.M | re.S)
TERM = re.compile(r"^\| ([^|]+) \|", re.M)


def read(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def found(pattern):
    """The paths from the root that a pattern matches."""
    return sorted(glob.glob(pattern, root_dir=root))


def beside(page, target):
    """The path of what `page` calls `target`."""
    return os.path.normpath(os.path.join(os.path.dirname(page), target))


def chapters():
    """Their paths from the root, index.md first, in the book's order."""
    listed = [INDEX]
    for block in TOC.findall(read(INDEX)):
        for entry in block.split("\n"):
            if entry and not entry.startswith(":"):
                pattern = beside(INDEX, entry) + ".md"
                listed += found(pattern) if "*" in pattern else [pattern]
    return listed


def headings(text):
    """The anchors of a page, as GitHub and MyST name them."""
    lines = re.findall(r"^#+ (.*)", FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", line.strip().lower()).replace(" ", "-") for line in lines}


def with_links(page, text, book, anchors):
    """The text with links to chapters only; another file's path follows the words.

    Without `anchors` they lead to where a chapter begins: on paper all chapters are one page, and
    several have a heading of that name."""
    def link(match):
        image, words, target, anchor = match.groups()
        path = beside(page, target)
        if image or "://" in target or not target:
            return match.group()
        if path in book:
            return match.group() if anchors else f"[{words}]({target})"
        return words if os.path.basename(path) in words else f"{words} (`{path}`)"
    parts = re.split(f"({FENCE.pattern})", text, flags=FENCE.flags)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def pieces(page):
    """The TODO regions of a lab's skeleton, as a chapter's last section."""
    match = re.fullmatch(r"labs/(.*)/README\.md", page)
    if not match:
        return ""
    [source] = re.findall(r"^source *= *(\S+)", read(f"labs/{match[1]}/lab.ini"), re.M)
    skeleton = read(f"autograder/tests/skeletons/{match[1]}/{source}")
    regions = re.findall(r"^[^\n]*// TODO\(.*?// END TODO\(\d+\)\n", skeleton, re.M | re.S)
    words = f"## The pieces\n\nThese places of `{source}` are yours:"
    return f"\n\n{words}\n\n```cuda\n" + "\n".join(regions) + "```\n"


def chapter(page, book, anchors=True):
    """The text of a chapter, as the book has it."""
    return with_links(page, read(page), book, anchors) + pieces(page)


def included(page, text):
    """A (file, text) for each piece of code that the page includes; None if it is not there."""
    for file, options in INCLUDE.findall(text):
        path, option = beside(page, file), dict(re.findall(r"^:([a-z-]+): *(.*)$", options, re.M))
        after, before = option.get("start-after", ""), option.get("end-before", "")
        code = read(path) if os.path.isfile(os.path.join(root, path)) else ""
        begin, end = code.find(after), code.find(before)
        yield path, code[begin + len(after):end] if after and before and 0 <= begin < end else None


def faults():
    """Errors in the book, one line each."""
    book = chapters()
    for page in sorted(set(book)):
        if book.count(page) > 1:
            yield f"{INDEX} lists {page} twice"
    missing = [page for page in book if not os.path.isfile(os.path.join(root, page))]
    yield from (f"{INDEX} lists {page}, which is not there" for page in missing)
    if missing:
        return
    for page in sorted(found("docs/*.md") + found("docs/[!dn]*/*.md") + found("docs/developer/*.md") + found("book/*.md")):
        if (page in book) == (os.path.basename(page)[:-3] in LEFT_OUT):
            yield f"{page} must be either a chapter in {INDEX} or left out in book/pages.py"
    for lab in found("labs/*/lab.ini"):
        if beside(lab, "README.md") not in book:
            yield f"{os.path.dirname(lab)} has no chapter in {INDEX}"
    for page in book:
        yield from faults_of_links(page)
        for path, code in included(page, read(page)):
            if not code:
                yield f"{page} includes code of {path}, which has no such place"
    if not found("labs/*/.sealed"):  # a student's copy has fewer chapters, and the same words
        yield from faults_of_words(book)


def faults_of_links(page):
    for _, words, target, anchor in LINK.findall(FENCE.sub("", read(page))):
        path = beside(page, target) if target else page
        if "://" in target:
            continue
        if not os.path.exists(os.path.join(root, path)):
            yield f"{page}: the link '{words}' leads to {path}, which is not there"
        elif anchor and path.endswith(".md") and anchor[1:] not in headings(read(path)):
            yield f"{page}: the link '{words}' leads to {anchor} of {path}, which has no such " \
                  "heading"


def faults_of_words(book):
    """Checks that each word of the glossary is there once, and in another chapter."""
    glossary = "docs/student/glossary.md"
    words = TERM.findall(read(glossary).split("\n## Terms\n")[1])[2:]
    text = " ".join(read(page) for page in book if page not in (glossary, INDEX)).lower()
    text = re.sub(r"\s+", " ", re.sub("[`']", "", text))
    terms = [term.strip() for word in words for term in re.sub("[`']", "", word).split(", ")]
    for term in sorted(set(terms)):
        if terms.count(term) > 1:
            yield f"{glossary} has '{term}' twice"
        if not re.search(r"\b" + "[- ]".join(map(re.escape, re.split("[- ]", term.lower()))), text):
            yield f"{glossary} has '{term}', which no chapter uses"
    if sorted(words, key=lambda word: word.strip("`' ").lower()) != words:
        yield f"{glossary}: the words are not in the order of the alphabet"


def main():
    parser = argparse.ArgumentParser(description="Checks the chapters of the book.")
    parser.add_argument("out", nargs="?", metavar="OUT",
                        help="folder that gets the text of the chapters, code included")
    out = parser.parse_args().out
    wrong = list(faults())
    for fault in wrong:
        print(fault, file=sys.stderr)
    if out and not wrong:
        book = chapters()
        for page in book:
            path = os.path.join(out, page)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            text = chapter(page, book)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n".join(code for _, code in included(page, text)))
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
