// A profile: bars of the stall reasons, and each line's shares for the editor's margin.

import {element} from './tabs.js';

// Rows of the output "    global memory    51.5 %  long_scoreboard".
export function stallsOf(text) {
  return [...text.matchAll(/^ {4}(\S.*?) +([\d.]+) %  ([a-z_]+)$/gm)]
    .map(([, words, share, name]) => ({words, share: Number(share), name}));
}

export function stallBars(text) {
  const stalls = stallsOf(text);
  if (!stalls.length) return [];
  const rows = stalls.sort((a, b) => b.share - a.share).map(({words, share, name}) => {
    const bar = element('meter', {min: 0, max: 100, value: share});
    bar.setAttribute('aria-label', `${words}: ${share} %`);
    return element('tr', {title: name}, element('th', {textContent: words, scope: 'row'}),
      element('td', {}, bar), element('td', {textContent: `${share.toFixed(1)} %`}));
  });
  const caption = element('caption', {textContent: 'What the warps do, by cycles'});
  return [element('table', {className: 'bars'}, caption, ...rows)];
}

// Map of line to {cycles, sectors, perRequest}: fractions of the kernel's cycles and sectors.
// From lines.tsv, whose stall columns are cycles.
export function sharesOf(table, file) {
  const rows = table.trim().split('\n').map((row) => row.split('\t')), shares = new Map();
  const column = (name) => rows[0].indexOf(name);
  const first = column('selected'), last = column('short_scoreboard_special');
  const cycles = (row) => row.slice(first, last + 1).reduce((sum, cell) => sum + Number(cell), 0);
  const sectors = (row) => Number(row[column('sectors')]);
  const all = rows.slice(1).reduce((sum, row) => [sum[0] + cycles(row), sum[1] + sectors(row)], [0, 0]);
  for (const row of rows.slice(1)) {
    if (row[0] !== file || !all[0]) continue;
    const share = shares.get(Number(row[1])) || {cycles: 0, sectors: 0, count: 0, requests: 0};
    share.cycles += cycles(row) / all[0];
    share.sectors += all[1] ? sectors(row) / all[1] : 0;
    share.count += sectors(row);
    share.requests += Number(row[column('requests')]);
    shares.set(Number(row[1]), share);
  }
  return shares;
}

// The same from the hot lines of the output of make simulate: "    27  31.2 %   0.3 M".
export function sharesOfText(text) {
  const shares = new Map();
  for (const [, line, share] of text.matchAll(/^ +(\d+) +([\d.]+) % +[\d.]+ [kMG]?(?= |$)/gm))
    shares.set(Number(line), {cycles: Number(share) / 100, sectors: 0, count: 0, requests: 0});
  return shares;
}
