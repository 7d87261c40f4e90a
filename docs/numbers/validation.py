"""validation.py RECORDS - the table of the validation sets for docs/simulator/validation.md.

RECORDS is a GPU's folder below common/simulator/validation/data.
"""
import csv
import sys

SETS = 'common/simulator/validation/sets.tsv'


def table_read(path):
    """The rows of a table with tabs, as dictionaries; lines that start with ; are comments."""
    with open(path, encoding='utf-8') as file:
        return list(csv.DictReader((line for line in file if not line.startswith(';')),
                                   delimiter='\t', quoting=csv.QUOTE_NONE))


def kinds_count(records, name):
    """The number of launches of each kind, without the empty kernel."""
    count = {}
    for row in table_read(f'{records}/{name}-times.tsv'):
        if row['name'] != 'empty':
            count[row['kind']] = count.get(row['kind'], 0) + 1
    return count


def sets_print(records):
    print('| set | kind of evidence | date of the forecast | fit launches | regression launches | subject |')
    print('| --- | --- | --- | --- | --- | --- |')
    for row in table_read(SETS):
        count = kinds_count(records, row['set'])
        fit = count.get('fit', 0) or count.get('counters', 0)
        regression = count.get('regression', 0) + count.get('lab', 0)
        print(f"| `{row['set']}` | {row['kind']} | {row['date']} | {fit} | {regression} "
              f"| {row['subject']} |")


if __name__ == '__main__':
    sets_print(sys.argv[1])
