// The tabs of the results: each has its controls, the output of its program, and figures.

const NAMES = [
  {name: 'run', title: 'Run', button: 'Run', of: 'lab program'},
  {name: 'grade', title: 'Grade', button: 'Grade', of: 'lab'},
  {name: 'profile', title: 'Profile', button: 'Profile', of: 'lab program'},
  {name: 'see', title: 'Warp', button: 'Show the warp', of: 'lab'},
  {name: 'picture', title: 'Picture', button: 'Draw', of: 'picture'},
  {name: 'ladder', title: 'Ladder', button: 'Draw', of: 'lab'},
  {name: 'debug', title: 'Debug', button: 'Start', of: 'lab program'},
  {name: 'code', title: 'Code', button: 'Compile', of: 'lab program'},
];
const HOST = ['run', 'grade', 'profile', 'picture', 'ladder']; // of a lab without kernels
const list = document.getElementById('tabs'), place = document.getElementById('panels');
const panels = new Map();
let shown = 'run', changed = () => {};

export function element(kind, properties = {}, ...children) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...children);
  return made;
}

export function panel(name = shown) {
  return panels.get(name);
}

export function tabShown() {
  return shown;
}

export function showTab(name, focus = false) {
  shown = name;
  for (const [other, {tab, section, controls}] of panels) {
    tab.setAttribute('aria-selected', String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    section.hidden = controls.hidden = other !== name;
  }
  if (focus) panels.get(name).tab.focus();
  changed();
}

// Which tabs a lab or a program has.
export function tabsFor(target) {
  const may = target.kind === 'playground' ? ['program'] : ['lab'];
  if (/^0[0-4]/.test(target.name) && target.kind === 'labs') may.push('picture');
  for (const {name, of} of NAMES)
    panels.get(name).tab.hidden = !of.split(' ').some((word) => may.includes(word)) ||
      (target.host && !HOST.includes(name));
  if (panels.get(shown).tab.hidden) showTab('run');
  changed();
}

export function clearPanels() {
  for (const one of panels.values()) {
    one.output.textContent = '';
    one.figures.replaceChildren();
    one.resultOf = '';
  }
}

function keys(event) {
  const names = NAMES.map(({name}) => name).filter((name) => !panels.get(name).tab.hidden);
  const at = names.indexOf(shown);
  const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1}[event.key];
  if (to === undefined) return;
  event.preventDefault();
  showTab(names[(to + names.length) % names.length], true);
}

// start(action) is called by the buttons, onChange() when another tab is shown.
export function tabsOpen(start, onChange) {
  changed = onChange;
  for (const {name, title, button} of NAMES) {
    const tab = element('button', {type: 'button', id: `tab-${name}`, textContent: title});
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', `panel-${name}`);
    tab.addEventListener('click', () => showTab(name));
    const begin = element('button', {type: 'button', className: 'start', textContent: button});
    begin.dataset.action = name;
    begin.addEventListener('click', () => start(name));
    const controls = element('span', {className: 'controls'}, begin);
    document.getElementById('cancel').before(controls);
    const output = element('pre', {className: 'output', tabIndex: 0});
    output.setAttribute('role', 'region');
    output.setAttribute('aria-label', `Output of ${title}`);
    const figures = element('div', {className: 'figures'});
    const section = element('section', {id: `panel-${name}`}, output, figures);
    section.setAttribute('role', 'tabpanel');
    section.setAttribute('aria-labelledby', tab.id);
    list.append(tab);
    place.append(section);
    panels.set(name, {tab, section, controls, output, figures, resultOf: ''});
  }
  list.addEventListener('keydown', keys);
  showTab('run');
}
