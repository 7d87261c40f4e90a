"""measure.py BUILD - the numbers of docs/student/debug.md, as its table. `make debug-adapter` builds
what it needs.  TIMES=3 repeats each session, and the smallest CPU time counts.

Seconds are CPU time (user and system) of the program that is debugged, without its start."""
import os
import subprocess
import sys
import tempfile

build = sys.argv[1]
TIMES, STEPS, LANES = int(os.environ.get("TIMES", 3)), 20, 1024 * 256 * 400
WORK = {"PROGRAM": "autograder/tests/debug/programs/work.cu", "ARGS": "400"}
# Labs, large public cases, their launches, a tensor that a kernel writes, one that none does.
LABS = (("02", "vgg-conv1_1", 1, "y", "x"), ("04", "vgg-conv1_1", 1, "y", "x"),
        ("12", "two-pieces", 1, "y", "x"), ("17", "dx-deep", 3, "dx", "dy"))


def once(what, commands, more):
    """CPU seconds and memory in MiB of one session."""
    with tempfile.NamedTemporaryFile("w", suffix=".commands") as file:
        file.write("\n".join(commands) + "\n")
        file.flush()
        environment = {**os.environ, **what, **more, "COMMANDS": file.name}
        process = subprocess.Popen(["sh", "common/setup/debug.sh", build, what.get("LAB", ""),
                                    what.get("PROGRAM", ""), what.get("ARGS", "")],
                                   env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, text[-2000:]
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def session(what, *commands, **more):
    return min((once(what, commands, more) for _ in range(TIMES)), key=lambda result: result[0])


def row(words, value, limit):
    print(f"| {words} | {value} | {limit} |", flush=True)


def seconds(value):
    return "below 0.01 s" if value < 0.01 else f"{value:.2f} s"


def speed_of_execution():
    session(WORK, "quit")  # compiles the program
    start = session(WORK, "quit")[0]
    alone = session(WORK, "run", DEBUG_DETACHED="1")[0] - start
    debugged, memory, _ = session(WORK, "run")
    debugged -= start
    row("without breakpoints, compared with the same code without the debugger",
        f"{debugged:.2f} s, {alone:.2f} s: {debugged / alone:.1f} times", "3 times")
    tested = session(WORK, "break 11 if k > turns", "run")[0] - start
    row(f"a breakpoint with a false condition of two variables, tested in {LANES / 1e6:.0f} million lanes",
        f"{tested:.2f} s: {LANES / tested / 1e6:.0f} million lane tests per second", "20 million")
    row("memory for the history of this kernel", f"{memory:.0f} MiB for the whole process", "512 MiB")


def steps(words, what, end):
    """From the end of the last launch: steps back to its last lines, and forward again."""
    back = session(what, *end, *["reverse-step"] * 2)[0]
    further = session(what, *end, *["reverse-step"] * (2 + STEPS))[0]
    forward = session(what, *end, *["reverse-step"] * (2 + STEPS), *["next"] * STEPS)[0]
    row(f"`reverse-step` at the end of {words}", seconds((further - back) / STEPS), "1 s")
    row("`next` there", seconds((forward - further) / STEPS), "0.05 s")


def writers(words, what, end, tensors):
    before = session(what, *end)[0]
    for tensor in tensors:
        place = tensor + "[0,0,0,0]"
        used, _, text = session(what, *end, f"writer {place}")
        assert "was last written here" in text or "No thread wrote" in text, text[-500:]
        row(f"`writer {place}` at the end of {words}", seconds(used - before), "2 s")


def main():
    print("| configuration | measured | limit |\n| --- | --- | --- |")
    speed_of_execution()
    steps("this kernel", WORK, ["catch end", "run"])
    for lab, case, launches, *tensors in LABS:
        what = {"LAB": lab, "CASE": case, "SUBMISSION": "solutions"}
        words = f"lab {lab}'s case `{case}`"
        end = ["catch end", "run"] + ["continue"] * (launches - 1)
        once(what, ["quit"], {})  # compiles the program
        steps(words, what, end)
        writers(words, what, end, tensors)


main()
