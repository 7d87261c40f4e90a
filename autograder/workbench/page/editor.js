// The editor on the lab's own file: CodeMirror, or a plain text field if that package is missing.

const dirtyListeners = [];
let view = null, plain = null, quiet = false;

export function editorOpen(parent) {
  if (window.CodeMirror) {
    view = window.CodeMirror(parent, {
      mode: 'text/x-c++src', lineNumbers: true, lineWrapping: true, indentUnit: 4,
      inputStyle: 'contenteditable',
      gutters: ['breakpoints', 'marks', 'CodeMirror-linenumbers', 'share', 'sectors'],
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

export function onCursor(tell) {
  if (view) view.on('cursorActivity', () => tell(editorLine()));
}

// Replaces the lines from `first` to before `last`, counted from 1, as one step of the history.
export function editorReplace(first, last, text) {
  if (view) view.replaceRange(text, {line: first - 1, ch: 0}, {line: last - 1, ch: 0});
}

// Highlights the regions of the tasks, the lines that the student writes, and dims the others.
export function showRegions(regions) {
  if (!view) return;
  view.operation(() => {
    const inside = (line) => regions.some(({first, last}) => first <= line + 1 && line + 1 <= last);
    for (let line = 0; line < view.lineCount(); line++) {
      view.removeLineClass(line, 'background');
      view.removeLineClass(line, 'text');
      if (regions.length && !inside(line)) view.addLineClass(line, 'text', 'dim');
    }
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

// Shares by line, from profile.js: cycles, and sectors if the profile has them.
export function showShares(shares) {
  if (!view) return;
  view.clearGutter('share');
  view.clearGutter('sectors');
  const mark = (line, gutter, share, words) => {
    const made = document.createElement('div');
    made.className = `${gutter === 'share' ? 'cycles' : 'traffic'}${share > 0.1 ? ' hot' : ''}`;
    made.textContent = `${(100 * share).toFixed(1)} %`;
    made.title = words;
    view.setGutterMarker(line - 1, gutter, made);
  };
  for (const [line, {cycles, sectors, count, requests}] of shares) {
    mark(line, 'share', cycles, 'share of the cycles');
    if (sectors) mark(line, 'sectors', sectors,
      `share of the sectors; ${(count / requests).toFixed(1)} sectors per request`);
  }
  view.getWrapperElement().classList.toggle('profiled', shares.size > 0);
  view.refresh();
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
