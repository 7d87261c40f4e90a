"""references.py commands|paths|hints|printed [--copy] [ROOT]

Commands and references of a tree that name something the tree does not have.

commands  every command in a code block or in backquotes of a page: its target, variables and the
          labs, cases, GPUs and files that it names
paths     links, anchors, files and functions that pages name; files that comments and hints name
hints     the identifiers in a lab's hints: they must occur in its skeleton, in a header that the
          skeleton includes, or in CUDA
printed   no check: the commands of pages that can be run as they are, one a line

--copy: ROOT is a student's copy.  It has fewer targets and files than the workbook.
Output: "FILE:LINE: RULE: text", a line for each fault; exit status 1 if there is one.
"""
import os
import re
import shlex
import subprocess
import sys
from functools import lru_cache

SUFFIX = r'(?:c|h|cu|cuh|cc|cpp|sh|py|md|ini|tsv|gp|mk|def|forms|css|awk)'
FENCE = re.compile(r'^\s*(```+|~~~+)\s*(.*)$')
CODE_BLOCKS = ('', 'sh', 'bash', 'text')  # languages of blocks that may have commands
LINK = re.compile(r'\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s#]*)(?:#([^)\s]+))?\)')
# Pages and sources that quote what does not exist: planted faults, records, texts of others.
SKIPPED = re.compile(r'^(docs/data/|docs/style/|autograder/tests/|common/simulator/validation/(data|records)/|LICENSE|build/)')
# Names that a command uses as a placeholder for the reader's own.
PLACEHOLDER = re.compile(r'^(NN|name|dir|file|n|x|mine|port|path/.*|\.\.\.|.*[@$%].*|handed-in.*|my\w*(\.\w+)?|/.*|\.\./.*|file\.\w+|\w+\.tsv)$')


def placeholder(value):
    return not value or '...' in value or bool(PLACEHOLDER.match(value))


class Tree:
    def __init__(self, root, is_copy):
        self.root, self.is_copy = root, is_copy
        listed = subprocess.run(['git', '-C', root, 'ls-files', '-co', '--exclude-standard'] if not is_copy else
                                ['git', '-C', root, 'ls-files'], capture_output=True, text=True, check=True).stdout.split('\n')
        self.files = sorted(f for f in set(listed) if f and os.path.isfile(os.path.join(root, f)))
        self.paths = set(self.files)
        for file in self.files:
            while '/' in file:
                file = file.rpartition('/')[0]
                self.paths.add(file)
        self.ends = {}
        for path in self.paths:
            self.ends.setdefault(path.rpartition('/')[2], []).append('/' + path)
        self.labs = {f.split('/')[1][:2]: f.split('/')[1] for f in self.files if re.match(r'labs/[^/]+/lab\.ini$', f)}
        self.faults = 0

    @lru_cache(None)
    def read(self, path):
        with open(os.path.join(self.root, path), encoding='utf-8', errors='replace') as file:
            return file.read()

    def fault(self, file, line, rule, text):
        self.faults += 1
        print(f'{file}:{line}: {rule}: {text}')

    def pages(self):
        return [f for f in self.files if f.endswith('.md') and not SKIPPED.match(f) and
                f != 'autograder/handout/student.md' and '/new-lab/' not in f]

    def sources(self):
        return [f for f in self.files if (re.search(rf'\.{SUFFIX}$', f) or f == 'Makefile') and
                not f.endswith(('.md', '.tsv')) and not SKIPPED.match(f)]

    def has(self, path, start=''):
        """A file or folder of that name or with that end; * is any name."""
        path = path.rstrip('/')
        if '*' in path or 'NN' in path:
            pattern = re.compile('(.*/)?' + re.escape(path).replace(r'\*', '[^/]*').replace('NN', r'[0-9]{2}') + '([^/]*)$')
            return any(pattern.match(p) for p in self.paths)
        near = os.path.normpath(os.path.join(os.path.dirname(start), path))
        if near in self.paths:
            return True
        return any(p.endswith('/' + path) for p in self.ends.get(path.rpartition('/')[2], ()))


# ---- pages ------------------------------------------------------------------------------------------
def blocks(text):
    """(line, language, lines) of each code block, and (line, None, text) of each paragraph."""
    language, begin, held = None, 0, []
    fence = ''
    for number, line in enumerate(text.split('\n'), 1):
        match = FENCE.match(line)
        if match and not fence:
            if held:
                yield begin, None, held
            fence, language, begin, held = match[1], match[2].strip(), number + 1, []
        elif fence and line.strip() == fence:
            yield begin, language, held
            fence, held = '', []
        elif not fence and (not line.strip() or line.lstrip().startswith('|')):
            if held:
                yield begin, None, held
            held = []
            if line.strip():
                yield number, None, [line]
        else:
            if not held:
                begin = number if not fence else begin
            held.append(line)
    if held:
        yield begin, None, held


def spans(begin, lines):
    """(line, text) of each code span of a paragraph."""
    text = '\n'.join(lines)
    for match in re.finditer(r'(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)', text, re.S):
        yield begin + text.count('\n', 0, match.start()), ' '.join(match[2].split())


# ---- commands ---------------------------------------------------------------------------------------
def commands(page, text):
    """(line, command) of each command that the page prints."""
    for begin, language, lines in blocks(text):
        if language is None:
            for line, code in spans(begin, lines):
                if re.match(r'make(?= [a-zA-Z]|$)', code):
                    yield line, code
        elif language in CODE_BLOCKS:
            held, start = '', begin
            for number, line in enumerate(lines, begin):
                held = held + ' ' + line.strip() if held else line.strip()
                if held.endswith('\\'):
                    held = held[:-1]
                    continue
                is_sentence = re.search(r'[a-z]\.$', held)  # as in "make hint LAB=04 explains it."
                if not is_sentence and re.match(r'(\$ )?(make|sh|cp|sed|mkdir|ln|nvcc|cc|cat|grep|\$EDITOR|build/\S+|python3)(\s|$)', held):
                    yield start, held.removeprefix('$ ')
                held, start = '', number + 1


def parts_of(command):
    """The words of each simple command."""
    command = re.split(r'\s+#\s', command)[0]
    command = re.sub(r'\[([^\]]*)\]', lambda m: m[1].split(' | ')[0], command) if command.startswith('make') else command
    command = command.split('     ')[0]
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=';&|<>')
        lexer.whitespace_split = True
        lexer.commenters = ''
        words = list(lexer)
    except ValueError:
        return
    simple = []
    for word in words:
        if set(word) <= set(';&|'):
            yield simple
            simple = []
        else:
            simple.append(word)
    yield simple


class Make:
    def __init__(self, tree):
        run = dict(cwd=tree.root, capture_output=True, text=True)
        env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MAKELEVEL', 'BUILD', 'LAB')}
        data = subprocess.run(['make', '-pRrn', 'help'], env=env, **run).stdout
        value = {m[1]: m[2].split() for m in re.finditer(r'^([A-Z_]+) :?= (.*)$', data, re.M)}
        self.settings = set(value.get('SETTINGS', []) + value.get('PARAMETERS', []))
        self.targets = set(re.findall(r'^([a-z][^\s:=%]*):', data, re.M))
        # The Makefile of a copy refuses the targets of which it has no sources.
        self.absent = set(value.get('OWN_TARGETS', [])) if tree.is_copy else set()
        if not self.settings or 'grade' not in self.targets:
            sys.exit('references.py: make printed no targets or settings')
        self.help = subprocess.run(['make', '-s', 'help'], env=env, **run).stdout
        self.listed = set(re.findall(r'^  make ([a-z-]+)', self.help, re.M))


def check_value(tree, make, made, target, name, value):
    """The fault of NAME=VALUE, or None."""
    if name not in make.settings:
        return f'make knows no variable {name}'
    if placeholder(value):
        return None
    if name == 'LAB':
        for lab in value.split():
            if lab[:2] not in tree.labs and lab not in made and not lab.startswith('cudnn') and \
                    not (target in ('numbers', 'check') and f'docs/numbers/{lab}.sh' in tree.paths):
                return f'there is no lab {lab}'
    if name == 'GPU':
        for gpu in value.split():
            if not tree.has(f'simulator/gpus/{gpu}.ini'):
                return f'there is no GPU {gpu}'
    if name == 'ENGINE' and value.split('|')[0] not in ('auto', 'gpu', 'sim', 'slurm', 'slurm-gpu'):
        return f'there is no engine {value}'
    if name == 'NETWORK' and not tree.has(f'networks/{value}.tsv'):
        return f'there is no network {value}'
    if name in ('SUBMISSION', 'PROGRAM', 'FILES'):
        for path in value.split():
            if path == 'solutions' and tree.is_copy:
                return "a student's copy has no solutions"
            if path not in tree.paths and path not in made and not path.startswith('build/'):
                return f'there is no {path}'
    if name in ('DATA', 'SET', 'PLATFORM', 'MODE'):
        known = re.search(rf'{name}=([a-z0-9|-]+)', make.help)
        if known and value not in known[1].split('|') and value != 'recordings':
            return f'{name} is one of {known[1]}'
    return None


def check_commands(tree):
    make = Make(tree)
    for page in tree.pages():
        made = set()
        for line, command in commands(page, tree.read(page)):
            for words in parts_of(command):
                if words:
                    check_command(tree, make, page, line, made, words)
    for target in sorted(make.listed - make.absent) if tree.is_copy else ():
        if not re.search(rf'make {target}\b', tree.read('README.md')):
            tree.fault('README.md', 1, 'command', f'the page does not list make {target}')


def print_commands(tree):
    found = set()
    for page in tree.pages():
        for _, command in commands(page, tree.read(page)):
            for words in parts_of(command):
                values = [w.split('=', 1)[1] for w in words if '=' in w]
                if words[:1] == ['make'] and not re.search(r'[<>$|%\[]|\.\.\.', ' '.join(words)) and \
                        not any(placeholder(v) for v in values):
                    found.add(' '.join(shlex.quote(w) for w in words))
    print('\n'.join(sorted(found)))


def check_command(tree, make, page, line, made, words):
    if words[0] == 'make':
        goals = [w for w in words[1:] if '=' not in w and not w.startswith('-') and w not in ('<', '>')]
        if '>' in words:
            goals = [g for g in goals if g != words[-1]]
        values = dict(w.split('=', 1) for w in words[1:] if re.match(r'[A-Za-z_]+=', w))
        target = goals[0] if goals else 'labs'
        if target == 'new-lab':
            made.update((values.get('LAB'), f"labs/{values.get('LAB')}-{values.get('NAME')}"))
        for goal in goals:
            if goal in make.absent:
                tree.fault(page, line, 'command', f"make {goal}: a student's copy does not have this target")
            elif goal not in make.targets and not goal.startswith('build/') and goal != 'NAME' and goal != 'TARGET':
                tree.fault(page, line, 'command', f'make has no target {goal}')
        if values.get('LAB', '').split()[:1] == ['30']:
            made.add('30')
        for name, value in values.items():
            what = check_value(tree, make, made, target, name, value)
            if what:
                tree.fault(page, line, 'command', f'{" ".join(words)}: {what}')
        lab, case = values.get('LAB', ''), values.get('CASE')
        if case and not placeholder(case) and lab in tree.labs and \
                not re.search(rf'^\[case {re.escape(case)}\]', tree.read(f'labs/{tree.labs[lab]}/lab.ini'), re.M):
            tree.fault(page, line, 'command', f'{" ".join(words)}: lab {lab} has no case {case}')
        return
    for place, word in enumerate(words[1:], 1):
        is_made = words[place - 1] in ('>', '-o') or words[0] in ('mkdir',) or (words[0] == 'cp' and place == len(words) - 1)
        if is_made:
            made.update((word, os.path.dirname(word)) if '/' in word else (word,))
            while word.strip('/'):
                made.add(word)
                word = os.path.dirname(word)
        elif re.match(r'(labs|solutions|common|autograder|docs|book|datasets|mk)/', word) and \
                word.rstrip('/') not in tree.paths and word not in made and not re.match(r'\w+/30-', word):
            tree.fault(page, line, 'command', f'{" ".join(words)}: there is no {word}')


# ---- links, files and functions ----------------------------------------------------------------------
def anchors(text):
    found = set(re.findall(r'(?:id|name)="([^"]+)"', text)) | set(re.findall(r'^\(([\w-]+)\)=$', text, re.M))
    for _, language, lines in blocks(text):
        for line in lines if language is None else ():
            match = re.match(r'#+ (.*)', line)
            if match:
                slug = re.sub(r'[^\w\- ]', '', match[1].strip().lower()).replace(' ', '-')
                again = sum(1 for f in found if re.fullmatch(re.escape(slug) + r'(-\d+)?', f))
                found.add(f'{slug}-{again}' if again else slug)
    return found


def check_link(tree, page, line, target, anchor):
    path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
    if path not in tree.paths:
        tree.fault(page, line, 'link', f'there is no {path}')
    elif anchor and path.endswith('.md') and anchor not in anchors(tree.read(path)):
        tree.fault(page, line, 'link', f'{path} has no heading #{anchor}')


FILE = re.compile(rf'(?<![\w./*<>-])((?:\.\./)*[\w*-][\w./*-]*\.{SUFFIX})(?![\w/*-]|\.\w)')
FUNCTION = re.compile(r'^([a-zA-Z_]\w*)\(\)$')
# Files of the reader, of NVIDIA or of a system, and examples.
OTHERS = re.compile(r'^(my\w*|mine|file|name|x|a|b|race|im2col|cuda\w*|std\w+|mma|nvToolsExt|cooperative_groups\S*|.*cuda/\S+|sm_\d+|bulk_grades/api)\.\w+$')


@lru_cache(None)
def words_of_code(tree):
    words = set()
    for file in tree.files:
        if re.search(r'\.(c|h|cu|cuh|sh|py|def|inc)$', file) or file == 'docs/simulator/cuda-calls.md':
            words.update(re.findall(r'[A-Za-z_]\w+', tree.read(file)))
    return words


def check_pages(tree):
    for page in tree.pages():
        for begin, language, lines in blocks(tree.read(page)):
            if language is not None:
                continue
            text = '\n'.join(lines)
            bare = re.sub(r'`[^`]*`', lambda m: m[0] if '](' in m[0] else re.sub(r'[^\n]', '_', m[0]), text)
            for match in LINK.finditer(bare):
                if '://' not in match[1] and not match[1].startswith('mailto:'):
                    check_link(tree, page, begin + bare.count('\n', 0, match.start()), match[1], match[2])
            for line, code in spans(begin, lines):
                if FUNCTION.match(code) and FUNCTION.match(code)[1] not in words_of_code(tree):
                    tree.fault(page, line, 'name', f'no source has {code}')
                if re.fullmatch(r'[\w./*-]+', code) and FILE.match(code) and FILE.match(code)[1] == code:
                    check_file(tree, page, line, code)
                elif re.fullmatch(r'(labs|solutions|common|autograder|docs|book|datasets|mk)/[\w./*-]*', code) and \
                        not re.search(r'NAME|NN|\.\.\.|\.patch$', code) and not tree.has(code):
                    tree.fault(page, line, 'path', f'there is no {code}')


def check_file(tree, file, line, name):
    if '/' not in name or re.search(r'NAME|NN|\.\.\.|^(OUT|BUILD|BASE|DIR|DATA)/|/found\.tsv$|\*\.patch$', name):
        return  # a placeholder, or a file that may be the reader's or an output
    if not OTHERS.match(name.rpartition('/')[2]) and not OTHERS.match(name) and not name.startswith('build/') \
            and '30-' not in name and not tree.has(name, file):
        tree.fault(file, line, 'path', f'there is no {name}')


def comments(file, text):
    """(line, text) of each line of comment."""
    if re.search(r'\.(c|h|cu|cuh|cc|cpp|css|def|forms)$', file):
        for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', text, re.S):
            if match[0][0] == '/':
                for number, line in enumerate(match[0].split('\n'), text.count('\n', 0, match.start()) + 1):
                    yield number, line
    else:
        for number, line in enumerate(text.split('\n'), 1):
            match = re.match(r'\s*[#;](.*)', line) or re.search(r'\s# (.*)', line)
            if match:
                yield number, match[1]


def in_help(file, line):
    """Whether `make help` prints the comment in a student's copy."""
    return line.startswith(':') and file in ('Makefile', 'mk/labs.mk', 'mk/simulator.mk', 'mk/apps.mk', 'mk/class.mk', 'mk/toolchain.mk')


def check_sources(tree):
    for file in tree.sources():
        text = tree.read(file)
        if file.endswith('lab.ini') and not tree.is_copy:
            lines = list(enumerate(text.split('\n'), 1))
        else:
            lines = comments(file, text)
        for number, line in lines:
            for match in FILE.finditer(line):
                # In a copy, the comments of the programs are for readers of the full workbook.
                if tree.is_copy and not file.startswith('labs/') and not in_help(file, line):
                    continue
                check_file(tree, file, number, match[1])


# ---- hints ------------------------------------------------------------------------------------------
def check_hints(tree):
    calls = set(re.findall(r'\w+', tree.read('docs/simulator/cuda-calls.md')))
    calls |= {'ceil', 'min', 'max', 'expf'}  # mathematical functions of CUDA
    calls |= {'threads_x', 'block_idx', 'i_w', 'k_h', 'k_w'}  # the papers of labs 06, 08 and 13 print these
    calls |= set(re.findall(r'\w+', tree.read('common/include/convlab/conv.h')))
    for name in tree.labs.values():
        ini = tree.read(f'labs/{name}/lab.ini')
        source = re.search(r'^source *= *(\S+)', ini, re.M)[1]
        code = tree.read(f'labs/{name}/{source}') + tree.read(f'labs/{name}/README.md')
        for header in re.findall(r'#include [<"](convlab/\S+)[">]', code):
            code += tree.read(f'common/include/{header}')
        known = set(re.findall(r'[A-Za-z_]\w*', code)) | calls
        section, held = '', ''
        for number, line in enumerate(ini.split('\n'), 1):
            if line.startswith('['):
                section, held = line, ''
            if not section.startswith('[hint') or not re.match(r'text|\s', line):
                continue
            found = re.findall(r'`([^`]*)`', line)
            words = {w for code in found for w in re.findall(r'[A-Za-z_]\w*', code)}
            words |= set(re.findall(r'\b([A-Za-z_]\w*)[\[(](?!s\))', line)) | set(re.findall(r'\b([A-Za-z]\w*_\w+)\b', line))
            # "a = ..." and "float4 a" in a hint define a name.
            held += line
            defined = set(re.findall(r'\b(\w+) *[-+*]?=(?!=)', held)) | set(re.findall(r'\b(?:int|float|float[24]|half2?|__half2?|unsigned) \*?(\w+)', held))
            for word in sorted(words - known - defined):
                tree.fault(f'labs/{name}/lab.ini', number, 'hint', f'neither {source} nor CUDA has {word}')


def main():
    arguments = [a for a in sys.argv[1:] if a != '--copy']
    tree = Tree(arguments[1] if len(arguments) > 1 else '.', '--copy' in sys.argv)
    rule = arguments[0]
    if rule == 'commands':
        check_commands(tree)
    elif rule == 'paths':
        check_pages(tree)
        check_sources(tree)
    elif rule == 'hints':
        check_hints(tree)
    elif rule == 'printed':
        print_commands(tree)
    else:
        sys.exit(__doc__)
    sys.exit(1 if tree.faults else 0)


if __name__ == '__main__':
    main()
