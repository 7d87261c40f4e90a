"""Repairs a book's pages: adds what Debian's package of the theme furo lost when it was built.

Its script comes as two modules, which a browser does not load from a file: the button for the dark
then does nothing.  And its style sheet has the dark for that button alone, not for a browser that
asks for it, while code is dark all the same.  A package that lost neither stays as it is.
"""
import os
import re


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def mend(static):
    """`static` is the folder with the theme's scripts and styles."""
    script = os.path.join(static, "scripts", "furo.js")
    style = os.path.join(static, "styles", "furo.css")
    text = read(script)
    modules = re.findall(r'^import .*"\./(.*)";\n', text, re.MULTILINE)
    if modules:
        parts = [read(os.path.join(static, "scripts", module)) for module in modules]
        write(script, "".join(parts) + re.sub(r"^import .*\n", "", text, flags=re.MULTILINE))
    text = read(style)
    if "prefers-color-scheme" not in text:
        dark = re.search(r'body\[data-theme="dark"\] \{(\s*--[^}]*)\}', text)
        if not dark:
            raise ValueError(style + " has no colours for the dark")
        write(style, text + "@media not print { @media (prefers-color-scheme: dark) {\n"
              'body:not([data-theme="light"]) {' + dark.group(1) + "} } }\n")
