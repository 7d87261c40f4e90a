"""browser.py URL ROOT SCREENS SERVER - drives the workbench's page in a real browser (chromium, headless).

ROOT: the copy of the workbook that the server serves, with labs/02-naive as the skeleton.
SCREENS: a folder for screenshots.  SERVER: the process that serves; the last test ends it.  Prints "ok NAME" or "not ok NAME" with the reason for each test.
No test waits for a fixed time: each waits until the page shows its result.
"""
import os
import pathlib
import signal
import sys
import traceback

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

PATIENCE = float(os.environ.get("PATIENCE", 300))  # seconds until a page that shows nothing counts as broken; no verdict depends on it
url, root, screens = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
server = int(sys.argv[4])
source = root / "labs/02-naive/conv.cu"
skeleton = source.read_text()
solution = pathlib.Path("solutions/02-naive/conv.cu").read_text()


def browser_open():
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                     "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.set_capability("unhandledPromptBehavior", "accept")
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


page = browser_open()


def until(condition, what):
    WebDriverWait(page, PATIENCE, 0.1).until(lambda _: condition(), what)


def at(name):
    return page.find_element(By.ID, name)


def text_of(name):
    return at(name).text


def editor_text():
    return page.execute_script("return document.querySelector('.CodeMirror').CodeMirror.getValue()")


def editor_type(text):
    """Replaces the whole text as typing does: the page sees a change by the user."""
    page.execute_script("document.querySelector('.CodeMirror').CodeMirror.setValue(arguments[0])", text)


def act(action):
    page.find_element(By.CSS_SELECTOR, f"[data-action={action}]").click()
    until(lambda: text_of("progress") in (f"{action}: done", "cancelled"), f"{action} never ended")


def lab_open(name):
    Select(at("lab")).select_by_value(name)
    until(lambda: name in page.title, f"{name} did not open")


def opens_a_lab_with_its_handout():
    page.get(url)
    until(lambda: "workbook" in page.title and at("file").text, "the page shows no lab")
    assert "#" not in page.current_url, "the key stays in the address bar"
    lab_open("02-naive")
    assert "One thread per output" in text_of("handout")
    assert editor_text() == skeleton
    figure = page.find_element(By.CSS_SELECTOR, "#handout img")
    until(lambda: page.execute_script("return arguments[0].naturalWidth", figure) > 0, "no figure")
    assert page.execute_script("return document.querySelectorAll('#handout details[open]').length") == 0


def shows_a_compiler_error_in_the_gutter():
    editor_type(skeleton.replace("(void)p;", "undeclared();", 1))
    act("run")
    assert "undeclared" in text_of("output"), text_of("output")
    marks = page.find_elements(By.CSS_SELECTOR, ".finding")
    assert marks and "undeclared" in marks[0].get_attribute("title")


def shows_a_wrong_answer_and_its_cause():
    editor_type(solution.replace("oq = blockIdx.z * TILE", "oq = 1 + blockIdx.z * TILE", 1))
    assert "1 + blockIdx" in editor_text(), "the solution of lab 02 has other names"
    act("run")
    assert "WRONG" in text_of("output") or "FAILED" in text_of("output"), text_of("output")
    assert source.read_text() == editor_text(), "a run saves first"
    page.save_screenshot(str(screens / "workbench-wrong.png"))


def grades_100_after_the_fix():
    editor_type(solution)
    act("run")
    assert "correct: all" in text_of("output"), text_of("output")
    for row in pathlib.Path("solutions/02-naive/predict.ini").read_text().splitlines():
        name, _, value = row.partition("=")
        fields = page.find_elements(By.NAME, name.strip()) if value else []
        if fields:
            fields[0].clear()
            fields[0].send_keys(value.split(";")[0].strip(), Keys.TAB)
    answers = root / "labs/02-naive/predict.ini"
    last = page.find_elements(By.CSS_SELECTOR, "#predictions input")[-1].get_attribute("value")
    until(lambda: answers.read_text().rstrip().split("\n")[-1].split(";")[0].strip().endswith(last),
          "the predictions are not in the file")
    act("grade")
    assert "100" in text_of("points") and "passed" in text_of("points"), text_of("output")


def shows_the_profile_in_the_gutter():
    act("profile")
    assert page.find_elements(By.CSS_SELECTOR, ".cycles.hot"), "no line has a share of the cycles"
    image = page.find_element(By.CSS_SELECTOR, "#figures img")
    until(lambda: page.execute_script("return arguments[0].naturalWidth", image) > 0, "no roofline")


def shows_a_warp():
    act("see")
    frame = page.find_element(By.CSS_SELECTOR, "#figures iframe")
    page.switch_to.frame(frame)
    try:
        until(lambda: "warp" in page.find_element(By.TAG_NAME, "body").text.lower(), "no warp")
    finally:
        page.switch_to.default_content()


def gives_a_hint():
    source_now = editor_text()
    editor_type(skeleton)
    at("hint").click()
    until(lambda: text_of("progress") == "hint: done", "no hint")
    assert "Hint" in text_of("output"), text_of("output")
    editor_type(source_now)
    at("save").click()
    until(lambda: text_of("saved") == "saved", "not saved")


def says_that_a_result_is_outdated():
    act("run")
    assert not at("outdated").is_displayed()
    editor_type(editor_text() + "\n")
    until(lambda: at("outdated").is_displayed(), "an outdated result is not marked")
    at("save").click()
    until(lambda: text_of("saved") == "saved", "not saved")


def shows_the_change_of_another_editor():
    source.write_text(solution + "// another editor\n")
    until(lambda: "another editor" in editor_text(), "a change on disk does not appear")


def loses_neither_of_two_edits():
    editor_type(solution + "// mine\n")
    source.write_text(solution + "// theirs\n")
    until(lambda: at("banner").is_displayed() and "not saved" in text_of("banner-text"), "no warning")
    assert "mine" in editor_text() and "theirs" in source.read_text()
    page.find_element(By.CSS_SELECTOR, "#banner-actions button").click()
    until(lambda: "theirs" in editor_text(), "the file on disk is not shown")
    page.execute_script("document.querySelector('.CodeMirror').CodeMirror.undo()")
    assert "mine" in editor_text(), "undo does not restore the own text"
    at("save").click()
    until(lambda: "mine" in source.read_text(), "not saved")


def cancels_a_kernel_that_hangs():
    editor_type(solution.replace("float sum = 0.0f;", "float sum = 0.0f; for (volatile int z = 1; z;) ;", 1))
    assert "volatile" in editor_text(), "the solution of lab 02 has other names"
    page.find_element(By.CSS_SELECTOR, "[data-action=run]").click()
    until(lambda: at("cancel").is_enabled() and "running" in text_of("progress"), "it does not run")
    at("cancel").click()
    until(lambda: text_of("progress") == "cancelled", "it was not cancelled")


def debugs_forwards_and_backwards():
    editor_type(solution)
    line = 1 + solution[:solution.index("sum += x")].count("\n")
    page.execute_script("""
        const view = document.querySelector('.CodeMirror').CodeMirror;
        view.scrollIntoView({line: arguments[0] + 3, ch: 0});
        CodeMirror.signal(view, 'gutterClick', view, arguments[0] - 1);""", line)
    page.find_element(By.CSS_SELECTOR, "[data-action=debug]").click()
    until(lambda: f"line {line}." in text_of("output"), "no breakpoint")
    command = lambda name: page.find_element(By.CSS_SELECTOR, f"[data-command={name}]").click()
    place = lambda: page.execute_script("""
        const view = document.querySelector('.CodeMirror').CodeMirror;
        for (let i = 0; i < view.lineCount(); i++)
            if ((view.lineInfo(i).bgClass || '').includes('place')) return i + 1;""")
    command("run")
    until(lambda: place() == line, "the kernel does not stop")
    command("next")
    until(lambda: place() == line + 1, "next does not advance")
    command("reverse-next")
    until(lambda: place() == line, "reverse-next does not go back")
    at("command").send_keys("lanes oq", Keys.ENTER)
    until(lambda: "32 of 32 lanes are active" in text_of("output"), "no lanes")
    at("command").send_keys("quit", Keys.ENTER)
    until(lambda: text_of("progress") == "debug: done", "the session does not end")


def shows_the_ladder():
    act("ladder")
    assert "baseline" in text_of("output"), text_of("output")


def opens_in_a_second_tab():
    page.switch_to.new_window("tab")
    page.get(url)
    until(lambda: "02-naive" in page.title, "the second tab does not open the lab")
    page.close()
    page.switch_to.window(page.window_handles[0])
    page.refresh()
    until(lambda: "02-naive" in page.title, "the first tab does not reload")


def has_labels_and_order():
    """The first checks of an accessibility checker: names and headings."""
    nameless = page.execute_script("""
        return [...document.querySelectorAll('button, select, input, iframe, img')].filter(e =>
            !(e.textContent.trim() || e.getAttribute('aria-label') || e.title || e.alt ||
              (e.labels && e.labels.length) || e.closest('.CodeMirror'))).map(e => e.outerHTML)""")
    assert not nameless, nameless
    assert page.execute_script("return document.querySelectorAll('h1').length") == 1
    assert page.execute_script("return document.documentElement.lang") == "en"


def fits_the_width_of_a_phone():
    for width, height in ((390, 800), (1280, 900), (1920, 1080)):
        page.set_window_size(width, height)
        page.save_screenshot(str(screens / f"workbench-{width}.png"))
    page.set_window_size(390, 800)
    for pane in ("handout", "editor", "results"):
        page.find_element(By.CSS_SELECTOR, f"[data-pane={pane}]").click()
        until(lambda: at(pane).is_displayed(), f"{pane} is not shown")
        page.save_screenshot(str(screens / f"workbench-390-{pane}.png"))
        wider = page.execute_script("return document.documentElement.scrollWidth - innerWidth")
        assert wider <= 0, f"{pane} is {wider} pixels wider than the screen"
    page.set_window_size(1280, 900)


def runs_no_script_but_its_own():
    errors = [entry["message"] for entry in page.get_log("browser")
              if "Content Security Policy" in entry["message"] or "Uncaught" in entry["message"]]
    assert not errors, errors
    page.execute_script("const s = document.createElement('script'); s.textContent = 'window.bad = 1';"
                        "document.body.append(s)")
    assert page.execute_script("return window.bad") is None, "an inline script ran"


def tells_that_the_server_has_ended():
    os.kill(server, signal.SIGTERM)
    until(lambda: at("banner").is_displayed() and "does not answer" in text_of("banner-text"),
          "the page does not notice that the server has ended")


TESTS = [opens_a_lab_with_its_handout, shows_a_compiler_error_in_the_gutter,
         shows_a_wrong_answer_and_its_cause, grades_100_after_the_fix,
         shows_the_profile_in_the_gutter, shows_a_warp, gives_a_hint,
         says_that_a_result_is_outdated, shows_the_change_of_another_editor,
         loses_neither_of_two_edits, cancels_a_kernel_that_hangs,
         debugs_forwards_and_backwards, shows_the_ladder, opens_in_a_second_tab,
         has_labels_and_order, fits_the_width_of_a_phone, runs_no_script_but_its_own,
         tells_that_the_server_has_ended]

for test in TESTS:
    name = test.__name__.replace("_", "-")
    try:
        test()
        print(f"ok workbench/{name}", flush=True)
    except Exception:  # pylint: disable=broad-except
        print(f"not ok workbench/{name}")
        print("    " + traceback.format_exc(limit=2).replace("\n", "\n    "), flush=True)
        page.save_screenshot(str(screens / f"failed-{name}.png"))
page.quit()
