"""style.py [--terms FILE] [--budget FILE [--lower]] [--quiet] [FILE or FOLDER...]

Reports the sentences, words and headings that docs/style/guide.md rules out.

It reads Markdown pages, the comments of C, CUDA, shell, make, gnuplot and Python sources, the texts
of ini files, the labels of figures, the heads of patches, and string literals that are messages.
Without FILE it reads every file that git tracks or would track.

Output: "FILE:LINE: RULE: text", then the counts by folder and the share of fronted sentences.
Rules:
  word     a word or phrase of terms.tsv (columns: word, pattern, allowed contexts, replacement)
  fronted  a statement that starts with Of, Who, What, Where, How or For
  clause   a comment or table cell that starts with of, who, what, where, how, when or that
  long     a sentence of more than 35 words
  heading  a heading or column title that names no contents
With --budget it compares the counts with a table; exit status 1: a count is higher, 3: one is lower.
With --lower it writes lower counts into that table.
"""
import bisect
import io
import os
import re
import subprocess
import sys
import tokenize
from collections import Counter, namedtuple

LONGEST = 35  # words in a sentence (guide, rule 5)
RULES = ('word', 'fronted', 'clause', 'long', 'heading')
FRONTS = r'(?:Of|Who|Whom|Whose|Whoever|What|Whatever|Where|Wherever|How|For)'
FRONTED = re.compile(rf'\W*{FRONTS}\b(?!(?<=For) (?:example|instance)\b)(?!:)')
CLAUSE = re.compile(r'\W*(?:of|who|whom|whose|whoever|what|whatever|where|how|when|that)\b')
# Copies of labs, planted mistakes, lists of words, and measurements.
SKIPPED = re.compile(r'^(autograder/tests/skeletons/|autograder/tests/style/|docs/style/[a-z]+\.tsv$|LICENSE|docs/data/'
                     r'|common/simulator/validation/(data|records)/)')

# kind: prose, comment, message, cell, heading, label of a figure, code of a hint
Unit = namedtuple('Unit', 'kind text starts lines')


def unit(kind, parts):
    """A text of several lines as one: parts are (line number, text)."""
    text, starts, lines = '', [], []
    for line, piece in parts:
        piece = piece.strip()
        if not piece:
            continue
        if text:
            text += ' '
        starts.append(len(text))
        lines.append(line)
        text += piece
    return Unit(kind, text, starts, lines)


def line_of(one, offset):
    return one.lines[max(0, bisect.bisect_right(one.starts, offset) - 1)] if one.lines else 0


def plain(text):
    """Removes the marks of Markdown and HTML.  Code becomes one word."""
    text = re.sub(r'``.+?``|`[^`]*`', 'CODE', text)
    text = re.sub(r'\$[^$ ][^$]*\$', 'MATH', text)
    text = re.sub(r'!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)', r'\1', text)
    text = re.sub(r'<https?:[^>]*>|https?:\S+', 'LINK', text)
    text = re.sub(r'</?[a-zA-Z][^>]*>|-{3,}|={3,}', ' ', text)
    return re.sub(r'\*\*|(?<!\w)[*_](?=\w)|(?<=[\w.,:;?!])[*_](?!\w)', '', text)


# ---- texts of each kind of file ---------------------------------------------------------------------
ITEM = re.compile(r'^\s*(?:[-*+]|\d+[.)]|\(?[a-z]\)) +')
# A row of a list in a comment or a usage message: "name  meaning", "--option VALUE  meaning", or
# several words, then three blanks.
LIST_ROW = re.compile(r'^\s*(?:[\w./|=-]+ {2,}|(?:\S+ ){0,6}[A-Z]{2,} {2,}|'
                      r'\S+(?: \S+){1,6} {3,})(?=\S)')


def markdown(text):
    parts, fence, comment = [], None, False
    rows = text.split('\n')

    def flush():
        nonlocal parts
        if parts:
            yield unit('prose', parts)
        parts = []

    for number, row in enumerate(rows, 1):
        mark = re.match(r'\s*(```|~~~)', row)
        if mark:
            yield from flush()
            fence = None if fence == mark[1] else fence or mark[1]
            continue
        if fence:
            continue
        row = re.sub(r'<!--.*?-->', '', row)
        if comment:
            comment = '-->' not in row
            continue
        if '<!--' in row:
            comment = True
            continue
        if not row.strip():
            yield from flush()
        elif re.match(r'#{1,6} ', row):
            yield from flush()
            yield unit('heading', [(number, row.lstrip('#'))])
        elif re.match(r'\s*\|', row):
            yield from flush()
            below = rows[number] if number < len(rows) else ''
            if re.fullmatch(r'[\s|:-]+', row):
                continue
            titles = re.fullmatch(r'\s*\|[\s|:-]+', below)
            cells = re.split(r'(?<!\\)\|', row.strip().strip('|'))
            if titles and cells[0].strip() == 'case':
                continue  # the other titles are keys of a shape ("kind"), as in SHAPE='kind=max'
            for column, cell in enumerate(cells):
                if titles:
                    if column or cell.strip():  # the first column may name the rows by itself
                        yield unit('heading', [(number, cell.strip() or '(empty)')])
                else:
                    yield unit('cell', [(number, cell)])
        elif ITEM.match(row) or re.match(r'\s*>', row):
            yield from flush()
            parts = [(number, re.sub(r'^\s*>', '', ITEM.sub('', row)))]
        elif not parts and re.match(r' {4}', row):
            continue  # an indented program
        else:
            parts.append((number, row))
    yield from flush()


def paragraphs(rows, kind='comment'):
    """Comment lines without their marks, as (number, text): paragraphs, items and rows of lists."""
    parts, help_of = [], False
    usual = min((len(row) - len(row.lstrip()) for _, row in rows[1:] if row.strip()), default=0)
    for number, row in rows:
        indent = len(row) - len(row.lstrip())
        if re.match(r'\s*make [a-z]', row):  # `make help`: a command, then its meaning
            if parts:
                yield unit(kind, parts)
            meaning = re.search(r'\S {2,}(\S.*)', row)
            parts, help_of = [(number, meaning[1])] if meaning else [], True
            continue
        if help_of and row.lstrip().startswith('[') and not parts:
            continue  # more arguments of the command
        row = LIST_ROW.sub('- ', row)
        if not row.strip() or not re.search('[A-Za-z]{2}', row):
            if parts:
                yield unit(kind, parts)
            parts = []
        elif ITEM.match(row) or re.match(r'\s*[A-Z][a-z]+( [a-z]+)?: ', row):
            if parts:
                yield unit(kind, parts)
            parts = [(number, ITEM.sub('', row))]
        elif indent >= usual + 4 and not parts and not help_of:
            continue  # a drawing, a formula, a program
        else:
            parts.append((number, row))
    if parts:
        yield unit(kind, parts)


def is_message(text):
    """Is a string literal meant for people?  At least four words, and no program."""
    words = re.findall(r"(?<![\w%$&./-])[A-Za-z][a-z']+(?![\w(/=])", text)
    return len(words) >= 4 and not re.search(r'[{}]|;\s*\\n|;\s*$|^\s*#|\breturn\b|\.global|%r[0-9]|'
                                             r'(?:\\t\w+){3}|'  # titles of a tab-separated table
                                             r'SELECT |CREATE TABLE|ON CONFLICT|__global__|&&|set terminal|\\b|\(\?', text)


def unescape(text):
    text = re.sub(r'\\n|\\t', ' ', text)
    text = re.sub(r'\\(.)', r'\1', text)
    return re.sub(r'%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?[diouxXeEfgGscp]', 'X', text)


C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def c_source(text, messages=True):
    newlines = [m.start() for m in re.finditer('\n', text)]
    number = lambda at: bisect.bisect_left(newlines, at) + 1
    slashes, strings, end = [], [], 0

    def flush(at):
        nonlocal slashes, strings
        between = text[end:at]
        if slashes and between.strip() == '' and text.startswith('//', at):
            pass
        elif slashes:
            yield from paragraphs(slashes)
            slashes = []
        if strings and re.fullmatch(r'[\s\\]*(?:PRI\w+[\s\\]*)?', between) and text.startswith('"', at):
            pass
        elif strings:
            whole = ''.join(piece for _, piece in strings)
            if messages and is_message(whole):
                lines = [(n, unescape(piece)) for n, piece in strings]
                if sum(piece.endswith('\\n') for _, piece in strings) > 2:
                    yield from paragraphs(lines, 'message')  # a usage message
                else:
                    yield unit('message', lines)
            strings = []

    for token in C_TOKEN.finditer(text):
        at, found = token.start(), token.group()
        yield from flush(at)
        end = token.end()
        if found.startswith('//'):
            slashes.append((number(at), found[2:]))
        elif found.startswith('/*'):
            rows = re.sub(r'\*/$', '', found[2:]).split('\n')
            yield from paragraphs([(number(at) + i, re.sub(r'^\s*\*(?!\w)', '', row) if i else row)
                                   for i, row in enumerate(rows)])
        elif found.startswith('"'):
            before = text[text.rfind('\n', 0, at) + 1:at]
            if not re.match(r'\s*#\s*include', before):
                strings.append((number(at), found[1:-1]))
    yield from flush(len(text))


def script(text):
    """Shell, make, gnuplot, YAML, tables: comments after #, and arguments of echo and similar."""
    block = []
    for number, row in enumerate(text.split('\n'), 1):
        comment = re.match(r'\s*#(?!!)(?!\s*shellcheck|\s*define|\s*include|\s*endif)[:#]?(.*)', row)
        if comment:
            block.append((number, comment[1]))
            continue
        if block:
            yield from paragraphs(block)
            block = []
        bare = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", lambda m: 'x' * len(m.group()), row)
        trailing = re.search(r'(?:^|\s)# (.*)', bare)
        if trailing:
            yield unit('comment', [(number, row[trailing.start(1):])])
            row = row[:trailing.start()]
        if re.search(r'\b(?:echo|printf|tell|skip|judge|die|fail|warn|error|title|label)\b', row):
            for found in re.findall(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"", row):
                said = found[0] or found[1]
                if is_message(said) and not said.startswith('|'):
                    yield unit('message', [(number, unescape(re.sub(r'\$\{?\w+\}?|\$\(.*\)', 'X', said)))])
    if block:
        yield from paragraphs(block)


def python(text):
    block, last = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if block and token.start[0] != last + 1:
                yield from paragraphs(block)
                block = []
            block.append((token.start[0], token.string.lstrip('#')))
            last = token.start[0]
        elif token.type == tokenize.STRING and is_message(token.string):
            inner = token.string.strip('rbfuRBFU').strip('"\'')
            yield from paragraphs([(token.start[0] + i, row)
                                   for i, row in enumerate(inner.split('\n'))], 'message')
    if block:
        yield from paragraphs(block)


def ini(text):
    block, value = [], []
    for number, row in enumerate(text.split('\n') + [''], 1):
        comment = re.match(r'\s*[;#](.*)', row)
        if comment:
            block.append((number, comment[1]))
            continue
        if block:
            yield from paragraphs(block)
            block = []
        pair = re.match(r'([\w.-]+)\s*=\s*(.*)', row)
        if (pair or not row.startswith(' ')) and value:
            if len(re.findall('[a-z]{2,}', ' '.join(v for _, v in value))) >= 3:
                yield unit(kind, value)
            value = []
        if pair and pair[1] not in ('shape', 'shape_gpu', 'with', 'papers', 'source'):
            kind = 'code' if pair[1] == 'code' else 'message'
            value = [(number, pair[2])]
        elif value and row.strip():
            value.append((number, row))


def patch_head(text):
    rows = []
    for number, row in enumerate(text.split('\n'), 1):
        if re.match(r'(---|diff) ', row):
            break
        rows.append(re.sub(r'^# ?', '# ', row) if row.startswith('#') else row)
    yield from ini('\n'.join(rows))


def figure(text):
    for number, row in enumerate(text.split('\n'), 1):
        for label in re.findall(r'<(?:text|title|desc)\b[^>]*>([^<]+)', row):
            if len(re.findall('[a-z]{2,}', label)) >= 2:
                yield unit('label', [(number, label)])


def units_of(path, text):
    name = os.path.basename(path)
    ending = os.path.splitext(name)[1]
    if ending == '.md':
        return markdown(text)
    if ending in ('.c', '.h', '.cu', '.cuh', '.inc', '.def'):
        return c_source(text, not re.match(r'(test|fuzz)_', name))
    if ending in ('.sh', '.mk', '.gp', '.yml', '.awk', '.forms', '.tsv') or name in (
            'Makefile', 'Dockerfile', 'run', '.shellcheckrc'):
        return script(text)
    if ending == '.py':
        return python(text)
    if ending == '.ini':
        return ini(text)
    if ending == '.patch':
        return patch_head(text)
    if ending == '.svg':
        return figure(text)
    return ()


# ---- the rules ------------------------------------------------------------------------------------
Term = namedtuple('Term', 'name pattern allowed write')


def whole_words(pattern):
    return re.compile(rf'(?<![\w-])(?:{pattern})(?![\w])', re.I)


def read_terms(path):
    """The terms, and the pattern of all together, which most texts do not contain."""
    terms, patterns = [], []
    for row in open(path, encoding='utf-8').read().split('\n')[1:]:
        if row and not row.startswith('#'):
            name, pattern, allowed, write = (row.split('\t') + ['', '', ''])[:4]
            patterns.append(pattern)
            terms.append(Term(name, whole_words(pattern),
                              re.compile(allowed, re.I) if allowed else None, write))
    return terms, whole_words('|'.join(f'(?:{pattern})' for pattern in patterns))


END = re.compile(r'(?<![A-Z]\.[A-Z])(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\b[Ff]igs)(?<!\b[Ff]ig)'
                 r'(?<!\bsec)(?<!\beq)(?<!\bpp)[.?!]+[)"*\'’”]*(?=\s+[^a-z\s]|\s*$)')


def sentences(text):
    begin = 0
    for end in END.finditer(text):
        yield begin, text[begin:end.end()]
        begin = end.end()
    if text[begin:].strip():
        yield begin, text[begin:]


def findings(one, terms, any_term, empty_words):
    """(line, rule, text) of a unit, and how many sentences it has."""
    text = plain(one.text)
    if one.kind == 'code':
        text = re.sub(r'\b\w+\([^()]*\)', 'CODE', text)  # calls
    # Offsets are those of the text with marks; without them they are a little earlier.
    place = lambda at: line_of(one, min(len(one.text), round(at * len(one.text) / max(1, len(text)))))
    found, count = [], 0
    for term in terms if any_term.search(text) else ():
        for match in term.pattern.finditer(text):
            if match.group().isupper() and len(match.group()) > 1:
                continue  # the name of a constant
            if term.allowed and any(a.start() < match.end() and match.start() < a.end()
                                    for a in term.allowed.finditer(text)):
                continue
            found.append((place(match.start()), 'word', f'"{match.group()}": write {term.write}'))
    if one.kind == 'heading':
        words = re.findall(r"[A-Za-z][\w'-]*|[^\sA-Za-z*_`|]+", text)
        question = text.rstrip('* ').endswith('?')
        if not [w for w in words if w.lower().strip("'") not in empty_words] or text == '(empty)':
            found.append((place(0), 'heading', f'"{text}" names no contents'))
        elif FRONTED.match(text) and not question and not text.startswith('How to '):
            found.append((place(0), 'heading', f'"{text}" is a clause: name the contents'))
        return found, 0
    if one.kind in ('label', 'code'):
        return found, 0
    for at, sentence in sentences(text):
        words = re.findall(r"[^\W\d_][\w'’-]*|\d[\d.,]*", sentence)
        if len(words) < 3:
            continue
        count += 1
        at += len(sentence) - len(sentence.lstrip())
        shown = ' '.join(sentence.split()[:9])
        if not sentence.rstrip(' *_)"').endswith('?'):
            if FRONTED.match(sentence):
                found.append((place(at), 'fronted', f'"{shown} ..."'))
            elif one.kind in ('comment', 'cell') and CLAUSE.match(sentence):
                found.append((place(at), 'clause', f'"{shown} ..."'))
        if len(words) > LONGEST:
            found.append((place(at), 'long', f'{len(words)} words: "{shown} ..."'))
    return found, count


def folder_of(path):
    """The row of a file in the tables: its module, its lab or its part of docs/."""
    parts = path.split('/')[:-1]
    depth = 3 if parts[:2] in (['common', 'simulator'], ['autograder', 'tests']) else 2
    return '/'.join(parts[:depth]) or '.'


def tracked():
    out = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], check=True,
                         stdout=subprocess.PIPE).stdout.decode()
    return sorted(p for p in out.split('\0') if p and os.path.isfile(p) and not os.path.islink(p))


def read_budget(path):
    if not os.path.exists(path):
        return None
    rows = [r.split('\t') for r in open(path, encoding='utf-8').read().split('\n')[1:] if r]
    return {r[0]: dict(zip(RULES, map(int, r[1:]))) for r in rows}


def table(counts, total):
    print(f'{"folder":44}' + ''.join(f'{r:>9}' for r in RULES) + f'{"sentences":>11}')
    for folder, here in sorted(counts.items()) + [('total', total)]:
        if any(here[r] for r in RULES) or folder == 'total':
            print(f'{folder:44}' + ''.join(f'{here[r]:9}' for r in RULES) + f'{here["sentences"]:11}')
    share = 100 * total['fronted'] / max(1, total['sentences'])
    print(f'{share:.1f} % of {total["sentences"]} sentences are fronted; the target is under 2 %')


def lower_budget(path, counts, total):
    """Writes the counts as the new budget.  Files may move between folders: only totals count."""
    old = read_budget(path)
    for rule in RULES:
        before = sum(row[rule] for row in old.values()) if old is not None else total[rule]
        if total[rule] > before:
            print(f'style: {rule}: {total[rule]} findings, the budget is {before}', file=sys.stderr)
            return 1
    with open(path, 'w', encoding='utf-8') as out:
        out.write('\t'.join(('folder',) + RULES) + '\n')
        for folder, here in sorted(counts.items()):
            if any(here[r] for r in RULES):
                out.write('\t'.join([folder] + [str(here[r]) for r in RULES]) + '\n')
    return 0


def compare_budget(path, counts, found):
    """1 if a count is higher than its budget, 3 if one is lower and none is higher."""
    old = read_budget(path) or {}
    status, summary = 0, []
    for folder in sorted(set(old) | set(counts)):
        for rule in RULES:
            budget, has = old.get(folder, {}).get(rule, 0), counts.get(folder, {}).get(rule, 0)
            if has > budget:
                summary.append(f'{folder}: {has} findings of {rule}, the budget is {budget}')
                for path_, line, rule_, said in found:
                    if rule_ == rule and folder_of(path_) == folder:
                        print(f'    {path_}:{line}: {rule}: {said}')
                status = 1
            elif has < budget:
                summary.append(f'lower: {folder}: {has} findings of {rule}, the budget is {budget}')
                status = status or 3
    print('\n'.join(summary))
    return status


def main(arguments):
    options = {'--terms': 'docs/style/terms.tsv', '--budget': None}
    files, lower, quiet = [], False, False
    while arguments:
        argument = arguments.pop(0)
        if argument in options:
            options[argument] = arguments.pop(0)
        elif argument == '--lower':
            lower = True
        elif argument == '--quiet':
            quiet = True
        elif os.path.isdir(argument):
            files += [p for p in tracked() if p.startswith(os.path.normpath(argument) + '/')]
        elif os.path.isfile(argument):
            files.append(os.path.normpath(argument))
        else:
            sys.exit(f'style: {argument}: no such file or folder')
    terms, any_term = read_terms(options['--terms'])
    empty_words = set(open(os.path.join(os.path.dirname(options['--terms']), 'empty-words.txt'),
                           encoding='utf-8').read().split())
    counts, total, found = {}, Counter(), []
    for path in files or tracked():
        if SKIPPED.match(path):
            continue
        try:
            text = open(path, encoding='utf-8').read()
        except UnicodeDecodeError:
            continue
        here = counts.setdefault(folder_of(path), Counter())
        for one in units_of(path, text):
            here_found, count = findings(one, terms, any_term, empty_words)
            here['sentences'] += count
            for line, rule, said in here_found:
                here[rule] += 1
                found.append((path, line, rule, said))
    for here in counts.values():
        total.update(here)

    if not quiet:
        for path, line, rule, said in found:
            print(f'{path}:{line}: {rule}: {said}')
        print()
        table(counts, total)
    if lower:
        return lower_budget(options['--budget'], counts, total)
    if options['--budget']:
        return compare_budget(options['--budget'], counts, found)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
