"""costs.py [PAGE] - the table "Where is a cost computed?" of docs/architecture.md.

Each file of a row exists below common/simulator.  Each key is a key of a machine: a number of
machine_costs.def or a field of SimtMachine.  One of the row's files uses it.  Each file of a row
uses one of the row's keys, or includes a file that does, or is included by it.  Output: a line for each fault.
"""
import os
import re
import sys

SIMULATOR = 'common/simulator/'
HEADING = 'Where is a cost computed?'


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def machine_keys():
    """The keys that files in common/simulator/gpus may contain."""
    found = set()
    for name in ('machine_costs.def', 'machine_features.def', 'machine.h'):
        text = read(SIMULATOR + 'machine/' + name)
        if name == 'machine.h':
            text = re.search(r'typedef struct SimtMachine \{(.*?)\n\}', text, re.S)[1]
            found.update(re.findall(r'\w+', re.sub(r'/\*.*?\*/', '', text, flags=re.S)))
        else:
            found.update(re.findall(r'^(?:COST|LIST|FEATURE)\((\w+)', text, re.M))
    return found


def faults(page):
    section = re.search(rf'^## {re.escape(HEADING)}\n(.*?)^## ', read(page), re.S | re.M)
    rows = re.findall(r'^\| (?!mechanism|---)([^|]*) \| ([^|]*) \| ([^|]*) \|$', section[1] if section else '', re.M)
    if not rows:
        yield f'{page} has no table below "{HEADING}"'
    known = machine_keys()
    for what, files, keys in rows:
        files, keys = (re.findall(r'`([^`]*)`', cell) for cell in (files, keys))
        missing = [f for f in files if not os.path.isfile(SIMULATOR + f)]
        yield from (f'{page}: {what}: there is no {SIMULATOR}{f}' for f in missing)
        text = {f: read(SIMULATOR + f) for f in files if f not in missing}
        uses = {f: [k for k in keys if re.search(rf'\b{k}\b', text[f])] for f in text}
        for key in keys:
            if key not in known:
                yield f'{page}: {what}: no machine has the key {key}'
            elif not any(key in uses[f] for f in uses):
                yield f'{page}: {what}: none of its files uses {key}'
        for file in text:
            header = f'"{SIMULATOR}{os.path.splitext(file)[0]}.h"'
            if not uses[file] and not any(uses[other] and (f'"{SIMULATOR}{other}"' in text[file] or header in text[other])
                                          for other in text):
                yield f'{page}: {what}: {file} uses none of its keys'
        if not files or not keys:
            yield f'{page}: {what}: the row has no file or no key'


if __name__ == '__main__':
    found = list(faults(sys.argv[1] if len(sys.argv) > 1 else 'docs/architecture.md'))
    print('\n'.join(found), end='\n' if found else '')
    sys.exit(1 if found else 0)
