// The debugger's command line (make debug) on the page: breakpoints in the margin, a mark at the
// line where the kernel stands, buttons for its commands, and tables of lanes and shared memory.

import {jobInput} from './job.js';
import * as editor from './editor.js';
import {element, panel} from './tabs.js';

const COMMANDS = [['run'], ['next'], ['step'], ['continue'], ['reverse-next'], ['reverse-step'],
  ['reverse-continue'], ['info locals', 'locals']];
const VIEWS = [['lanes', 'Lanes'], ['block', 'Block'], ['tile', 'Tile'], ['writer', 'Who wrote it'],
  ['readers', 'Who read it']];
const breakpoints = new Set();
let active = false, file = '', prompts = 0, length = 0, moved = false, form, field, watch, always;

async function send(line, moves = true) {
  if (!active) return;
  moved = moves;
  await jobInput(`${line}\n`);
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

// The latest matrix in the output: {title, rows of [text], writers of the same form or null}.
export function matrixOf(text) {
  const titles = [...text.matchAll(/^(?:\(debug\) )*(.+ in warp \d+ of block .*|.+ in block \(.*|.+, \d+ rows of \d+; .*)$/gm)];
  if (!titles.length) return null;
  const last = titles[titles.length - 1];
  const rows = [], writers = [];
  let into = rows;
  for (const row of text.slice(last.index + last[0].length + 1).split('\n')) {
    if (/^\(debug\)/.test(row) || !row.trim()) break;
    if (/^written by thread/.test(row)) into = writers;
    else if (/ stale: /.test(row)) break;
    else into.push(row.replace(/^ +\d+-\d+ +/, '').trim().split(/ +/));
  }
  return rows.length ? {title: last[1], rows, writers: writers.length ? writers : null} : null;
}

// A colour for each writer; dark text on it has enough contrast.
function colourOf(writer) {
  const [x, y, z] = writer.split(',').map(Number);
  return writer === '.' ? '' : `hsl(${(x * 47 + y * 101 + z * 17) % 360} 65% 84%)`;
}

function showMatrix(text) {
  const matrix = matrixOf(text);
  if (!matrix) return;
  const table = element('table', {className: 'matrix', tabIndex: 0},
    element('caption', {textContent: matrix.title}));
  matrix.rows.forEach((cells, r) => table.append(element('tr', {}, ...cells.map((cell, c) => {
    const writer = matrix.writers?.[r]?.[c];
    const made = element('td', {textContent: cell});
    if (writer) made.title = writer === '.' ? 'written by no thread' : `written by thread (${writer})`;
    if (writer && colourOf(writer)) {
      made.style.setProperty('--writer', colourOf(writer));
      made.className = 'written';
    }
    return made;
  }))));
  panel('debug').figures.replaceChildren(table);
}

export function debugBegin(name) {
  file = name;
  active = true;
  prompts = length = 0;
  form.hidden = false;
  field.focus();
  for (const line of breakpoints) send(`break ${file}:${line}`, false);
}

// The debugger prints "(debug) " and the command when it has read one.
export function debugShow(text) {
  const line = lineOf(text.slice(text.lastIndexOf('(debug) ')), file);
  if (line) editor.showPlace(line);
  if (text.length === length) return;
  length = text.length;
  showMatrix(text);
  const now = text.split('(debug) ').length;
  if (!moved || !line || now === prompts || !always.checked || !watch.value) return;
  prompts = now;
  send(`lanes ${watch.value}`, false);
}

export function debugEnd() {
  active = false;
  form.hidden = true;
  editor.showPlace(0);
}

function button(words, act) {
  const made = element('button', {type: 'button', textContent: words});
  made.addEventListener('click', act);
  return made;
}

export function debugListen(guarded) {
  field = element('input', {id: 'command', placeholder: 'break 31 if i == 3, diff ...', autocomplete: 'off'});
  watch = element('input', {id: 'watch', size: 14, placeholder: 'sum, tile 18x16 ...', autocomplete: 'off'});
  always = element('input', {id: 'always', type: 'checkbox'});
  form = element('form', {id: 'debugger', className: 'bar', hidden: true});
  form.setAttribute('aria-label', 'Debugger');
  for (const [command, words] of COMMANDS) {
    const made = button(words || command, guarded(() => send(command)));
    made.dataset.command = command;
    form.append(made);
  }
  form.append(element('label', {}, 'Command ', field), element('button', {textContent: 'Send'}),
    element('label', {}, 'Value ', watch));
  for (const [command, words] of VIEWS) {
    const made = button(words, guarded(() => send(`${command} ${watch.value}`, command === 'writer')));
    made.dataset.view = command;
    form.append(made);
  }
  form.append(element('label', {}, always, 'lanes at each stop'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (event.submitter && document.activeElement === watch) {
      guarded(() => send(`lanes ${watch.value}`, false))();
      return;
    }
    const line = field.value;
    field.value = '';
    guarded(() => send(line))();
  });
  panel('debug').output.before(form);
  editor.onMargin(guarded(async (line) => {
    if (!breakpoints.delete(line)) breakpoints.add(line);
    editor.showBreakpoints(breakpoints);
    if (breakpoints.has(line)) await send(`break ${file}:${line}`, false);
    else await send(`clear ${file}:${line}`, false);
  }));
}

export function breakpointsClear() {
  breakpoints.clear();
  editor.showBreakpoints(breakpoints);
}
