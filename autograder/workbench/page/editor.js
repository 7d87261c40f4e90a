// The editor on the lab's own file: CodeMirror, or a plain text field if that package is missing.

const dirtyListeners = [];
let view = null, plain = null, quiet = false;

export function editorOpen(parent) {
  if (window.CodeMirror) {
    view = window.CodeMirror(parent, {
      mode: 'text/x-c++src', lineNumbers: true, indentUnit: 4, inputStyle: 'contenteditable',
      gutters: ['breakpoints', 'marks', 'CodeMirror-linenumbers', 'share'],
      extraKeys: {Tab: false, 'Shift-Tab': false},
    });
    view.getInputField().setAttribute('aria-label', 'Source of the lab');
    view.on('change', () => quiet || dirtyListeners.forEach((tell) => tell()));
  } else {
    plain = document.createElement('textarea');
    plain.className = 'plain';
    plain.setAttribute('aria-label', 'Source of the lab');
    plain.addEventListener('input', () => dirtyListeners.forEach((tell) => tell()));
    parent.append(plain);
  }
}

export function onEdit(tell) {
  dirtyListeners.push(tell);
}

export function editorText() {
  return view ? view.getValue() : plain.value;
}

// Replaces the text.  The cursor stays in its line; `fresh`: it is another file, without history.
export function editorSet(text, fresh) {
  quiet = true;
  if (view) {
    const cursor = view.getCursor(), top = view.getScrollInfo().top;
    view.setValue(text);
    if (fresh) view.clearHistory();
    view.setCursor(fresh ? {line: 0, ch: 0} : cursor);
    view.scrollTo(0, fresh ? 0 : top);
  } else {
    plain.value = text;
  }
  quiet = false;
}

export function editorLine() {
  return view ? view.getCursor().line + 1 : 1;
}

export function editorGo(line) {
  if (!view) return;
  view.setCursor({line: line - 1, ch: 0});
  view.scrollIntoView({line: line - 1, ch: 0}, 120);
  view.focus();
}

// Highlights the regions of the tasks: the lines that the student writes.
export function showRegions(regions) {
  if (!view) return;
  view.operation(() => {
    for (let line = 0; line < view.lineCount(); line++) view.removeLineClass(line, 'background');
    for (const region of regions)
      for (let line = region.first - 1; line < region.last; line++)
        view.addLineClass(line, 'background', 'region');
  });
}

// Findings: [{line, text}].
export function showFindings(findings) {
  if (!view) return;
  view.clearGutter('marks');
  for (const {line, text} of findings) {
    const mark = document.createElement('span');
    mark.className = 'finding';
    mark.textContent = '●';
    mark.title = text;
    mark.setAttribute('role', 'img');
    mark.setAttribute('aria-label', `line ${line}: ${text}`);
    view.setGutterMarker(line - 1, 'marks', mark);
  }
}

// Shares of the cycles: Map of line to a fraction.
export function showShares(shares) {
  if (!view) return;
  view.clearGutter('share');
  for (const [line, share] of shares) {
    const mark = document.createElement('div');
    mark.className = share > 0.1 ? 'cycles hot' : 'cycles';
    mark.textContent = `${(100 * share).toFixed(1)} %`;
    mark.title = 'share of the cycles';
    view.setGutterMarker(line - 1, 'share', mark);
  }
}

// The line at which a kernel stands; 0: none.
let place = null;
export function showPlace(line) {
  if (!view) return;
  if (place !== null) view.removeLineClass(place, 'background', 'place');
  place = line ? view.addLineClass(line - 1, 'background', 'place') : null;
  if (line) view.scrollIntoView({line: line - 1, ch: 0}, 120);
}

// Calls tell(line) for a click on the margin or the line's number.
export function onMargin(tell) {
  if (view) view.on('gutterClick', (_, line) => tell(line + 1));
}

export function showBreakpoints(lines) {
  if (!view) return;
  view.clearGutter('breakpoints');
  for (const line of lines) {
    const mark = document.createElement('span');
    mark.className = 'breakpoint';
    mark.textContent = '◆';
    mark.setAttribute('role', 'img');
    mark.setAttribute('aria-label', `breakpoint at line ${line}`);
    view.setGutterMarker(line - 1, 'breakpoints', mark);
  }
}
