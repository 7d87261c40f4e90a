#!/usr/bin/env python3
"""ablation.py BUILD OUT - the error of the time model without each of its mechanisms.

Each section of common/simulator/timing/mechanisms.ini disables one mechanism by keys of the
machine's description.  The measured launches of the validation sets are simulated again without
it, and compared with the times and the counts of an H200.  Needs `make tools validators`; no GPU
and no network.

Finished simulations are kept in BUILD/ablation.  An interrupted run continues there; a simulation
is repeated if its description, its launches or its program have changed.

OUT gets one row per mechanism and set (docs/data/simulated/ablation.tsv).  Its columns are:
  - mechanism, set, number of launches with a time;
  - error and error_without: mean absolute error in percent with all mechanisms, and without this;
  - counts: number of compared counts;
  - counts_right and counts_right_without: number of counts that agree with the GPU's.
"""
import argparse
import concurrent.futures
import configparser
import csv
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import threading

GPUS = 'common/simulator/gpus'
RECORDS = 'common/simulator/validation/data/h200'
SIMULATED = 'docs/data/simulated/validation/h200'
MECHANISMS = 'common/simulator/timing/mechanisms.ini'
ALL = 'none'  # the run with all mechanisms
TIMED = ('fit', 'regression', 'lab')
# Counts of the GPU and of the simulator: the same sums and tolerance as tool_validate.c.
COUNTS = ((('load_sectors', 'store_sectors'), (), ('load_sectors', 'store_sectors')),
          (('atom_sectors', 'red_sectors'), (), ('atomic_sectors',)),
          (('wavefronts',), (), ('shared_wavefronts', 'shared_atomic_wavefronts')),
          (('wavefronts',), ('wavefronts_ideal',), ('bank_conflicts',)),
          (('local_loads', 'local_stores'), (), ('local_sectors',)),
          (('copied_sectors',), (), ('copied_sectors',)),
          (('texture_sectors',), (), ('texture_sectors',)))
TOLERANCE, SLACK = 0.02, 16


def table(path):
    """The rows of a TSV file, without its comments."""
    with open(path, newline='') as file:
        lines = [line for line in file if not line.startswith(';')]
    return list(csv.DictReader(lines, delimiter='\t', quoting=csv.QUOTE_NONE))


def fail(message):
    sys.exit('ablation: ' + message)


def mechanisms_read():
    """The keys that each section replaces; ALL replaces none."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=('=',))
    parser.read(MECHANISMS)
    return {ALL: {}, **{section: dict(parser[section]) for section in parser.sections()}}


class Set:
    """A validation set: its measured launches, and those of them that are selected."""

    def __init__(self, name, most, launches):
        self.name = name
        times, known = table(f'{RECORDS}/{name}-times.tsv'), {}
        for row in table(f'{SIMULATED}/{name}.tsv'):
            known[row['name']] = row
        kernels = table(f'{RECORDS}/{name}-counters.tsv')
        runs = {}
        if os.path.exists(f'{RECORDS}/{name}-runs.tsv'):
            for row in table(f'{RECORDS}/{name}-runs.tsv'):
                counts = [float(x) for x in row['counts'].split()]
                runs[int(row['row']) - 1, row['counter']] = counts
        self.measured, self.range, size, at = {}, {}, {}, 0
        for row in times:
            launch = row['name']
            if launch not in known:
                fail(f'{RECORDS}/{name}-times.tsv: {launch} is not in {SIMULATED}/{name}.tsv')
            count = int(float(known[launch]['launches']))
            size[launch] = int(float(known[launch]['warp_instructions']))
            self.measured[launch] = float(row['us']), row['kind']
            races = row['kind'] == 'racing'
            self.range[launch] = [] if races else self.ranges(kernels, runs, at, count)
            at += count
        small = sorted((n for n in size if size[n] <= most and n != 'empty'),
                       key=lambda n: (size[n], n))
        if launches and len(small) > launches:
            small = [small[i * len(small) // launches] for i in range(launches)]
        self.selected = sorted(small) + (['empty'] if 'empty' in size else [])

    def ranges(self, kernels, runs, at, count):
        """The least and the largest of each count of the GPU; None where it has none."""
        result = []
        for plus, minus, own in COUNTS:
            low = high = 0
            for row in range(at, at + count):
                if self.name == 'hopper-units' or plus[0] not in kernels[row]:
                    low = None
                    break
                sums = None
                for sign, columns in ((1, plus), (-1, minus)):
                    for column in columns:
                        values = runs.get((row, column), [float(kernels[row][column])])
                        sums = sums or [0.0]
                        length = max(len(sums), len(values))
                        sums += [sums[0]] * (length - len(sums))
                        values = values + [values[0]] * (length - len(values))
                        sums = [s + sign * v for s, v in zip(sums, values)]
                low, high = low + min(sums), high + max(sums)
            result.append(None if low is None else (low, high, own))
        return result

    def error(self, rows, late):
        """The mean absolute error in percent, and the number of launches; None: there are none."""
        errors = []
        for launch in self.selected:
            us, kind = self.measured[launch]
            if launch == 'empty' or kind not in TIMED:
                continue
            errors.append(abs(float(rows[launch]['us']) / (us - late) - 1))
        return (100 * sum(errors) / len(errors), len(errors)) if errors else (None, 0)

    def right(self, rows):
        """Compared counts, and those that agree with the GPU's."""
        compared = right = 0
        for launch in self.selected:
            for found in self.range[launch]:
                if not found:
                    continue
                low, high, own = found
                count = sum(float(rows[launch][column]) for column in own)
                if not high and not count:
                    continue
                compared += 1
                right += low * (1 - TOLERANCE) - SLACK <= count <= high * (1 + TOLERANCE) + SLACK
        return compared, right

    def late(self, rows):
        if 'empty' not in rows:
            return 0.0
        return self.measured['empty'][0] - float(rows['empty']['us'])


class Runner:
    def __init__(self, build, mechanisms, sets, jobs):
        self.build, self.mechanisms, self.sets = build, mechanisms, sets
        self.folder = f'{build}/ablation'
        self.gpus = f'{self.folder}/gpus'
        self.lock, self.done = threading.Lock(), 0
        cores = sorted(os.sched_getaffinity(0))
        self.cores = [cores[i % len(cores)] for i in range(jobs)]

    def describe(self):
        """A folder of machines: the H200, and one like it for each mechanism."""
        shutil.rmtree(self.gpus, ignore_errors=True)
        os.makedirs(self.gpus)
        shutil.copytree(f'{GPUS}/architectures', f'{self.gpus}/architectures')
        shutil.copy(f'{GPUS}/h200.ini', self.gpus)
        for name, keys in self.mechanisms.items():
            with open(f'{self.gpus}/{name}.ini', 'w') as file:
                file.write('like = h200\n' + ''.join(f'{k} = {v}\n' for k, v in keys.items()))

    def digest(self, mechanism, group):
        parts = hashlib.sha256()
        for path in (f'{self.gpus}/h200.ini', f'{self.gpus}/{mechanism}.ini',
                     f'{self.gpus}/architectures/sm90.ini',
                     f'{self.build}/validate/run-{group.name}'):
            with open(path, 'rb') as file:
                parts.update(hashlib.sha256(file.read()).digest())
        parts.update('\n'.join(group.selected).encode())
        return parts.hexdigest()

    def path(self, mechanism, group):
        return f'{self.folder}/{mechanism}/{group.name}.tsv'

    def is_current(self, mechanism, group):
        try:
            with open(self.path(mechanism, group)) as file:
                return file.readline() == f'; {self.digest(mechanism, group)}\n'
        except FileNotFoundError:
            return False

    def run(self, mechanism, group):
        with self.lock:
            core = self.cores.pop()
        path = self.path(mechanism, group)
        only = f'{self.folder}/only-{group.name}.txt'
        cases = f'{RECORDS}/{group.name}-cases.txt'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + '.part', 'w') as out, \
                open(cases if os.path.exists(cases) else os.devnull) as given:
            out.write(f'; {self.digest(mechanism, group)}\n')
            out.flush()
            status = subprocess.run(
                [f'{self.build}/validate/run-{group.name}', mechanism, self.gpus, 'only', only],
                stdin=given, stdout=out, stderr=subprocess.PIPE, text=True,
                preexec_fn=lambda: os.sched_setaffinity(0, {core}), check=False)
        if status.returncode not in (0, 1):  # 1: a launch did not end
            fail(f'{group.name} without {mechanism}: {status.stderr.strip().splitlines()[-1:]}')
        os.rename(path + '.part', path)
        with self.lock:
            self.cores.append(core)
            self.done += 1

    def work(self, seconds):
        """Runs what is not there yet, the longest sets first; False: time is over."""
        self.describe()
        for group in self.sets:
            with open(f'{self.folder}/only-{group.name}.txt', 'w') as file:
                file.write('\n'.join(group.selected) + '\n')
        tasks = [(m, g) for m in self.mechanisms for g in self.sets if not self.is_current(m, g)]
        print(f'{len(tasks)} simulations of {len(self.mechanisms)} descriptions and '
              f'{len(self.sets)} sets are missing', file=sys.stderr)
        failure, stop = [], threading.Event()
        timer = threading.Timer(seconds, stop.set) if seconds else None
        if timer:
            timer.daemon = True
            timer.start()

        def one(task):
            if not stop.is_set():
                try:
                    self.run(*task)
                except SystemExit as reason:
                    failure.append(str(reason))
                    stop.set()

        with concurrent.futures.ThreadPoolExecutor(len(self.cores)) as pool:
            list(pool.map(one, tasks))
        if timer:
            timer.cancel()
        if failure:
            sys.exit(failure[0])
        return self.done == len(tasks)

    def rows(self, mechanism, group):
        return {row['name']: row for row in table(self.path(mechanism, group))}


def report(runner, out, most, launches):
    lines = [f'; launches of at most {most} warp instructions, '
             f'at most {launches or "all"} of a set',
             '\t'.join(('mechanism', 'set', 'launches', 'error', 'error_without', 'counts',
                        'counts_right', 'counts_right_without'))]
    base = {group: runner.rows(ALL, group) for group in runner.sets}
    for mechanism in runner.mechanisms:
        if mechanism == ALL:
            continue
        for group in runner.sets:
            if not runner.is_current(mechanism, group):
                continue
            rows, late = runner.rows(mechanism, group), group.late(base[group])
            error, count = group.error(base[group], late)
            without, _ = group.error(rows, late)
            compared, right = group.right(base[group])
            _, right_without = group.right(rows)
            cell = '{:.3f}'.format
            lines.append('\t'.join((mechanism, group.name, str(count),
                                    '-' if error is None else cell(error),
                                    '-' if without is None else cell(without), str(compared),
                                    str(right), str(right_without))))
    with open(out + '.part', 'w') as file:
        file.write('\n'.join(lines) + '\n')
    os.rename(out + '.part', out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('build', help='the folder that make tools validators filled')
    parser.add_argument('out', help='the table, as TSV')
    parser.add_argument('--most', type=int, default=1500000,
                        help='warp instructions of a launch, at most (1500000)')
    parser.add_argument('--launches', type=int, default=20,
                        help='launches of a set, at most, from small to large (20; 0: all)')
    parser.add_argument('--sets', default='', help='names of sets, separated by commas (all)')
    parser.add_argument('--mechanisms', default='', help='sections, separated by commas (all)')
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument('--seconds', type=int, default=0, help='starts nothing after this time')
    given = parser.parse_args()
    names = [os.path.basename(path)[:-len('-times.tsv')]
             for path in sorted(glob.glob(f'{RECORDS}/*-times.tsv'))]
    for name in filter(None, given.sets.split(',')):
        if name not in names:
            fail(f'there is no set {name}: there are {", ".join(names)}')
    mechanisms = mechanisms_read()
    for name in filter(None, given.mechanisms.split(',')):
        if name not in mechanisms:
            fail(f'{MECHANISMS} has no section {name}')
    if given.mechanisms:
        chosen = [ALL, *given.mechanisms.split(',')]
        mechanisms = {m: keys for m, keys in mechanisms.items() if m in chosen}
    sets = [Set(n, given.most, given.launches) for n in names
            if not given.sets or n in given.sets.split(',')]
    sets = [group for group in sets if [n for n in group.selected if n != 'empty']]
    for group in sets:
        if not os.path.exists(f'{given.build}/validate/run-{group.name}'):
            fail(f'{given.build}/validate/run-{group.name} is missing: make validators')
    runner = Runner(given.build, mechanisms, sets, max(given.jobs, 1))
    complete = runner.work(given.seconds)
    if not all(runner.is_current(ALL, group) for group in sets):
        fail('the run with all mechanisms is not complete: run again')
    report(runner, given.out, given.most, given.launches)
    if not complete:
        fail(f'time is over; {given.out} has what is finished: run again to continue')


if __name__ == '__main__':
    main()
