"""random_walks.py SEED WALKS STEPS - commands of random walks of the debugger in time.
random_walks.py check <TRANSCRIPT - does each moment always have the same state?"""
import random
import re
import sys

FORWARD = ["step", "next", "stepi", "nexti", "until", "stepi 7"]
BACKWARD = ["reverse-step", "reverse-next", "reverse-stepi", "reverse-continue"]

if sys.argv[1] == "check":
    known, seen, wrong = {}, 0, []
    for line in sys.stdin:
        found = re.match(r"(launch \d+, block \d+, moment \d+), state (\w+)", line)
        if not found:
            continue
        seen += 1
        if known.setdefault(found[1], found[2]) != found[2]:
            wrong.append(found[0])
    print("%d stops at %d moments, %d differ" % (seen, len(known), len(wrong)))
    sys.exit(1 if wrong or len(known) < 20 else 0)

random.seed(int(sys.argv[1]))
for walk in range(int(sys.argv[2])):
    for step in range(int(sys.argv[3])):
        print(random.choice(BACKWARD if random.random() < 0.5 else FORWARD))
        print("info state")
