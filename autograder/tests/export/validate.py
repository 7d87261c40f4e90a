"""validate.py - prints "valid" or what is wrong, for each line "KIND SCHEMA FILE" of its input.

One process for all files: starting Python takes longer than any of them.  json: against a JSON
schema.  canvas, moodle: a class as its importer reads it, with the csv module's strict parser;
SCHEMA is the number of students."""
import csv
import json
import sys

import jsonschema


def no_constant(name):
    raise ValueError(name + " is no JSON")


def check_json(schema, path):
    with open(schema, encoding="utf-8") as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    with open(path, encoding="utf-8") as file:
        errors = list(validator.iter_errors(json.load(file, parse_constant=no_constant)))
    return errors[0].message.splitlines()[0][:200] if errors else ""


def check_csv(platform, students, path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    first = {"canvas": ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"],
             "moodle": ["Username", "Email address", "ID number", "Full name"]}[platform]
    if rows[0][: len(first)] != first:
        return "the first columns are not " + ", ".join(first)
    people = rows[1:]
    if platform == "canvas":
        if people[0][0] != "Points Possible":
            return "no row of possible points"
        people = people[1:]
        if any(row[0] != row[3] for row in people):
            return "the login is not the student"
        if any(float(cell) <= 0 for cell in rows[1][5:]):
            return "a lab without points"
    if len(people) != int(students):
        return "%d students, not %s" % (len(people), students)
    for row in people:
        if len(row) != len(rows[0]):
            return "a row has %d cells" % len(row)
        if row[0][:1] in "=+-@":
            return "a formula: " + row[0]
        for cell in row[len(first):]:
            if cell and float(cell) < 0:
                return "a mark below 0"
    return ""


for line in sys.stdin:
    kind, schema, path = line.split()
    try:
        wrong = check_json(schema, path) if kind == "json" else check_csv(kind, schema, path)
    except (ValueError, IndexError, csv.Error) as error:
        wrong = str(error).splitlines()[0][:200]
    print(wrong or "valid")
