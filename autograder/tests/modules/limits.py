"""limits.py cycles BUILD | folders | files | structs [EXCEPTIONS] - size of modules, files and structs.

cycles   source files of one module that need each other: each uses a name that the other defines,
         directly or through further files (nm of the objects in BUILD/obj)
folders  folders with more than 40 sources
files    source files with more than 800 lines; tables of data (.def, .inc) are not counted
structs  structs with more than 40 fields, nested ones included

EXCEPTIONS (exceptions.tsv) states the allowed ones: kind, name (* is any text), number, reason.  An
exception that nothing needs is a fault, too.  Output: a line for each fault; exit status 1.
"""
import fnmatch
import os
import re
import subprocess
import sys

MOST = {'cycles': 1, 'folders': 40, 'files': 800, 'structs': 40}
SOURCE = re.compile(r'\.(c|h|cu|cuh|cc|cpp|sh|py)$')


def sources():
    """The tracked and the new sources; templates, mutants and attacks are data of tests."""
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', 'autograder', 'common', 'datasets', 'docs/numbers',
                             'labs', 'solutions', 'book'], capture_output=True, text=True, check=True).stdout.split('\n')
    return sorted(f for f in set(listed) if SOURCE.search(f) and os.path.isfile(f) and
                  not re.match(r'autograder/tests/(mutants|attacks|right)/|common/include/convlab/lean', f))


def read(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return file.read()


# ---- cycles -----------------------------------------------------------------------------------------
def components(graph):
    """Tarjan's strongly connected components of more than one node."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def cycles(build):
    """(module/first-file, number, files) of each cycle."""
    modules = {}
    for source in sources():
        path = f'{build}/obj/{source[:-2]}.o'
        if source.endswith('.c') and os.path.isfile(path) and not re.match(r'(test|fuzz|bench|tool)_', os.path.basename(source)):
            modules.setdefault(os.path.dirname(source), []).append(path)
    if not modules:
        sys.exit(f'limits.py: {build}/obj has no objects: make tools tests')
    for module, objects in sorted(modules.items()):
        owner, uses = {}, {}
        text = subprocess.run(['nm', '-A', '-g', *objects], capture_output=True, text=True, check=True).stdout
        for line in text.split('\n'):
            words = line.replace(':', ' ', 1).split()
            if len(words) >= 3 and words[-2] == 'U':
                uses.setdefault(words[0], set()).add(words[-1])
            elif len(words) >= 3:
                owner.setdefault(words[-1], words[0])
        graph = {o: {owner[name] for name in uses.get(o, ()) if name in owner} - {o} for o in objects}
        for part in components(graph):
            names = [os.path.basename(o)[:-2] for o in part]
            yield f'{module}/{names[0]}', len(names), ' '.join(names)


# ---- sizes ------------------------------------------------------------------------------------------
def folders():
    count = {}
    for source in sources():
        count[os.path.dirname(source)] = count.get(os.path.dirname(source), 0) + 1
    return [(folder, number, 'sources') for folder, number in sorted(count.items())]


def files():
    return [(source, read(source).count('\n'), 'lines') for source in sources()]


def without_functions(body):
    """A C++ struct's body without the bodies of its functions."""
    while True:
        match = re.search(r'\)\s*(const\s*)?(:[^{};]*)?\{', body)
        if not match:
            return body
        depth, at = 1, match.end()
        while depth and at < len(body):
            depth += {'{': 1, '}': -1}.get(body[at], 0)
            at += 1
        begin = max(body.rfind(c, 0, match.start()) for c in ';}') + 1
        body = body[:begin] + body[at:]


def fields_of(body):
    """Number of declarators in a struct's body, those of nested structs included."""
    body = without_functions(body)
    body = re.sub(r'\b(struct|union|enum)\s*\w*\s*\{', '{', body)
    body = re.sub(r'\{[^{};]*\}', '', body)  # an enum's values
    body = re.sub(r'\([^()]*\)|\[[^\]]*\]', '', body)  # parameters and sizes
    count = 0
    for statement in re.split(r'[;{}]', body):
        if re.search(r'\w', statement) and not re.match(r'\s*(static_assert|_Static_assert)', statement):
            count += 1 + statement.count(',')
    return count


def structs():
    for source in sources():
        if not re.search(r'\.(c|h|cu|cuh)$', source):
            continue
        text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', ' ', read(source), flags=re.S)
        for match in re.finditer(r'\bstruct\s+(?:__\w+\(+\w+[^)]*\)+\s*)?(\w+)\s*\{', text):
            depth, at = 1, match.end()
            while depth and at < len(text):
                depth += {'{': 1, '}': -1}.get(text[at], 0)
                at += 1
            yield f'{source}:{match[1]}', fields_of(text[match.end():at - 1]), 'fields'


def main():
    rule = sys.argv[1] if len(sys.argv) > 1 else ''
    if rule not in MOST or (rule == 'cycles' and len(sys.argv) < 3):
        sys.exit(__doc__)
    found = cycles(sys.argv[2]) if rule == 'cycles' else globals()[rule]()
    table = sys.argv[3 if rule == 'cycles' else 2:] or [os.path.join(os.path.dirname(__file__), 'exceptions.tsv')]
    rows = [line.split('\t') for line in read(table[0]).split('\n')[1:] if line]
    allowed = [(row[1], int(row[2])) for row in rows if row[0] == rule and len(row) == 4]
    faults = [f'{table[0]}: {row} has no reason' for row in rows if len(row) != 4 or not row[3]]
    needed = set()
    for name, number, what in found:
        if number <= MOST[rule]:
            continue
        exception = next((a for a in allowed if fnmatch.fnmatchcase(name, a[0])), (None, MOST[rule]))
        needed.add(exception[0])
        if number > exception[1]:
            faults.append(f'{name}: {number} {what}; {exception[1]} are allowed')
    faults += [f'{table[0]}: nothing needs the exception {name}' for name, _ in allowed if name not in needed]
    print('\n'.join(faults), end='\n' if faults else '')
    sys.exit(1 if faults else 0)


if __name__ == '__main__':
    main()
