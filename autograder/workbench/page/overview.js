// The list of the labs with their progress and what is next, and the programs of the playground.

import {element} from './tabs.js';

const at = (id) => document.getElementById(id);

function link(words, title, open) {
  const button = element('button', {type: 'button', className: 'link', textContent: words, title});
  button.addEventListener('click', open);
  return button;
}

export function showOverview(labs, programs, openTarget) {
  const passed = labs.filter(({state}) => state === 'passed').length;
  const next = labs.find(({state}) => state !== 'passed');
  at('overview-title').textContent = `Labs: ${passed} of ${labs.length} passed` +
    (next ? `; next: ${next.name.slice(0, 2)}` : '');
  at('labs').replaceChildren(...labs.map((lab) => element('li', {},
    link(`${lab.name.slice(0, 2)} ${lab.title}`, `${lab.part}; ${lab.takes}`,
      () => openTarget('labs', lab.name)),
    element('span', {className: lab.state === 'passed' ? 'passed' : 'faint',
      textContent: ` ${lab.points.toFixed(0)}/100, ${lab.state}${lab === next ? '; next' : ''}`}))));
  at('programs').replaceChildren(...programs.map((name) => element('li', {},
    link(name, '', () => openTarget('playground', name)))));
  if (!programs.length) at('programs').append(element('li', {className: 'faint',
    textContent: 'no program yet: programs of your own are in the folder playground/'}));
  const group = (label, rows) => {
    const made = element('optgroup', {label});
    made.append(...rows.map(([value, words]) => new Option(words, value)));
    return made;
  };
  at('lab').replaceChildren(
    group('Labs', labs.map((lab) => [lab.name, `${lab.name}: ${lab.title}`])),
    group('Playground', programs.map((name) => [name, name])));
}
