#!/bin/sh
# axe.sh BUILD - for the test of the workbench: axe-core, an accessibility checker, as
# BUILD/axe/axe.min.js.  The package that contains it is of PyPI; its Python code is not used.
set -u
build=${1:?usage: axe.sh BUILD}
package='axe-playwright-python==0.1.8'
[ ! -f "$build/axe/axe.min.js" ] || exit 0
rm -rf "$build/axe.part"
if python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check \
    --target "$build/axe.part" "$package" >>"$build/setup.log" 2>&1; then
    mkdir -p "$build/axe"
    mv "$build/axe.part/axe_playwright_python/axe.min.js" "$build/axe"
else
    echo "  SETUP   without axe-core (optional): python3 -m pip install $package"
fi
rm -rf "$build/axe.part"
