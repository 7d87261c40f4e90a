#!/bin/sh
# book.sh BUILD - for `make book`: BUILD/book/index.html, which needs no network and no server, and
# BUILD/book/workbook.pdf.  Built in another folder and renamed: the old book remains until the new
# one is complete.
set -eu
build=${1:?usage: book.sh BUILD}
out=$build/book.part
for python in python3 /usr/bin/python3 ''; do # the first python in PATH may not be the one with the packages
    [ -z "$python" ] || "$python" -c 'import sphinx, myst_parser, furo, weasyprint' 2>/dev/null &&
        break
done
[ "$python" ] || { printf 'book: python3 lacks one of its tools:\n  sudo apt-get install python3-sphinx python3-myst-parser furo weasyprint\n' >&2; exit 2; }

"$python" book/pages.py || { echo "book: fix these first" >&2; exit 1; }
trap 'rm -rf "$out"' EXIT
trap 'exit 130' INT TERM
rm -rf "$out"
mkdir -p "$out"

# chapters FOLDER BUILDER [OPTION...]: every warning is an error.
chapters()
{
    folder=$1 builder=$2
    shift 2
    TICKER=9 "$python" -m sphinx -q -W --keep-going -c book -b "$builder" "$@" . "$out/$folder"
}

. common/setup/ticker.sh
all=$(PYTHONPATH=book "$python" -c 'import pages; print(len(pages.chapters()))')
echo '  BOOK    the HTML pages'
ticker_begin "$build" 'chapters read and written' $((2 * all)) "$build/book.browser-seconds"
chapters html html
ticker_end
echo '<meta http-equiv="refresh" content="0; url=html/book/index.html">' >"$out/index.html"

# Sphinx assumes the first chapter at the top level.  The PDF printer does not support currentColor,
# which gnuplot's figures use.
echo '  BOOK    the PDF (a minute)'
ticker_begin "$build" 'chapters read, pages set' $((all + 1)) "$build/book.printer-seconds"
chapters .print singlehtml -D html_theme=basic -D templates_path=print -D pygments_style=friendly
sed -i 's,href="book/index.html#,href="#,g' "$out/.print/book/index.html"
sed -i 's/currentColor/black/g' "$out"/.print/_images/*.svg
"$python" -m weasyprint -q -s book/static/book.css -s book/print/print.css \
    "$out/.print/book/index.html" "$out/workbook.pdf"
echo >&9
ticker_end
rm -rf "$out/.print" "$out/html/.doctrees" "$build/book"
mv "$out" "$build/book"
echo "  $build/book/index.html  open it in a browser; search works without a network"
echo "  $build/book/workbook.pdf"
