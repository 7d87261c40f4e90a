"""index_rules.py - the index arithmetic of labs 01 to 04 for tensors with reversed axes.

A rule replaces one expression of C code, or of a hint that quotes it.  For example, with the rows of
x reversed, `* p.H + ih)` becomes `* p.H + p.H - 1 - ih)`.  A rule is its own inverse where a mutant
may reverse the axis already: such a mutant reads the axis in ascending order then.
"""
import re

# Axes that are drawn: the value of lab.ini's key `reversed`, and two texts for the handout.
AXES = {
    'x.n': ('x.n', 'The images of x are stored in reverse order, the last image first',
            'index n of x becomes N - 1 - n'),
    'x.c': ('x.c', 'The channels of each image of x are stored in reverse order, the last channel first',
            'index c of x becomes C - 1 - c'),
    'x.h': ('x.h', 'The rows of x are stored from bottom to top, the last row first',
            'index h of x becomes H - 1 - h'),
    'w.rs': ('w.r,w.s', 'The taps of each filter are stored in reverse order, the last row and column first',
             'indices r and s of w become R - 1 - r and S - 1 - s'),
    'y.p': ('y.p', 'The rows of y are stored from bottom to top, the last row first',
            'index p of y becomes P - 1 - p'),
}


def toggled(before, axis, index, end):
    """The rule BEFORE p.X + i END -> BEFORE p.X + p.X - 1 - i END, and back."""
    problem = r'(?:p->|p\.)?'
    pattern = rf'(?P<before>{before}\s*\*\s*(?P<problem>{problem}){axis}\s+\+\s+)(?P<last>{problem}{axis} - 1 - )?{index}(?={end})'
    return pattern, lambda m: m['before'] + ('' if m['last'] else f'{m["problem"]}{axis} - 1 - ') + index


RULES = {
    'x.n': [(r'\(n(\s*\*\s*)(p->|p\.)?C\s+\+ ', lambda m: f'(({m[2] or ""}N - 1 - n){m[1]}{m[2] or ""}C + '),
            (r'\bn \* (strides\.x|xs)\.n\b', r'(p.N - 1 - n) * \1.n')],
    'x.c': [toggled(r'(?:N - 1 - n\)|\(n)', 'C', 'c', r'\)'),
            (r'\bc (\*|/) (strides\.x|xs)\.c\b', r'(p.C - 1 - c) \1 \2.c')],
    'x.h': [toggled('', 'H', 'ih', r'\)'),
            (r'\bih \* (strides\.x|xs)\.h\b', r'(p.H - 1 - ih) * \1.h'),
            (r'channel\[ih \* p\.W', 'channel[(p.H - 1 - ih) * p.W')],
    'w.rs': [toggled('', 'R', 'r', r'\)'),
             toggled(r'\)', 'S', 's', r'(?![\w(])'),
             (r'\* p\.S \+ s \* p\.R \+ r\]', '* p.S + (p.S - 1 - s) * p.R + p.R - 1 - r]'),
             (r'taps\[s\]', 'taps[p->S - 1 - s]'),
             (r'taps\[\(p->R - 1 - 2 \* r\)', 'taps[(2 * r - p->R + 1)'),
             (r'\br \* (strides\.w|ws)\.h \+ s \* (?:strides\.w|ws)\.w\b',
              r'(p.R - 1 - r) * \1.h + (p.S - 1 - s) * \1.w'),
             (r'\* taps\s+\+ tap\]', '* taps + taps - 1 - tap]')],
    'y.p': [toggled('', 'P', 'op', r'\)'),
            (r'\bop \* (strides\.y|ys)\.h\b', r'(p.P - 1 - op) * \1.h')],
}


def rewrite(text, axes):
    """`text` with the index arithmetic of these reversed axes."""
    for axis in AXES:
        for pattern, replacement in RULES[axis] if axis in axes else ():
            text = re.sub(pattern, replacement, text)
    return text


def key_of(axes):
    """The value of the key `reversed` of a shape."""
    return ','.join(AXES[axis][0] for axis in AXES if axis in axes)
