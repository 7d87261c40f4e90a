"""style_words.py BEFORE [AFTER] - Markdown table of the words of terms.tsv in two revisions.

Counts the findings of the rules "word" and "fronted" (style.py), with today's terms.tsv in both.
AFTER is HEAD by default.
"""
import io
import subprocess
import sys
import tarfile
from collections import Counter

import style


def counts_of(revision, terms):
    """Findings by term's replacement, fronted sentences and sentences of a revision."""
    words, fronted, sentences = Counter(), 0, 0
    packed = subprocess.run(('git', 'archive', revision), check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as tree:
        for entry in tree:
            # Records of measurements were in common/validate before.
            if (not entry.isfile() or style.SKIPPED.match(entry.name)
                    or entry.name.startswith('common/validate/data/')):
                continue
            try:
                text = tree.extractfile(entry).read().decode()
            except UnicodeDecodeError:
                continue
            for one in style.units_of(entry.name, text):
                found, count = style.findings(one, terms, set())
                words.update(said.split(': write ', 1)[1]
                             for _, rule, said in found if rule == 'word')
                fronted += sum(rule == 'fronted' for _, rule, _ in found)
                sentences += count
    return words, fronted, sentences


def main(before, after='HEAD'):
    terms = style.read_terms('docs/style/terms.tsv')
    old, new = counts_of(before, terms), counts_of(after, terms)
    print('| word | findings before | findings after |\n| --- | --- | --- |')
    for term in sorted(terms, key=lambda term: -old[0][term.write]):
        print(f'| `{term.name}` | {old[0][term.write]:,} | {new[0][term.write]:,} |')
    print(f'| **all words** | {sum(old[0].values()):,} | {sum(new[0].values()):,} |')
    share = [100 * fronted / sentences for _, fronted, sentences in (old, new)]
    print(f'| **fronted sentences** | {old[1]:,} of {old[2]:,} ({share[0]:.1f} %) | '
          f'{new[1]:,} of {new[2]:,} ({share[1]:.1f} %) |')


if __name__ == '__main__':
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
