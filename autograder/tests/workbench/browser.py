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

from chromium import browser_open
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

PATIENCE = float(os.environ.get("PATIENCE", 300))  # seconds until a page that shows nothing counts as broken; no verdict depends on it
url, root, screens = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
server = int(sys.argv[4])
source = root / "labs/02-naive/conv.cu"
labs = len(list((root / "labs").glob("*/lab.ini")))
skeleton = source.read_text()
solution = pathlib.Path("solutions/02-naive/conv.cu").read_text()


page = browser_open()


def until(condition, what):
    WebDriverWait(page, PATIENCE, 0.3).until(lambda _: condition(), what)


def until_in_session(condition, what):
    """As `until`, while a debugger runs.  If it has ended, for example because it could not be
    linked, its output is the reason, and nobody has to wait."""
    def holds():
        good = condition()
        assert good or text_of("progress") != "debug: done", f"{what}: {output('debug')[-600:]}"
        return good
    until(holds, what)


def at(name):
    return page.find_element(By.ID, name)


def text_of(name):
    return at(name).text


def editor_text():
    return page.execute_script("return document.querySelector('.CodeMirror').CodeMirror.getValue()")


def editor_type(text):
    """Replaces the whole text as typing does: the page sees a change by the user."""
    page.execute_script("document.querySelector('.CodeMirror').CodeMirror.setValue(arguments[0])", text)


def click(selector):
    page.find_element(By.CSS_SELECTOR, selector).click()


def start(action):
    at(f"tab-{action}").click()
    click(f"[data-action={action}]")


def act(action):
    start(action)
    until(lambda: text_of("progress") in (f"{action}: done", "cancelled"), f"{action} never ended")


def output(action):
    return page.find_element(By.CSS_SELECTOR, f"#panel-{action} .output").get_attribute("textContent")


def place_cursor(line):
    page.execute_script("document.querySelector('.CodeMirror').CodeMirror.setCursor(arguments[0] - 1, 0)", line)


def line_of(text, part):
    return 1 + text[:text.index(part)].count("\n")


axe = pathlib.Path(os.environ.get("AXE") or "/nowhere")
violations, inspected = [], []


def look(scheme, width=1280, height=900):
    """A colour scheme and a size of the window."""
    page.execute_cdp_cmd("Emulation.setEmulatedMedia",
                         {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    page.set_window_size(width, height)


def violations_of(state, scheme):
    """The violations that axe-core, an accessibility checker, finds: WCAG 2.1 AA and best practices.
    In the dark scheme only the colours differ."""
    if not page.execute_script("return Boolean(window.axe)"):
        page.execute_script(axe.read_text())
    rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    found = page.execute_async_script("axe.run(document, arguments[0]).then(arguments[1])",
                                      {"resultTypes": ["violations"], **rules})
    return [f"{state}, {scheme}: {rule['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
            for rule in found["violations"] for node in rule["nodes"]]


def inspect(state, pane="results"):
    """Checks the accessibility of the present state; with SHOTS, keeps screenshots."""
    for scheme in ("light", "dark"):
        look(scheme)
        if axe.is_file():
            violations.extend(violations_of(state, scheme))
        for width, height in ((390, 800), (1280, 900), (1920, 1080)) if os.environ.get("SHOTS") else ():
            look(scheme, width, height)
            if width < 1050:
                click(f"[data-pane={pane}]")
            page.save_screenshot(str(screens / f"{state}-{width}-{scheme}.png"))
    inspected.append(state)
    look("light")


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
    header = at("header-text").get_attribute("textContent")
    assert header == pathlib.Path("common/include/convlab/conv.h").read_text(), "not the source's header"
    figure = page.find_element(By.CSS_SELECTOR, "#handout img")
    until(lambda: page.execute_script("return arguments[0].naturalWidth", figure) > 0, "no figure")
    assert page.execute_script("return document.querySelectorAll('#handout details[open]').length") == 0


def shows_a_compiler_error_in_the_gutter():
    editor_type(skeleton.replace("(void)p;", "undeclared();", 1))
    act("run")
    assert "undeclared" in output("run"), output("run")
    marks = page.find_elements(By.CSS_SELECTOR, ".finding")
    assert marks and "undeclared" in marks[0].get_attribute("title")
    inspect("error", "editor")


def shows_a_wrong_answer_and_its_cause():
    editor_type(solution.replace("oq = blockIdx.z * TILE", "oq = 1 + blockIdx.z * TILE", 1))
    assert "1 + blockIdx" in editor_text(), "the solution of lab 02 has other names"
    act("run")
    assert "WRONG" in output("run") or "FAILED" in output("run"), output("run")
    assert source.read_text() == editor_text(), "a run saves first"
    inspect("wrong")


def grades_100_after_the_fix():
    editor_type(solution)
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
    act("run")
    assert "correct: all" in output("run"), output("run")
    act("grade")
    assert "100" in text_of("points") and "passed" in text_of("points"), output("grade")
    at("overview").find_element(By.TAG_NAME, "summary").click()
    until(lambda: f"1 of {labs} passed; next: 00" in text_of("overview-title"), "the progress is not shown")
    assert "02 One thread per output 100/100, passed" in text_of("labs"), text_of("labs")
    inspect("grade")
    at("overview").find_element(By.TAG_NAME, "summary").click()


def locks_the_first_predictions():
    field = page.find_elements(By.CSS_SELECTOR, "#predictions input")[0]
    assert field.get_attribute("readOnly") == "true", "a prediction can be changed after the grade"
    answers = root / "labs/02-naive/predict.ini"
    digest = page.execute_async_script("""
        const done = arguments[0], key = localStorage.getItem('workbench-token');
        const ask = (method, path, body) => fetch(path, {method, body: JSON.stringify(body),
            headers: {Authorization: `Bearer ${key}`}});
        const lab = await (await ask('GET', '/api/labs/02-naive')).json();
        const text = lab.predict.text.replace(/^(blocks *= *)\\d+/m, '$11');
        const answer = await ask('PUT', '/api/labs/02-naive/predict', {text, base: lab.predict.digest});
        done([answer.status, (await answer.json()).error, text !== lab.predict.text]);""".replace(
            "const done", "(async () => { const done").rstrip() + " })();")
    assert digest[0] == 423 and "blocks is locked" in digest[1] and digest[2], digest
    answers.write_text(answers.read_text().replace("384", "1", 1))
    page.refresh()
    until(lambda: "02-naive" in page.title, "no reload")
    until(lambda: "your first answer was 384" in text_of("predictions"), "the first answer is not shown")
    answers.write_text(answers.read_text().replace("= 1", "= 384", 1))


def shows_the_profile_in_the_gutter():
    act("profile")
    assert page.find_elements(By.CSS_SELECTOR, ".cycles.hot"), "no line has a share of the cycles"
    assert page.find_elements(By.CSS_SELECTOR, ".traffic.hot"), "no line has a share of the sectors"
    assert "sectors per request" in page.find_element(By.CSS_SELECTOR, ".traffic").get_attribute("title")
    bars = page.find_elements(By.CSS_SELECTOR, "#panel-profile .bars tr")
    assert len(bars) >= 3 and "%" in bars[0].text, "no bars of the stall reasons"
    for image in page.find_elements(By.CSS_SELECTOR, "#panel-profile .figures img"):
        until(lambda: page.execute_script("return arguments[0].naturalWidth", image) > 0, "no figure")
    assert len(page.find_elements(By.CSS_SELECTOR, "#panel-profile .figures img")) == 1
    page.switch_to.frame(page.find_element(By.CSS_SELECTOR, "#panel-profile iframe"))
    try:
        until(lambda: "Warps by stall reason" in page.find_element(By.TAG_NAME, "body").text, "no timeline")
        assert len(page.find_elements(By.CSS_SELECTOR, "svg path[fill]")) >= 3, "no warp in the timeline"
    finally:
        page.switch_to.default_content()
    Select(at("against")).select_by_value("baseline")
    act("profile")
    assert "baseline" in output("profile"), output("profile")
    inspect("profile")
    Select(at("against")).select_by_value("")


def shows_a_warp():
    act("see")
    frame = page.find_element(By.CSS_SELECTOR, "#panel-see iframe")
    page.switch_to.frame(frame)
    try:
        until(lambda: "warp" in page.find_element(By.TAG_NAME, "body").text.lower(), "no warp")
    finally:
        page.switch_to.default_content()
    inspect("warp")


def draws_a_picture_and_the_ladder():
    for action in ("picture", "ladder"):
        act(action)
        image = page.find_element(By.CSS_SELECTOR, f"#panel-{action} .figures img")
        until(lambda: page.execute_script("return arguments[0].naturalWidth", image) > 0, output(action))
        inspect(action)
    assert "baseline" in output("ladder"), output("ladder")
    at("tab-picture").click()
    at("live").click()
    before = page.find_element(By.CSS_SELECTOR, "#panel-picture img").get_attribute("src")
    editor_type(solution + "// another text\n")
    at("save").click()
    until(lambda: text_of("progress") == "picture: done" and before !=
          page.find_element(By.CSS_SELECTOR, "#panel-picture img").get_attribute("src"), "not live")
    at("live").click()
    editor_type(solution)
    at("save").click()
    until(lambda: text_of("saved") == "saved", "not saved")


def shows_the_code_of_a_line():
    act("code")
    assert "registers" in output("code"), output("code")
    place_cursor(line_of(solution, "sum += x"))
    code = lambda: page.find_element(By.CSS_SELECTOR, "#panel-code .code").text
    until(lambda: "ld.global" in code(), "no PTX of the line: " + code())
    place_cursor(1)
    until(lambda: "no instructions" in code(), "line 1 has instructions")
    figures = page.find_element(By.CSS_SELECTOR, "#panel-code .figures").text
    assert "NVIDIA H200" in figures and "132 SMs" in figures and "blocks per SM" in figures, figures
    inspect("code")


def gives_a_hint():
    editor_type(skeleton)
    place_cursor(1)
    at("hint").click()
    until(lambda: text_of("progress") == "hint: done", "no hint")
    assert "Hint" in text_of("hints"), text_of("hints")
    inspect("hint", "handout")
    editor_type(solution)
    at("save").click()
    until(lambda: text_of("saved") == "saved", "not saved")


def resets_a_region_and_undoes_it():
    place_cursor(line_of(solution, "TODO(1)") + 3)
    at("reset").click()
    until(lambda: editor_text() != solution, "the region is unchanged")
    first = skeleton[skeleton.index("TODO(1)"):skeleton.index("END TODO(1)")]
    assert first in editor_text() and "TODO(2)" in editor_text(), "not the skeleton's region"
    page.execute_script("document.querySelector('.CodeMirror').CodeMirror.undo()")
    assert editor_text() == solution, "undo does not restore the region"
    assert page.find_elements(By.CSS_SELECTOR, ".CodeMirror .dim"), "lines outside of the regions are not dimmed"
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
    start("run")
    running = ("running", "simulating")  # on a busy machine the page may never show the first one
    until(lambda: at("cancel").is_enabled() and any(word in text_of("progress") for word in running),
          "it does not run")
    at("cancel").click()
    until(lambda: text_of("progress") == "cancelled", "it was not cancelled")


def debugs_forwards_and_backwards():
    editor_type(solution)
    line = line_of(solution, "sum += x")
    page.execute_script("""
        const view = document.querySelector('.CodeMirror').CodeMirror;
        view.scrollIntoView({line: arguments[0] + 3, ch: 0});
        CodeMirror.signal(view, 'gutterClick', view, arguments[0] - 1);""", line)
    start("debug")
    until_in_session(lambda: f"line {line}." in output("debug"), "no breakpoint")
    command = lambda name: page.find_element(By.CSS_SELECTOR, f"[data-command={name}]").click()
    place = lambda: page.execute_script("""
        const view = document.querySelector('.CodeMirror').CodeMirror;
        for (let i = 0; i < view.lineCount(); i++)
            if ((view.lineInfo(i).bgClass || '').includes('place')) return i + 1;""")
    command("run")
    until_in_session(lambda: place() == line, "the kernel does not stop")
    command("next")
    until_in_session(lambda: place() == line + 1, "next does not advance")
    command("reverse-next")
    until_in_session(lambda: place() == line, "reverse-next does not go back")
    at("watch").send_keys("oq")
    click("[data-view=lanes]")
    until_in_session(lambda: "32 of 32 lanes are active" in output("debug"), "no lanes")
    cells = lambda: page.find_elements(By.CSS_SELECTOR, "#panel-debug .matrix td")
    until_in_session(lambda: len(cells()) == 32, "no table of 32 lanes")
    click("#always")
    command("next")
    until_in_session(lambda: output("debug").count("lanes are active") == 2, "no lanes at the next stop")
    inspect("debug")
    at("command").send_keys("quit", Keys.ENTER)
    until(lambda: text_of("progress") == "debug: done", "the session does not end")


def opens_a_tab_by_the_keyboard():
    at("tab-run").click()
    at("tab-run").send_keys(Keys.ARROW_RIGHT)
    assert at("panel-grade").is_displayed() and not at("panel-run").is_displayed()
    page.switch_to.active_element.send_keys(Keys.HOME)
    assert at("panel-run").is_displayed()


FAULTY = """#include <cstdio>
__global__ void turn(int *y)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = tile[63 - threadIdx.x];
}
int main(int count, char **)
{
    int *y, back[64];
    cudaMalloc(&y, sizeof back);
    turn<<<1, 64>>>(y);
    cudaMemcpy(back, y, sizeof back, cudaMemcpyDeviceToHost);
    printf("%d arguments, y[0] = %d\\n", count - 1, back[0]);
}
"""


def runs_a_program_of_the_playground():
    at("overview").find_element(By.TAG_NAME, "summary").click()
    at("new-program").find_element(By.NAME, "name").send_keys("mine", Keys.ENTER)
    until(lambda: "mine.cu" in page.title, "the new program does not open")
    act("run")
    assert "the first number is 63, the last is 0" in output("run") and "simulated h200" in output("run"), output("run")
    assert not at("tab-grade").is_displayed() and not at("hint").is_displayed()
    editor_type(FAULTY)
    at("args").send_keys("one two")
    Select(at("gpu")).select_by_value("t4")
    Select(at("arch")).select_by_value("75")
    act("run")
    assert "2 arguments" in output("run") and "simulated t4" in output("run"), output("run")
    assert "Race reported" in output("run"), output("run")
    marks = page.find_elements(By.CSS_SELECTOR, ".finding")
    assert marks, "the finding is not in the margin"
    assert (root / "playground/mine.cu").read_text() == FAULTY
    act("profile")
    assert page.find_elements(By.CSS_SELECTOR, "#panel-profile .bars tr"), output("profile")
    assert page.find_elements(By.CSS_SELECTOR, ".cycles"), "no line has a share of the cycles"
    inspect("playground")


def shows_who_wrote_shared_memory():
    page.execute_script("""
        const view = document.querySelector('.CodeMirror').CodeMirror;
        CodeMirror.signal(view, 'gutterClick', view, 5);""")
    start("debug")
    until_in_session(lambda: "line 6." in output("debug"), "no breakpoint")
    click("[data-command=run]")
    until_in_session(lambda: "turn<<<" in output("debug"), "the kernel does not stop")
    watch = at("watch")
    watch.clear()
    watch.send_keys("tile 2x32")
    click("[data-view=tile]")
    until_in_session(lambda: page.find_elements(By.CSS_SELECTOR, "#panel-debug .matrix td.written"), output("debug"))
    cell = page.find_element(By.CSS_SELECTOR, "#panel-debug .matrix td.written")
    assert "written by thread (" in cell.get_attribute("title")
    inspect("tile")
    at("command").send_keys("quit", Keys.ENTER)
    until(lambda: text_of("progress") == "debug: done", "the session does not end")
    lab_open("02-naive")
    assert at("tab-grade").is_displayed()


def keeps_an_unsaved_text_when_the_page_is_loaded_again():
    editor_type(solution + "// not saved\n")
    until(lambda: page.execute_script("return sessionStorage.getItem('workbench-draft')"), "no draft")
    page.refresh()
    until(lambda: at("banner").is_displayed() and "was not saved" in text_of("banner-text"), "no offer")
    assert "not saved" not in editor_text()
    click("#banner-actions button")
    assert editor_text().endswith("// not saved\n")
    editor_type(solution)
    at("save").click()
    until(lambda: text_of("saved") == "saved", "not saved")


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


def has_no_accessibility_violation():
    if not axe.is_file():
        print(f"# no axe-core at {axe}: sh common/setup/axe.sh build")
        return
    assert len(inspected) >= 8, inspected
    assert not violations, f"{len(violations)} violations\n" + "\n".join(dict.fromkeys(violations))


def fits_the_width_of_a_phone():
    page.set_window_size(390, 800)
    for pane in ("handout", "editor", "results"):
        page.find_element(By.CSS_SELECTOR, f"[data-pane={pane}]").click()
        until(lambda: at(pane).is_displayed(), f"{pane} is not shown")
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


def shows_a_hostile_handout_as_text():
    handout = root / "labs/03-layout/README.md"
    text = handout.read_text()
    handout.write_text(text + """
<script>window.bad = 1</script> <img src="x" onerror="window.bad = 1"> <b id="save">not the button</b>
<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/"> <a id="link" href="javascript:window.bad = 1">link</a>
""")
    lab_open("03-layout")
    assert page.execute_script("return window.bad") is None and url.split("#")[0] in page.current_url
    assert at("save").tag_name == "button" and at("handout-save").text == "not the button"
    page.execute_script("document.querySelector('#handout-link')?.click()")
    assert page.execute_script("return window.bad") is None
    handout.write_text(text)
    lab_open("02-naive")
    page.get_log("browser")


def tells_that_the_server_has_ended():
    os.kill(server, signal.SIGTERM)
    until(lambda: at("banner").is_displayed() and "does not answer" in text_of("banner-text"),
          "the page does not notice that the server has ended")


TESTS = [opens_a_lab_with_its_handout, shows_a_compiler_error_in_the_gutter,
         shows_a_wrong_answer_and_its_cause, grades_100_after_the_fix, locks_the_first_predictions,
         shows_the_profile_in_the_gutter, shows_a_warp, draws_a_picture_and_the_ladder,
         shows_the_code_of_a_line, gives_a_hint, resets_a_region_and_undoes_it,
         says_that_a_result_is_outdated, shows_the_change_of_another_editor,
         loses_neither_of_two_edits, cancels_a_kernel_that_hangs,
         debugs_forwards_and_backwards, opens_a_tab_by_the_keyboard,
         runs_a_program_of_the_playground, shows_who_wrote_shared_memory,
         keeps_an_unsaved_text_when_the_page_is_loaded_again, opens_in_a_second_tab,
         has_labels_and_order, has_no_accessibility_violation, fits_the_width_of_a_phone, runs_no_script_but_its_own,
         shows_a_hostile_handout_as_text, tells_that_the_server_has_ended]
only = os.environ.get("ONLY", "").split()  # names of tests, for work on the page
TESTS = [test for test in TESTS if not only or test.__name__ in only]

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
