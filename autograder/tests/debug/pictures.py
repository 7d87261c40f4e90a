"""pictures.py FOLDER - draws the pictures of docs/student/debug.md from the recorded session
sessions/lab-04-border: `python3 autograder/tests/debug/pictures.py docs/figures`.

The width of 380 suits a telephone without scaling."""
import html
import pathlib
import re
import sys

SESSION = pathlib.Path(__file__).parent / "sessions" / "lab-04-border"
WIDTH, ROW, INK, GREY = 380, 30, "#1c2733", "#445566"
HATCH = ('<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
         'patternTransform="rotate(45)"><rect width="6" height="6" fill="#f7d9cc"/>'
         '<path d="M0 0V6" stroke="#b3441e" stroke-width="1.5"/></pattern></defs>')


def svg(height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" font-size="13">\n'
            f"<title>{html.escape(title)}</title>\n"
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n{HATCH}\n' + "\n".join(body) + "\n</svg>\n")


def text(x, y, words, more=""):
    return f'<text x="{x}" y="{y}" fill="{INK}" {more}>{html.escape(words)}</text>'


def lanes(session, command):
    """The 32 words after `(debug) COMMAND`."""
    rows = session.split(f"(debug) {command}\n")[1].split("\n")[1:5]
    return [word for row in rows for word in row.split()[1:]]


def lanes_picture(title, values, is_marked, notes, outlined=None):
    """Lanes as the terminal shows them, eight in a row; `is_marked` chooses the hatched ones."""
    left, cell, top = 52, 41, 34
    body = [text(8, 21, title, 'font-weight="bold"')]
    for lane, value in enumerate(values):
        x, y = left + lane % 8 * cell, top + lane // 8 * ROW
        if lane % 8 == 0:
            body.append(text(8, y + 20, f"{lane}\u2013{lane + 7}", f'style="fill:{GREY}"'))
        fill = "url(#hatch)" if is_marked(value) else "#cfe3f5"
        body.append(f'<rect x="{x}" y="{y}" width="{cell - 2}" height="{ROW - 2}" fill="{fill}"/>')
        short = f"{float(value):.2f}" if re.match(r"-?\d+\.", value) else value
        body.append(f'<rect x="{x + 3}" y="{y + 6}" width="{cell - 8}" height="16" fill="#ffffff"/>')
        body.append(text(x + cell / 2 - 1, y + 18, short,
                         'text-anchor="middle" font-size="12"'))
        if lane == outlined:
            body.append(f'<rect x="{x}" y="{y}" width="{cell - 2}" height="{ROW - 2}" fill="none" '
                        f'stroke="{INK}" stroke-width="3"/>')
    for i, note in enumerate(notes):
        body.append(text(8, top + 4 * ROW + 18 + 18 * i, note))
    return svg(top + 4 * ROW + 18 * len(notes) + 12, title, body)


def stops(session):
    """(command, line, source) of each stop in a kernel, from the latest moment to the earliest."""
    found = []
    for part in session.split("(debug) ")[1:]:
        command = part.split("\n")[0]
        at = re.search(r" at conv\.cu:(\d+)\n\d+\t *(.*)\n", part)
        if at:
            found.append((command, at[1], at[2]))
    return found


def path_picture(found):
    title = "From the wrong output back to its cause"
    body = [text(8, 21, title, 'font-weight="bold"'), text(8, 46, "The kernel has ended: y[0,0,0,0] is wrong.")]
    y = 58
    for command, line, source in found:
        short = source if len(source) <= 44 else source[:43] + "\u2026"
        shown = command if len(command) <= 40 else command[:39] + "\u2026"
        body += [f'<path d="M24 {y}v24" stroke="#b3441e" stroke-width="3"/>'
                 f'<path d="M16 {y + 20}h16l-8 12z" fill="#b3441e"/>',
                 text(44, y + 20, shown, 'font-family="monospace" font-size="12"'),
                 f'<rect x="8" y="{y + 34}" width="{WIDTH - 16}" height="48" fill="#eef3f8" stroke="{GREY}"/>',
                 text(16, y + 53, f"earlier: line {line}"),
                 text(16, y + 73, short, 'font-family="monospace" font-size="12"')]
        y += 90
    return svg(y + 4, title, body)


def main():
    folder, session = pathlib.Path(sys.argv[1]), SESSION.read_text()
    pixel, inside = lanes(session, "lanes pixel"), lanes(session, "lanes inside")
    (folder / "debug-path.svg").write_text(path_picture(stops(session)))
    (folder / "debug-pixel.svg").write_text(lanes_picture(
        "lanes pixel, at line 81", pixel, lambda value: float(value) == 0,
        ["Lanes 0\u201315, hatched, compute the first row of", "outputs. All of them have read 0."]))
    (folder / "debug-inside.svg").write_text(lanes_picture(
        "lanes inside, at line 61", inside, lambda value: value == "false",
        ["Lane 17, outlined, is thread (1,1). It wrote one of", "the words that step 7 shows. Lanes 17\u201331 load row 0",
         "of the input: inside is false there, and must be true."], 17))


main()
