"""names.py LABS SKELETONS SOLUTIONS - compares the [todo N] hints of every lab.ini with the skeleton.

Prints a line for each hint that names another region or an identifier that nobody has, and for a
lab whose hints do not cover its regions.  The course's headers count as the skeleton.  Exits 1 if there is any.
"""
import re
import sys
from pathlib import Path

CUDA = set("""threadIdx blockIdx blockDim gridDim warpSize dim3 __syncthreads __syncwarp
__shfl_xor_sync __ballot_sync __popc __ldg __expf cudaFuncSetAttribute float4 float expf fmaxf uint64_t size_t sizeof const
unsigned int for if max min""".split())


def sections(path):
    """The [todo N] sections: number, then key and value."""
    number, key, found = None, None, {}
    for line in path.read_text().splitlines():
        head = re.fullmatch(r"\[todo (\d+)\]", line)
        if head or line.startswith("["):
            number = int(head.group(1)) if head else None
            if head:
                found[number] = {}
        elif number is not None and re.match(r"\w+ *=", line):
            key, value = line.split("=", 1)
            key = key.strip()
            found[number][key] = value.strip()
        elif number is not None and line.startswith(" "):
            found[number][key] += " " + line.strip()
    return found


def names(text):
    """Identifiers that can only be code: with an underscore or capital inside, or called, or a
    member's."""
    for match in re.finditer(r"[A-Za-z_]\w*", text):
        word, after = match.group(), text[match.end() : match.end() + 1]
        if re.search(r"\w_\w|[a-z][A-Z]", word) or after in "[(" and after and word != "TODO":
            yield word


def main():
    labs, skeletons, solutions = map(Path, sys.argv[1:])
    bad = []
    for ini in sorted(labs.glob("*/lab.ini")):
        lab, hints = ini.parent.name, sections(ini)
        if not hints:
            continue
        source = re.search(r"^source *= *(\S+)", ini.read_text(), re.M).group(1)
        skeleton = (skeletons / lab / source).read_text()
        given = [skeleton, (ini.parent / "README.md").read_text()]
        given += [header.read_text() for header in Path("common/include/convlab").glob("*.h")]
        known = set(re.findall(r"\w+", "\n".join(given))) | CUDA
        solved = set(re.findall(r"\w+", (solutions / lab / source).read_text()))
        regions = len(set(re.findall(r"// TODO\((\d+)\)", skeleton)))
        if regions != len(hints):
            bad.append(f"{lab}: {len(hints)} regions with hints, but {regions} in the skeleton")
        for number, levels in hints.items():
            for level, text in levels.items():
                where = f"{lab}, todo {number}, {level}"
                for other in re.findall(r"TODO\((\d+)\)", text):
                    if int(other) != number:
                        bad.append(f"{where}: names TODO({other})")
                for name in names(text):
                    if name not in known and not (level == "code" and name in solved):
                        bad.append(f"{where}: no {name} in the skeleton")
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main())
