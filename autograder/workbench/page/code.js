// PTX and SASS of the line under the cursor, and the numbers of the machine.

import {element} from './tabs.js';

// Map of source line to its instructions.  A ".loc FILE LINE ..." (PTX) or
// '//## File "...", line N' (SASS) is valid until the next one.
export function linesOf(text, file) {
  const lines = new Map();
  const numbers = new Set([...text.matchAll(/^\s*\.file\s+(\d+)\s+"([^"]*)"/gm)]
    .filter(([, , path]) => path.endsWith(`/${file}`) || path === file).map(([, number]) => number));
  let line = 0;
  for (const row of text.split('\n')) {
    const loc = row.match(/^\s*\.loc\s+(\d+)\s+(\d+)/);
    const sass = row.match(/\/\/## File "([^"]*)", line (\d+)/);
    if (loc) line = numbers.has(loc[1]) ? Number(loc[2]) : 0;
    else if (sass) line = sass[1].endsWith(file) ? Number(sass[2]) : 0;
    else if (line && /^\s+(@?[!%\w]+\s+)?[\w.]+.*;/.test(row)) {
      if (!lines.has(line)) lines.set(line, []);
      lines.get(line).push(row.trim().replace(/\t+/g, ' '));
    }
  }
  return lines;
}

let ptx = new Map(), sass = new Map(), view = null;

export function codeClear() {
  ptx = new Map();
  sass = new Map();
}

export function codeSet(ptxText, sassText, file) {
  ptx = linesOf(ptxText || '', file);
  sass = linesOf(sassText || '', file);
}

// Shows the code of the line; called when the cursor moves.
export function codeShow(line) {
  if (!view || !view.isConnected || !ptx.size) return;
  const rows = [`PTX of line ${line}`, ...(ptx.get(line) || ['(no instructions of their own)'])];
  if (sass.size) rows.push('', `SASS of line ${line}`, ...(sass.get(line) || ['(none)']));
  view.textContent = rows.join('\n');
}

// "32 registers per thread, ... 64 of 64 warps" of the latest run: the occupancy.
export function occupancyOf(text) {
  const match = text.match(/^ +\d+ registers per thread[^]*?waves$/m);
  return match ? match[0].replace(/\s+/g, ' ').trim() : '';
}

export function codeFigures(machine, occupancy, line) {
  view = element('pre', {className: 'code', tabIndex: 0});
  view.setAttribute('aria-label', 'PTX and SASS of the line under the cursor');
  view.setAttribute('role', 'region');
  const facts = element('p', {textContent: machine
    ? `${machine.title || machine.name}: ${(machine.facts || []).join(', ')}.` : ''});
  const occupied = element('p', {textContent: occupancy
    ? `Latest run: ${occupancy}.` : 'Run or profile once to see the occupancy.'});
  queueMicrotask(() => codeShow(line));
  return [view, occupied, facts];
}
