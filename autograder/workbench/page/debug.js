// The debugger's command line (make debug) on the page: breakpoints in the margin, a mark at the
// line where the kernel stands, and the commands as buttons and text.

import {jobInput} from './job.js';
import * as editor from './editor.js';

const form = document.getElementById('debugger'), field = document.getElementById('command');
const breakpoints = new Set();
let active = false, file = '';

async function send(line) {
  if (active) await jobInput(`${line}\n`);
}

// The last line that the output names as the present one: "conv.cu:31", or "31<tab>source".
export function lineOf(text, name) {
  let line = 0;
  for (const row of text.split('\n')) {
    const named = row.match(/ at ([\w.-]+):(\d+)$/), listed = row.match(/^(?:\(debug\) )?(\d+)\t/);
    if (named && named[1] === name) line = Number(named[2]);
    else if (listed) line = Number(listed[1]);
  }
  return line;
}

export function debugBegin(name) {
  file = name;
  active = true;
  form.hidden = false;
  field.focus();
  for (const line of breakpoints) send(`break ${file}:${line}`);
}

export function debugShow(text) {
  const line = lineOf(text.slice(text.lastIndexOf('(debug) ', text.length - 9)), file);
  if (line) editor.showPlace(line);
}

export function debugEnd() {
  active = false;
  form.hidden = true;
  editor.showPlace(0);
}

export function debugListen(guarded) {
  for (const button of form.querySelectorAll('button'))
    button.addEventListener('click', guarded(() => send(button.dataset.command)));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const line = field.value;
    field.value = '';
    guarded(() => send(line))();
  });
  editor.onMargin(guarded(async (line) => {
    if (!breakpoints.delete(line)) breakpoints.add(line);
    editor.showBreakpoints(breakpoints);
    if (breakpoints.has(line)) await send(`break ${file}:${line}`);
    else await send(`clear ${file}:${line}`);
  }));
}

export function breakpointsClear() {
  breakpoints.clear();
  editor.showBreakpoints(breakpoints);
}
