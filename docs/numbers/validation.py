"""validation.py OUT GPU/MACHINE=FOLDER... - the tables of docs/simulator/validation.md.

OUT/FOLDER/launches.tsv is written by tool_validate: the times of every launch, measured on GPU and
predicted for MACHINE.  A pair without this file is left out.  Writes each
table into OUT/NAME.md, and OUT/times.tsv for the figure.
"""
import csv
import math
import os
import sys
from collections import namedtuple

VALIDATION = 'common/simulator/validation/'
# Forecasts of whole programs by the finished model: the sets that the page leads with.
PROGRAMS = ('common-kernels', 'experts-and-hashes', 'attention-and-convolutions',
            'gemm-ladder-and-science')
TIMED = ('fit', 'regression', 'lab')
KIND_TITLE = {'fit': 'fit', 'regression': 'regression', 'lab': 'solutions of labs'}
RANGES = ((0, 8), (8, 16), (16, 30), (30, 64), (64, 128), (128, math.inf))  # us
LONG = 30  # us; the error of shorter and of longer launches is compared
FAMILY, LARGE = 6, 0.10  # the table of families: at least that many launches and that error
ERRORS = 'rank correlation | mean absolute error | predicted ÷ measured | within 25 %'

Launch = namedtuple('Launch', 'set name kind family measured predicted forecast')


def table_read(path):
    """The rows of a table with tabs, as dictionaries; lines that start with ; are comments."""
    with open(path, encoding='utf-8') as file:
        return list(csv.DictReader((line for line in file if not line.startswith(';')),
                                   delimiter='\t', quoting=csv.QUOTE_NONE))


def launches_read(path):
    return [Launch(r['set'], r['name'], r['kind'], r['family'], float(r['measured_us']),
                   float(r['predicted_us']), float(r['forecast_us'])) for r in table_read(path)]


def timed(launches):
    """The launches of the totals: tool_validate has a limit of its own for hopper-units."""
    return [x for x in launches if x.kind in TIMED and x.set != 'hopper-units']


# ---- agreement of predicted with measured times --------------------------------------------------

def ranks(values):
    """Ranks from 1; equal values share their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    rank, first = [0.0] * len(values), 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in order[first:last + 1]:
            rank[i] = (first + last) / 2 + 1
        first = last + 1
    return rank


def correlation(pairs):
    """Spearman's rank correlation of (measured, predicted)."""
    a, b = ranks([m for m, _ in pairs]), ranks([p for _, p in pairs])
    mean = (len(pairs) + 1) / 2
    ab = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    aa, bb = sum((x - mean) ** 2 for x in a), sum((y - mean) ** 2 for y in b)
    return ab / math.sqrt(aa * bb) if aa and bb else 0


def error(pairs):
    return sum(abs(p / m - 1) for m, p in pairs) / len(pairs)


def bias(pairs):
    """The geometric mean of predicted ÷ measured."""
    return math.exp(sum(math.log(p / m) for m, p in pairs) / len(pairs))


def near(pairs):
    return sum(abs(p / m - 1) <= 0.25 for m, p in pairs) / len(pairs)


def beyond(pairs):
    return sum(p > 1.5 * m or p < m / 1.5 for m, p in pairs)


def pairs_of(launches, field='predicted'):
    return [(x.measured, getattr(x, field)) for x in launches if getattr(x, field) > 0]


def cells(pairs):
    """The columns ERRORS."""
    if not pairs:
        return '- | - | - | -'
    return (f'{correlation(pairs):.3f} | {100 * error(pairs):.1f} % | {bias(pairs):.2f} '
            f'| {100 * near(pairs):.1f} %')


def short_cells(pairs):
    return f'{100 * error(pairs):.1f} % | {bias(pairs):.2f}' if pairs else '- | -'


def rule(header):
    return '| ' + ' | '.join(['---'] * (header.count('|') - 1)) + ' |'


def table(header, rows):
    return '\n'.join([header, rule(header), *rows]) + '\n'


# ---- the tables -----------------------------------------------------------------------------------

def subject(name):
    if name == 'common-kernels':
        return 'common kernels: matrix products, layers of networks, samples, courses'
    return 'features that no earlier set has'


def forecasts(h200):
    rows = []
    for name in PROGRAMS:
        pairs = pairs_of([x for x in h200 if x.set == name and x.kind in TIMED], 'forecast')
        rows.append(f'| `{name}` | {subject(name)} | {len(pairs)} | {cells(pairs)} '
                    f'| {beyond(pairs)} |')
    return table(f'| set | kernels | launches | {ERRORS} | off by more than 1.5× |', rows)


def all_forecasts(h200):
    rows = []
    for row in table_read(VALIDATION + 'sets.tsv'):
        pairs = pairs_of([x for x in h200 if x.set == row['set'] and x.kind in TIMED], 'forecast')
        if (row['kind'] == 'forecast') != bool(pairs):
            sys.exit(f"sets.tsv: {row['set']} is of kind {row['kind']}, "
                     f'but {len(pairs)} launches have a forecast')
        if pairs:
            rows.append((row['date'], f"| `{row['set']}` | {row['date']} | {row['commit']} "
                         f'| {len(pairs)} | {cells(pairs)} | {beyond(pairs)} |'))
    rows.sort(key=lambda row: row[0], reverse=True)
    return table(f'| forecast set | date of prediction | version of the model | launches | {ERRORS} '
                 '| off by more than 1.5× |', [row for _, row in rows])


def sets(records):
    rows = []
    for row in table_read(VALIDATION + 'sets.tsv'):
        count = {}
        for launch in table_read(f"{records}/{row['set']}-times.tsv"):
            if launch['name'] != 'empty':
                count[launch['kind']] = count.get(launch['kind'], 0) + 1
        fit = count.get('fit', 0) or count.get('counters', 0)
        rows.append(f"| `{row['set']}` | {row['kind']} | {row['date']} | {fit} "
                    f"| {count.get('regression', 0) + count.get('lab', 0)} | {row['subject']} |")
    return table('| set | kind of evidence | date of the forecast | fit launches | regression launches '
                 '| subject |', rows)


def machines(compared):
    rows = []
    for title, launches in compared:
        pairs = pairs_of(timed(launches))
        rows.append(f'| {title} | {len(pairs)} | {cells(pairs)} | {beyond(pairs)} |')
    return table(f'| GPU | machine file | launches | {ERRORS} | off by more than 1.5× |', rows)


def kinds(gpus):
    rows = []
    for gpu, launches in gpus:
        for kind in (*TIMED, 'all'):
            pairs = pairs_of([x for x in timed(launches) if kind in (x.kind, 'all')])
            rows.append(f"| {gpu} | {KIND_TITLE.get(kind, kind)} | {len(pairs)} | {cells(pairs)} "
                        f'| {beyond(pairs)} |')
    return table(f'| GPU | launch kind | launches | {ERRORS} | off by more than 1.5× |', rows)


def range_title(low, high):
    if not low:
        return f'below {high:g}'
    return f'{low:g} and more' if high == math.inf else f'{low:g} to {high:g}'


def durations(gpus):
    rows = []
    for low, high in (*RANGES, (0, LONG), (LONG, math.inf)):
        row = f'| {range_title(low, high)} |'
        chosen = [x for x in timed(gpus[0][1]) if low <= x.measured < high]
        pairs = pairs_of([x for x in chosen if x.set in PROGRAMS], 'forecast')
        row += f' {len(pairs)} | {short_cells(pairs)} |'
        for _, launches in gpus:
            pairs = pairs_of([x for x in timed(launches) if low <= x.measured < high])
            row += f' {len(pairs)} | {short_cells(pairs)} |'
        rows.append(row)
    header = ('| measured duration, µs | forecast launches (H200) | mean absolute error of the forecasts '
              '| forecast ÷ measured |')
    for gpu, _ in gpus:
        header += f' launches on the {gpu} | mean absolute error, {gpu} | predicted ÷ measured, {gpu} |'
    return table(header, rows)


def by_set(gpus):
    header = '| set | launches |'
    for gpu, _ in gpus:
        header += ' ' + ' | '.join(f'{name}, {gpu}' for name in ERRORS.split(' | ')) + ' |'
    rows = []
    for row in table_read(VALIDATION + 'sets.tsv'):
        per_gpu = [pairs_of([x for x in launches if x.set == row['set'] and x.kind in TIMED])
                   for _, launches in gpus]
        if per_gpu[0]:
            rows.append(f"| `{row['set']}` | {len(per_gpu[0])} | "
                        + ' | '.join(cells(pairs) for pairs in per_gpu) + ' |')
    return table(header, rows)


def families(gpus):
    """Families of FAMILY launches and an error of LARGE or more, by their larger error on the GPUs."""
    groups = {}
    for g, (_, launches) in enumerate(gpus):
        for x in launches:
            if x.kind in TIMED and x.kind != 'lab':
                groups.setdefault((x.set, x.family), [[] for _ in gpus])[g].append(x)
    rows = []
    for (name, family), per_gpu in groups.items():
        if len(per_gpu[0]) < FAMILY:
            continue
        pairs = [pairs_of(launches) for launches in per_gpu]
        if max(error(p) for p in pairs) < LARGE:
            continue
        rows.append((max(error(p) for p in pairs), f'| `{family}` | `{name}` | {len(pairs[0])} | '
                     + ' | '.join(short_cells(p) for p in pairs) + ' |'))
    rows.sort(key=lambda row: row[0], reverse=True)
    header = '| family | set | launches |' + ''.join(
        f' mean absolute error, {gpu} | predicted ÷ measured, {gpu} |' for gpu, _ in gpus)
    return table(header, [row for _, row in rows])


def hopper(gpus):
    order, header = [], '| unit | fit launches | regression launches |'
    for x in gpus[0][1]:
        if x.set == 'hopper-units' and x.family not in order:
            order.append(x.family)
    for gpu, _ in gpus:
        header += f' mean absolute error, fit, {gpu} | mean absolute error, regression, {gpu} |'
    rows = []
    for family in (*order, 'all'):
        row, counts = '', {}
        for _, launches in gpus:
            for kind in ('fit', 'regression'):
                pairs = pairs_of([x for x in launches if x.set == 'hopper-units' and x.kind == kind
                                  and family in (x.family, 'all')])
                counts[kind] = len(pairs)
                row += f' {100 * error(pairs):.1f} % |' if pairs else ' - |'
        title = family if family == 'all' else f'`{family}`'
        rows.append(f"| {title} | {counts['fit']} | {counts['regression']} |{row}")
    return table(header, rows)


def times_write(path, launches):
    with open(path, 'w', encoding='utf-8') as file:
        for kind in TIMED:
            file.write(f'# {kind}\n')
            for x in launches:
                if x.kind == kind:
                    file.write(f'{x.name}\t{x.measured:.4f}\t{x.predicted:.4f}\n')
            file.write('\n\n')


def main(out, arguments):
    compared = []
    for argument in arguments:
        title, folder = argument.split('=', 1)
        path = f'{out}/{folder}/launches.tsv'
        if os.path.exists(path):
            compared.append((title.replace('/', ' | '), launches_read(path)))
    # Each GPU with the machine file that the pages use: its first pair.
    gpus = []
    for title, launches in compared:
        gpu = title.split(' | ')[0]
        if gpu not in [name for name, _ in gpus]:
            gpus.append((gpu, launches))
    h200 = gpus[0][1]
    made = {'forecasts': forecasts(h200), 'all-forecasts': all_forecasts(h200),
            'sets': sets(VALIDATION + 'data/h200'), 'machines': machines(compared),
            'kinds': kinds(gpus), 'durations': durations(gpus), 'by-set': by_set(gpus),
            'families': families(gpus), 'hopper': hopper(gpus)}
    for name, text in made.items():
        with open(f'{out}/{name}.md', 'w', encoding='utf-8') as file:
            file.write(text)
    times_write(f'{out}/times.tsv', h200)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
