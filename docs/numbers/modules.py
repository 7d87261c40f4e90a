"""modules.py SVG - draws the modules of mk/modules.mk with their lines of code.

Standard input is the output of `make -s modules`: one line per module, with the modules that it may
use.  A module is drawn above every module that it uses.  A line leads to each direct dependency;
common/base, which nearly every module uses, has no lines.
"""
import os
import sys
from collections import defaultdict

WIDTH, BOX, HEIGHT, GAP, STEP = 1180, 128, 40, 12, 78
COLOURS = {'common/base': '#e8e8e8', 'common/operations': '#dcebfa', 'common/simulator': '#e3f3df',
           'common/cuda': '#fdf0d5', 'common/debugger': '#f9e0ec', 'common/apps': '#e9e2f8',
           'datasets': '#e9e2f8', 'autograder': '#fbe3dc'}


def group_of(module):
    return next((g for g in COLOURS if module == g or module.startswith(g + '/')), 'common/base')


def lines_of(folder):
    """Lines of the module's own sources, without tests, benchmarks and fuzzers."""
    total = 0
    for name in os.listdir(folder):
        if name.endswith(('.c', '.h', '.cu', '.cuh', '.inc', '.def')) and not name.startswith(
                ('test_', 'bench_', 'fuzz_')):
            with open(os.path.join(folder, name), encoding='utf-8') as source:
                total += sum(1 for _ in source)
    return total


def main(path):
    uses = {}
    for row in sys.stdin:
        module, *used = row.split()
        if not module.endswith('.c') and os.path.isdir(module):
            uses[module] = set(used) - {module}
    # The table lists dependencies of dependencies, too; the figure has only the direct ones.
    direct = {m: {u for u in used if not any(u in uses.get(v, ()) for v in used)}
              for m, used in uses.items()}
    level = {}

    def level_of(module):
        if module not in level:
            level[module] = 1 + max((level_of(u) for u in uses.get(module, ())), default=-1)
        return level[module]

    rows = defaultdict(list)
    for module in uses:
        rows[level_of(module)].append(module)
    fit = WIDTH // (BOX + GAP)
    lanes = []  # rows of at most `fit` boxes, from the top level down
    for height in sorted(rows, reverse=True):
        row = sorted(rows[height], key=lambda m: (list(COLOURS).index(group_of(m)), m))
        lanes += [row[i:i + fit] for i in range(0, len(row), fit)]
    place = {}
    for y, lane in enumerate(lanes):
        left = (WIDTH - len(lane) * (BOX + GAP) + GAP) / 2
        for x, module in enumerate(lane):
            place[module] = (left + x * (BOX + GAP), 50 + y * STEP)
    total = {m: lines_of(m) for m in uses}
    height = 60 + len(lanes) * STEP + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="11" text-anchor="middle">',
           f'<title>Modules and their lines of code</title>',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for x, (group, colour) in enumerate(COLOURS.items()):
        out.append(f'<rect x="{20 + x * 142}" y="10" width="14" height="14" fill="{colour}" stroke="#888"/>'
                   f'<text x="{40 + x * 142}" y="21" text-anchor="start">{group}</text>')
    for module, used in sorted(direct.items()):
        for other in sorted(used - {'common/base'}):
            (x1, y1), (x2, y2) = place[module], place[other]
            out.append(f'<path d="M{x1 + BOX / 2:.0f} {y1 + HEIGHT} L{x2 + BOX / 2:.0f} {y2}" '
                       'stroke="#9a9a9a" stroke-width="0.8" fill="none"/>')
    for module, (x, y) in sorted(place.items()):
        name = module[len(group_of(module)) + 1:] or module
        out.append(f'<rect x="{x:.0f}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="4" '
                   f'fill="{COLOURS[group_of(module)]}" stroke="#777"/>'
                   f'<text x="{x + BOX / 2:.0f}" y="{y + 17}" font-weight="bold">{name}</text>'
                   f'<text x="{x + BOX / 2:.0f}" y="{y + 32}">{total[module]:,} lines</text>')
    out.append(f'<text x="{WIDTH / 2:.0f}" y="{height - 12}">{len(uses)} modules, '
               f'{sum(total.values()):,} lines without tests</text></svg>')
    with open(path, 'w', encoding='utf-8') as svg:
        svg.write('\n'.join(out) + '\n')


main(sys.argv[1])
