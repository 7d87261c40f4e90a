"""variant.py [--against DIR] [--unchecked] BUILD SEED OUT [LAB...] - a variant of labs 01 to 04.

OUT becomes a clone of this workbook with one commit more.  The commit reverses axes of the tensors
of the labs (index_rules.py) and draws other sizes for some cases (draws.ini), both from SEED.
Solutions, skeletons, baselines, hints, handouts and mutants follow.  The answers of predictions are
those that the grader finds for the new solution.

Then the solution, the mutants, and a previous year's solutions of these labs are graded: those of
this workbook, or of the workbook DIR.  A table shows the marks.  Exit status: 0, 1 (a check failed;
OUT stays) or 2 (nothing was written).
"""
import argparse
import configparser
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import index_rules

HERE = 'common/setup/variant'
PASSING = 50  # a previous solution has to stay below this mark


def fail(message, status=2):
    print(f'variant: {message}', file=sys.stderr)
    sys.exit(status)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


# ---- draws ------------------------------------------------------------------------------------------
def axes_of(root, lab):
    """The reversed axes of a lab, by the first shape of its lab.ini."""
    match = re.search(r'^shape *=.* reversed=(\S+)', read(f'{root}/labs/{lab}/lab.ini'), re.M)
    drawn = match[1].split(',') if match else []
    return {axis for axis, (key, *_) in index_rules.AXES.items() if key.split(',')[0] in drawn}


def axes_draw(chance, before):
    """Some axes.  Those of x differ from `before`: every lab's TODO regions contain indices of x."""
    inputs = {'x.n', 'x.c', 'x.h'}
    while True:
        axes = {axis for axis in index_rules.AXES if chance.random() < 0.5}
        # Only the rows exist in every case: many cases have one image or one channel.
        if axes != before and ('x.h' in axes) != ('x.h' in before) and axes & inputs != before & inputs and axes:
            return axes


def sizes_draw(chance, lab, ini):
    """[(cases, letter, old, new)]"""
    table = configparser.ConfigParser(delimiters='=', comment_prefixes=';')
    table.optionxform = str
    table.read(f'{HERE}/draws.ini')
    drawn = []
    for cases, value in table[lab].items():
        letter, *values = value.split()
        cases = cases.split(',')
        match = re.search(rf'^\[case {re.escape(cases[0])}\]\nshape *=.*?\b{letter}=(\d+)', ini, re.M)
        if not match:
            fail(f'{HERE}/draws.ini: labs/{lab}/lab.ini has no case {cases[0]} with {letter}')
        drawn.append((cases, letter, match[1], chance.choice([v for v in values if v != match[1]])))
    return drawn


# ---- lab.ini and the handout -----------------------------------------------------------------------
def sections(ini):
    """lab.ini in parts, each beginning with its [heading]."""
    return re.split(r'(?m)^(?=\[)', ini)


def shapes_change(ini, axes, sizes):
    """lab.ini with other shapes; questions and descriptions name the new sizes."""
    key = index_rules.key_of(axes)
    parts = sections(ini)
    for i, part in enumerate(parts):
        case = re.match(r'\[case (\S+)\]', part)
        question = re.search(r'^case *= *(\S+)', part, re.M) if part.startswith('[predict ') else None
        for cases, letter, old, new in sizes:
            if case and case[1] in cases:
                part = re.sub(rf'(?m)^(shape *=.*\b{letter}=){old}\b', rf'\g<1>{new}', part)
                part = re.sub(rf'\b{old}( images| of its )', rf'{new}\1', part)
            if question and question[1] in cases:
                part = re.sub(rf'\b{letter}={old}\b', f'{letter}={new}', part)
        if case:
            part = re.sub(r'(?m)^(shape(?:_gpu)? *=.*?)(?: reversed=\S+)?$', rf'\1 reversed={key}', part)
        if part.startswith('[hidden]'):
            part = re.sub(r'(?m)^with *=.*\n', '', part) if 'layout=' not in part else part
            alternatives = re.search(r'(?m)^with *= *(.*)$', part)
            chosen = alternatives[1].split('|') if alternatives else ['']
            chosen = ' | '.join((re.sub(r' ?reversed=\S+', '', a).strip() + f' reversed={key}').strip() for a in chosen)
            part = re.sub(r'(?m)^with *=.*\n', '', part).rstrip('\n') + f'\nwith     = {chosen}\n\n'
        parts[i] = part
    return ''.join(parts)


def convention(axes):
    """The section of a handout."""
    rows = '\n'.join(f'- {index_rules.AXES[axis][1]}: {index_rules.AXES[axis][2]}.' for axis in index_rules.AXES if axis in axes)
    return f'''<!-- begin variant -->

## The order in memory

This course's tensors are stored in another order than those of the book and of earlier courses. The
formula of the convolution is the same; only the places in memory differ:

{rows}

The other indices count upwards, as usual. The tables of measured times below are from the usual
order and the usual sizes; the cycles are nearly the same.

<!-- end variant -->

'''


def handout_change(text, axes):
    text = re.sub(r'(?s)<!-- begin variant -->.*?<!-- end variant -->\n\n', '', text)
    first = re.search(r'(?m)^## ', text)
    return text[:first.start()] + convention(axes) + text[first.start():]


def table_set(text, name, table):
    pattern = rf'(?s)(<!-- begin {name} -->\n\n).*?(\n<!-- end {name} -->)'
    return re.sub(pattern, lambda m: m[1] + table + m[2], text)


# ---- sources ----------------------------------------------------------------------------------------
def formatted(text, name):
    """The text in the workbook's format, if clang-format is installed."""
    tool = shutil.which('clang-format-14') or shutil.which('clang-format')
    if not tool:
        return text
    done = run([tool, f'--assume-filename={name}', '--style=file:.clang-format'], input=text)
    return done.stdout if done.returncode == 0 else text


def patched(source, patch):
    """The source with a patch; None: it does not apply."""
    with tempfile.TemporaryDirectory() as folder:
        write(f'{folder}/source', source)
        done = run(['patch', '-s', '-o', f'{folder}/result', f'{folder}/source'], input=patch)
        return read(f'{folder}/result') if done.returncode == 0 else None


def patch_make(head, name, before, after):
    with tempfile.TemporaryDirectory() as folder:
        write(f'{folder}/a', before)
        write(f'{folder}/b', after)
        difference = run(['diff', '-U2', '--label', 'solution', '--label', name, f'{folder}/a', f'{folder}/b']).stdout
    return head + difference


def patches_change(out, folder, old, new, axes, source):
    """Every patch of a folder, against the new solution."""
    for name in sorted(os.listdir(f'{out}/{folder}')) if os.path.isdir(f'{out}/{folder}') else ():
        if not name.endswith('.patch'):
            continue
        path = f'{out}/{folder}/{name}'
        text = read(path)
        head, mark, _ = text.partition('--- solution\n')
        planted = patched(old, text) if mark else None
        if planted is None:
            fail(f'{folder}/{name} is no patch of the solution', 1)
        write(path, patch_make(head, name[:-len('.patch')], new, formatted(index_rules.rewrite(planted, axes), source)))


def regions_copied(skeleton, solution):
    """The skeleton with the TODO regions of a solution."""
    pattern = r'(?s)(// TODO\((\d+)\)[^\n]*\n)(.*?)([ \t]*// END TODO\(\2\))'
    bodies = {m[2]: m[3] for m in re.finditer(pattern, solution)}
    return re.sub(pattern, lambda m: m[1] + bodies.get(m[2], m[3]) + m[4], skeleton)


# ---- grades -----------------------------------------------------------------------------------------
def grade(build, out, lab, submission, folder):
    done = run([f'{build}/bin/grade', '--build', build, '--engine', 'sim', '--lab', lab[:2], '--submission', submission,
                '--results', folder], cwd=out)
    path = f'{folder}/{lab}.json'
    if done.returncode or not os.path.isfile(path):
        fail(f'{lab} cannot be graded: {done.stderr.strip() or done.stdout.strip()[-400:]}', 1)
    return json.loads(read(path))


def answers_write(out, lab, record):
    lines = ['; The answers of this variant: what the grader measures on the solution.', '[predict]']
    lines += [f'{p["name"]} = {p["truth"]:.10g}' for p in record['predictions']]
    write(f'{out}/solutions/{lab}/predict.ini', '\n'.join(lines) + '\n')


def corpus_run(build, out, name):
    """The results of the mutants NAME in OUT: [(is right, mutant, message)].  BUILD's own planted sources stay."""
    with tempfile.TemporaryDirectory() as folder:
        for entry in os.listdir(build):
            if entry not in ('planted', 'results'):
                os.symlink(f'{build}/{entry}', f'{folder}/{entry}')
        done = run(['sh', 'autograder/tests/corpus/check.sh', folder, f'mutants/{name}'], cwd=out)
    found = re.findall(r'(?m)^(not )?ok mutants/([\w/-]+)(.*)$', done.stdout)
    if not found:
        fail(f'the mutants of {name} cannot be graded: {done.stdout.strip()[-400:]}', 1)
    return [(not wrong, mutant, message) for wrong, mutant, message in found]


def expectation_renew(path, message):
    """Takes a mutant's fault or words from the grader's message; False: the grader did not find it."""
    fault = re.search(r'found ([\w-]+), not ', message)
    text = read(path)
    if fault and fault[1] != 'none':
        text = re.sub(r'(?m)^fault *=.*$', f'fault = {fault[1]}', text, count=1)
    elif "the words '" not in message:
        return False
    write(path, re.sub(r'(?m)^words *=.*\n', '', text, count=1))
    return True


def mutants_check(build, out, lab):
    """(number of mutants, those with another message, those that are not found).  In other places in
    memory a mutant may read other elements, so that the grader describes it in other words."""
    results, renewed, wrong = corpus_run(build, out, lab), [], []
    for right, mutant, message in results:
        if right:
            continue
        found = expectation_renew(f'{out}/autograder/tests/mutants/{mutant}.patch', message)
        for _ in range(2):  # first the fault may be another, then the words
            again = [message for right, _, message in corpus_run(build, out, mutant) if not right] if found else []
            found = found and (not again or expectation_renew(f'{out}/autograder/tests/mutants/{mutant}.patch', again[0]))
        (renewed if found else wrong).append(mutant)
    return len(results), renewed, wrong


def lab_check(build, out, lab, against, source):
    """Grades the solution, the mutants, last year's solution, and its TODO regions in this skeleton."""
    with tempfile.TemporaryDirectory() as folder:
        own = grade(build, out, lab, 'solutions', f'{folder}/own')['points']
        last = grade(build, out, lab, f'{against}/solutions', f'{folder}/last')['points']
        pasted = f'{folder}/pasted/{lab}'
        write(f'{pasted}/{source}', regions_copied(read(f'{out}/labs/{lab}/{source}'), read(f'{against}/solutions/{lab}/{source}')))
        shutil.copy(f'{against}/solutions/{lab}/predict.ini', f'{pasted}/predict.ini')
        regions = grade(build, out, lab, f'{folder}/pasted', f'{folder}/regions')['points']
    number, renewed, wrong = mutants_check(build, out, lab)
    return {'solution': own, 'last': last, 'regions': regions, 'mutants': number, 'renewed': renewed, 'wrong': wrong}


# ---- the variant -------------------------------------------------------------------------------------
def lab_change(build, out, lab, axes, chance):
    """Writes the files of one lab; returns what was drawn."""
    ini = read(f'{out}/labs/{lab}/lab.ini')
    source = re.search(r'^source *= *(\S+)', ini, re.M)[1]
    sizes = sizes_draw(chance, lab, ini)
    old = read(f'{out}/solutions/{lab}/{source}')
    new = formatted(index_rules.rewrite(old, axes), source)
    for folder in (f'autograder/tests/mutants/{lab}', f'autograder/tests/ideas/{lab}'):
        patches_change(out, folder, old, new, axes, source)
    write(f'{out}/solutions/{lab}/{source}', new)
    for path in (f'labs/{lab}/{source}', f'autograder/tests/skeletons/{lab}/{source}', f'labs/{lab}/baseline.cu', f'labs/{lab}/baseline.c'):
        if os.path.isfile(f'{out}/{path}'):
            write(f'{out}/{path}', formatted(index_rules.rewrite(read(f'{out}/{path}'), axes), source))
    write(f'{out}/labs/{lab}/lab.ini', shapes_change(index_rules.rewrite(ini, axes), axes, sizes))
    with tempfile.TemporaryDirectory() as folder:
        answers_write(out, lab, grade(build, out, lab, 'solutions', folder))
    page = handout_change(read(f'{out}/labs/{lab}/README.md'), axes)
    for name in ('shapes', 'questions'):
        table = run([f'{build}/bin/lab', name, '--root', out, '--build', build, '--lab', lab[:2]])
        if table.returncode:
            fail(f'lab {name}: {table.stderr.strip()}', 1)
        page = table_set(page, name, table.stdout)
    write(f'{out}/labs/{lab}/README.md', page)
    return source, [f'{",".join(cases)}: {letter} = {new} instead of {old}' for cases, letter, old, new in sizes]


def labs_chosen(wanted):
    """Names of the labs; all that draws.ini has unless some are named."""
    table = re.findall(r'^\[(\S+)\]', read(f'{HERE}/draws.ini'), re.M)
    for name in wanted:
        if name not in [lab[:2] for lab in table]:
            fail(f'LAB="{" ".join(wanted)}": lab {name} has no variants: there are {" ".join(lab[:2] for lab in table)}')
    return [lab for lab in table if not wanted or lab[:2] in wanted]


def commit(out, subject, reason):
    run(['git', '-C', out, 'add', '-A'], check=True)
    if not run(['git', '-C', out, 'status', '--porcelain']).stdout:
        return
    done = run(['git', '-C', out, '-c', 'user.name=make variant', '-c', 'user.email=variant@localhost', 'commit', '-q',
                '-m', f'{subject}\n\n{reason}\n'])
    if done.returncode:
        fail(f'git commit in {out}: {done.stderr.strip()}', 1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--against')
    parser.add_argument('--unchecked', action='store_true')
    parser.add_argument('build')
    parser.add_argument('seed')
    parser.add_argument('out')
    parser.add_argument('lab', nargs='*')
    given = parser.parse_args()
    labs = labs_chosen([name for word in given.lab for name in word.split()])
    build, against = os.path.abspath(given.build), os.path.abspath(given.against or '.')
    if os.path.lexists(given.out):
        fail(f'OUT={given.out} exists; name a folder that does not')
    if not os.path.isdir(f'{against}/solutions'):
        fail(f'AGAINST={given.against} has no solutions: name the workbook of an earlier year')
    done = run(['git', 'clone', '-q', '--', '.', given.out])
    if done.returncode:
        fail(f'git clone: {done.stderr.strip()}')
    out = os.path.abspath(given.out)
    chance = random.Random(f'variant {given.seed}')
    axes = axes_draw(chance, axes_of(against, labs[0]))
    print(f'reversed axes: {index_rules.key_of(axes)}')
    sources = {}
    for lab in labs:
        sources[lab], drawn = lab_change(build, out, lab, axes, chance)
        print(f'{lab}: ' + '; '.join(drawn), flush=True)
    commit(out, f'Draw a variant of labs {" ".join(lab[:2] for lab in labs)}',
           f'make variant SEED={given.seed} drew other orders in memory and other sizes.')
    if given.unchecked:
        return
    print('\nlab             solution  earlier file  its TODO regions  mutants  another message  not found')
    bad = False
    for lab in labs:
        m = lab_check(build, out, lab, against, sources[lab])
        print(f'{lab:<15} {m["solution"]:8.1f} {m["last"]:13.1f} {m["regions"]:17.1f} {m["mutants"]:8d} '
              f'{len(m["renewed"]):16d} {len(m["wrong"]):10d}', flush=True)
        for name in m['wrong']:
            print(f'    the grader does not find {name}')
        bad |= m['solution'] < 100 or max(m['last'], m['regions']) >= PASSING or bool(m['wrong'])
    commit(out, 'Expect other messages for some mutants', 'Their faults read other elements in this order in memory.')
    if bad:
        fail(f'a solution is below 100, an earlier one is not below {PASSING}, or a mutant is not found: draw another SEED', 1)


if __name__ == '__main__':
    main()
