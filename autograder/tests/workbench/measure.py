"""measure.py ROOT BUILD - starts the workbench, measures its page and server; prints a Markdown table.

ROOT: a copy of the workbook that may be edited.  BUILD: the folder of its programs.
"""
import ctypes
import datetime
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

from chromium import browser_open
from selenium.webdriver.support.ui import WebDriverWait

LABS = ("02-naive", "04-tiled", "12-hopper", "17-backward")
EDITS = int(os.environ.get("EDITS", 720))  # one each five seconds, for an hour
EDITS_PER_RUN = 36  # a run each three minutes
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of <sys/prctl.h>
root = pathlib.Path(sys.argv[1])
# The sandbox of a compilation leaves its parents: it then becomes a child of this process.
ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
program = subprocess.Popen([sys.argv[2] + "/bin/workbench", "--root", ".", "--build", sys.argv[2]],
                           cwd=root, stdout=subprocess.PIPE, text=True)
url = next(filter(None, (re.search(r"http://\S+#\w+", text) for text in program.stdout))).group()
server = program.pid
page = browser_open()
sandboxes = 0.0  # CPU time of the sandboxes that have ended, in seconds


def until(condition):
    WebDriverWait(page, 600, 0.05).until(lambda _: condition())


def sandboxes_collect():
    global sandboxes
    for children in pathlib.Path("/proc/self/task").glob("*/children"):
        for pid in map(int, children.read_text().split()):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)
            if fields[0].endswith("(bwrap") and fields[1].split()[0] == "Z":
                usage = os.wait4(pid, 0)[2]
                sandboxes += usage.ru_utime + usage.ru_stime


def cpu_seconds():
    """CPU time of the server and of its children that have ended, in seconds."""
    sandboxes_collect()
    fields = pathlib.Path(f"/proc/{server}/stat").read_text().rsplit(")", 1)[1].split()
    return sandboxes + sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def memory_mib(name):
    status = pathlib.Path(f"/proc/{server}/status").read_text()
    return int(status.split(name + ":")[1].split()[0]) / 1024


def heap_mib():
    page.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return page.execute_script("return performance.memory.usedJSHeapSize") / 2 ** 20


def script(text, *values):
    return page.execute_script(text, *values)


def text_set(text):
    script("document.querySelector('.CodeMirror').CodeMirror.setValue(arguments[0])", text)


def lab_open(name):
    script("const list = document.getElementById('lab'); list.value = arguments[0];"
           "list.dispatchEvent(new Event('change'))", name)
    until(lambda: name in page.title)


def run():
    """Seconds of CPU time, and of time, from Run to the verdict."""
    began, used = time.monotonic(), cpu_seconds()
    script("document.querySelector('[data-action=run]').click()")
    until(lambda: script("return document.getElementById('progress').textContent") == "run: done")
    output = script("return document.querySelector('#panel-run .output').textContent")
    assert "correct: all" in output, output
    return cpu_seconds() - used, time.monotonic() - began


def row(words, value):
    print(f"| {words} | {value} |", flush=True)


def paints():
    times = []
    for _ in range(5):
        page.get("about:blank")
        page.get(url)
        until(lambda: script("return document.getElementById('file').textContent"))
        until(lambda: script("return performance.getEntriesByName('first-contentful-paint').length"))
        times.append(script("return performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    return times


def main():
    print(f"Measured on {datetime.date.today()} with {os.cpu_count()} cores.\n")
    print("| quantity | value |\n| --- | ---: |")
    times = paints()
    row("first contentful paint, median of 5 loads", f"{statistics.median(times):.0f} ms")
    row("the slowest of the 5, with an empty cache", f"{max(times):.0f} ms")
    for name in LABS:
        lab_open(name)
        source = next((root / "solutions" / name).glob("*.cu"))
        text_set(source.read_text() + "// measured\n")
        cpu, seconds = run()
        again, again_seconds = run()
        row(f"lab {name[:2]}, Run to verdict, after an edit: CPU time (elapsed)",
            f"{cpu:.1f} s ({seconds:.1f} s)")
        row(f"lab {name[:2]}, the same source again", f"{again:.1f} s ({again_seconds:.1f} s)")
    lab_open("02-naive")
    source = next((root / "solutions" / "02-naive").glob("*.cu"))
    before = memory_mib("VmRSS"), heap_mib()
    runs = 0
    for edit in range(EDITS):
        text_set(source.read_text() + f"// edit {edit}\n")
        script("document.getElementById('save').click()")
        until(lambda: script("return document.getElementById('saved').textContent") == "saved")
        if edit % EDITS_PER_RUN == EDITS_PER_RUN - 1:
            run()
            runs += 1
    row("memory of the server before the edits", f"{before[0]:.0f} MiB")
    row(f"memory of the server after {EDITS} saved edits and {runs} runs (peak)",
        f"{memory_mib('VmRSS'):.0f} MiB ({memory_mib('VmHWM'):.0f} MiB)")
    row("heap of the page before the edits", f"{before[1]:.0f} MiB")
    row(f"heap of the page after {EDITS} saved edits and {runs} runs", f"{heap_mib():.0f} MiB")


try:
    main()
finally:
    page.quit()
    program.terminate()
    program.wait()
