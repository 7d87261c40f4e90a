// The page: one lab or one program at a time; the file on disk is authoritative.

import {ask, jobFile, takeToken} from './server.js';
import * as editor from './editor.js';
import {cancelJob, findingsOf, runJob} from './job.js';
import {breakpointsClear, debugBegin, debugEnd, debugListen, debugShow} from './debug.js';
import {showHandout} from './handout.js';
import {showOverview} from './overview.js';
import {showPredictions, withValue} from './predictions.js';
import {sharesOf, sharesOfText, stallBars} from './profile.js';
import {codeClear, codeFigures, codeSet, codeShow, occupancyOf} from './code.js';
import {clearPanels, element, panel, showTab, tabShown, tabsFor, tabsOpen} from './tabs.js';

const at = (id) => document.getElementById(id);
// target: {kind: 'labs' or 'playground', name, host}; digest: of the text on disk that the editor's
// text is based on.
const state = {target: null, lab: null, digest: '', dirty: false, busy: false, conflict: false,
  regions: [], machines: [], occupancy: '', filter: null, live: null, against: null};
const PROGRAM_HELP = `<h1>Playground</h1>
<p>A program of your own: one CUDA source file with its <code>main</code>, in the folder
<code>playground/</code>. <em>Run</em> compiles it and runs it on the simulated GPU with all checks, as
<code>make simulate</code> does; findings are marked in the margin. The program runs with your rights.</p>
<ul><li><em>Arguments</em> are words separated by blanks.</li>
<li><em>Machine</em> runs the same program on another GPU.</li>
<li><em>Capability</em> is that of the generated PTX: 90a for Hopper's units.</li>
<li><em>Profile</em> shows the longest launch by source line.</li></ul>`;

const path = (target = state.target) => `${target.kind}/${target.name}`;

// ---- messages ------------------------------------------------------------------------------

function banner(text, actions = []) {
  at('banner').hidden = !text;
  at('banner-text').textContent = text;
  at('banner-actions').replaceChildren(...actions.map(([words, act]) => {
    const button = element('button', {type: 'button', textContent: words});
    button.addEventListener('click', act);
    return button;
  }));
}

function guarded(act) {
  return async (...values) => {
    try {
      await act(...values);
    } catch (error) {
      if (error instanceof TypeError)
        banner('The server does not answer. Start make workbench again and open its new address; ' +
               'your text stays in this page until then.');
      else banner(error.message);
    }
  };
}

function showSaved() {
  at('saved').textContent = state.dirty ? 'not saved' : 'saved';
}

// ---- a lab or a program --------------------------------------------------------------------

function options(select, rows) {
  select.replaceChildren(...rows.map(([value, words]) => new Option(words, value)));
}

function showTasks(regions) {
  state.regions = regions;
  options(at('task'), [['', 'go to ...'],
    ...regions.map((region) => [region.first, `TODO(${region.number}) ${region.task}`])]);
  editor.showRegions(regions);
}

function showPoints(points, words) {
  at('points').textContent = `${points.toFixed(1)}/100, ${words}`;
  at('points').className = words === 'passed' ? 'passed' : '';
}

async function loadOverview() {
  const all = await ask('GET', 'labs');
  showOverview(all.labs, all.programs, guarded((kind, name) => openTarget({kind, name})));
  state.machines = all.machines;
  if (state.target) at('lab').value = state.target.name;
  return all;
}

function showLab(lab) {
  options(at('case'), lab.cases.map((item) => [item.name, `${item.name}${item.timed ? ' (timed)' : ''}`]));
  at('gpu').value = lab.gpu;
  const filters = /^00/.test(lab.name) ? ['brighter', 'contrast'] : ['edges', 'identity', 'box',
    'gauss', 'sharpen', 'vertical', 'horizontal', 'emboss', 'shift'];
  options(state.filter, filters.map((name) => [name, name]));
  showHandout(at('text-of-handout'), lab.handout, guarded((name) => openTarget({kind: 'labs', name})));
  showPredictions(at('predictions'), lab.predictions, lab.predict.text || '', guarded(savePrediction));
  showPoints(lab.points, lab.state);
}

// `target`: {kind, name}.  The name of a lab may be its number alone.
async function openTarget(target) {
  if (state.dirty && !await save()) return;
  const lab = await ask('GET', path(target)), isLab = target.kind === 'labs';
  Object.assign(state, {target: {...target, name: lab.name, host: lab.host}, lab,
    digest: lab.source.digest, dirty: false, conflict: false, occupancy: ''});
  banner(lab.source.error || '');
  at('lab').value = lab.name;
  at('file').textContent = lab.sourceName;
  document.title = `${lab.name} · workbook`;
  document.body.dataset.kind = target.kind;
  editor.editorSet(lab.source.text || '', true);
  editor.showFindings([]);
  editor.showShares(new Map());
  showTasks(lab.source.regions || []);
  breakpointsClear();
  codeClear();
  clearPanels();
  tabsFor(state.target);
  at('hints').hidden = true;
  at('overview').open = at('header').open = false;
  at('header').hidden = !lab.header;
  if (lab.header) {
    at('header-title').textContent = `${lab.header.name}: names and types for the source`;
    at('header-text').textContent = lab.header.text;
  }
  if (isLab) {
    showLab(lab);
  } else {
    showHandout(at('text-of-handout'), PROGRAM_HELP, () => {});
    at('points').textContent = '';
  }
  showSaved();
  localStorage.setItem('workbench-target', JSON.stringify({kind: target.kind, name: lab.name}));
  offerDraft();
}

// A text that was not saved when the page was reloaded or closed by mistake stays in the browser's
// storage of this tab.
function storeDraft() {
  const draft = {of: path(), text: editor.editorText()};
  if (state.dirty) sessionStorage.setItem('workbench-draft', JSON.stringify(draft));
  else sessionStorage.removeItem('workbench-draft');
}

function offerDraft() {
  const draft = JSON.parse(sessionStorage.getItem('workbench-draft') || 'null');
  if (!draft || draft.of !== path() || draft.text === editor.editorText()) return;
  banner('A text of this file was not saved before the page was loaded again.', [
    ['Show it (not saved yet)', () => {
      editor.editorSet(draft.text, false);
      banner('');
      changed();
    }],
    ['Drop it', () => {
      sessionStorage.removeItem('workbench-draft');
      banner('');
    }],
  ]);
}

async function createProgram(event) {
  event.preventDefault();
  const field = event.target.elements.name, name = field.value.trim().replace(/(\.cu)?$/, '.cu');
  await ask('POST', 'playground', {name});
  field.value = '';
  await loadOverview();
  await openTarget({kind: 'playground', name});
}

// ---- saving --------------------------------------------------------------------------------

async function save() {
  const text = editor.editorText();
  try {
    const {digest} = await ask('PUT', `${path()}/source`, {text, base: state.digest});
    state.digest = digest;
    state.dirty = editor.editorText() !== text;
    state.conflict = false;
    banner('');
    showSaved();
    storeDraft();
    if (state.target.kind === 'labs') showTasks((await ask('GET', path())).source.regions || []);
    return true;
  } catch (error) {
    if (error.status !== 409) throw error;
    showConflict(error.body.digest);
    return false;
  }
}

// Both texts exist until the student decides: one on disk, one in the editor.
function showConflict(digest) {
  state.conflict = true;
  banner('Another program has changed the file, and the text here is not saved.', [
    ['Show the file on disk (undo brings this text back)', guarded(async () => {
      const {source} = await ask('GET', path());
      state.digest = source.digest;
      state.dirty = state.conflict = false;
      editor.editorSet(source.text, false);
      banner('');
      showSaved();
    })],
    ['Write this text over it', guarded(async () => {
      state.digest = digest;
      await save();
    })],
  ]);
}

// One answer after the other: each changes the text that the previous one has saved.
let answersSaved = Promise.resolve();
function savePrediction(name, value) {
  const target = path();
  const saves = async () => {
    const {predict} = await ask('GET', target);
    await ask('PUT', `${target}/predict`,
      {text: withValue(predict.text, name, value), base: predict.digest});
  };
  answersSaved = answersSaved.then(saves, saves);
  return answersSaved;
}

function regionHere() {
  const line = editor.editorLine();
  return state.regions.find(({first, last}) => first <= line && line <= last);
}

// The region of the cursor becomes that of the skeleton, as one step that undo takes back.
async function resetRegion() {
  if (state.dirty && !await save()) return;
  const region = regionHere();
  if (!region || region.skeleton === null) {
    banner('The cursor is in no TODO region: choose one under Task.');
    return;
  }
  editor.editorReplace(region.body, region.last, region.skeleton);
  editor.editorGo(region.body);
}

// ---- jobs ----------------------------------------------------------------------------------

function settings(action) {
  const request = {action, gpu: at('gpu').value};
  if (state.target.kind === 'playground') {
    for (const name of ['args', 'flags', 'arch']) request[name] = at(name).value;
    return request;
  }
  if (action === 'grade') return request;
  if (action === 'picture') return {action, filter: state.filter.value};
  if (action === 'ladder' || action === 'code') return {action};
  if (at('shape').value) request.shape = at('shape').value;
  else request.case = at('case').value;
  if (action === 'see') request.line = String(editor.editorLine());
  if (action === 'profile') request.against = state.against.value;
  return request;
}

function setBusy(busy, words = '') {
  state.busy = busy;
  at('cancel').disabled = !busy;
  for (const button of document.querySelectorAll('.start, #hint')) button.disabled = busy;
  at('progress').textContent = words;
}

function image(id, name, words) {
  return element('img', {src: `/files/${id}/${name}`, alt: words});
}

async function filesOfProfile(id, text) {
  const table = state.target.kind === 'labs' ? await jobFile(id, 'lines.tsv') : null;
  editor.showShares(table ? sharesOf(table, state.lab.sourceName) : sharesOfText(text));
  const figures = stallBars(text);
  if (table && await jobFile(id, 'roofline.svg') !== null)
    figures.push(image(id, 'roofline.svg', 'Roofline'));
  if (table && await jobFile(id, 'timeline.html') !== null)
    figures.push(pageFrame(id, 'timeline.html', 'Timeline of warps and blocks'));
  return figures;
}

function pageFrame(id, name, title) {
  const frame = element('iframe', {title, src: `/files/${id}/${name}`});
  frame.setAttribute('sandbox', 'allow-scripts');
  return frame;
}

function filesOfSee(id) {
  return [pageFrame(id, 'see.html', 'Accesses of a warp')];
}

async function filesOfCode(id) {
  codeSet(await jobFile(id, 'code.ptx'), await jobFile(id, 'code.sass'), state.lab.sourceName);
  const machine = state.machines.find(({name}) => name === at('gpu').value);
  return codeFigures(machine, state.occupancy, editor.editorLine());
}

async function filesOfLadder(id) {
  const name = `${state.target.name}.svg`;
  return await jobFile(id, name) === null ? [] : [image(id, name, 'Your grades over time')];
}

async function showFiles(action, job) {
  const figures = action === 'profile' ? await filesOfProfile(job.id, job.text)
    : action === 'see' ? filesOfSee(job.id)
      : action === 'code' ? await filesOfCode(job.id)
        : action === 'ladder' ? await filesOfLadder(job.id)
          : action === 'picture' ? [image(job.id, `${state.filter.value}.png`,
            'The picture, your output, and wrong pixels in red')] : null;
  if (figures) panel(action).figures.replaceChildren(...figures);
}

// After the first measurement the predictions that have an answer are locked.
async function lockPredictions(action, job) {
  const measures = action === 'grade' ? /^ +prediction /m.test(job.text)
    : ['run', 'profile', 'see'].includes(action) && job.status === 0;
  if (!measures || state.target.kind !== 'labs') return;
  const lab = await ask('POST', `${path()}/measured`, {});
  showPredictions(at('predictions'), lab.predictions, lab.predict.text || '', guarded(savePrediction));
}

// The lines of an indented paragraph as one line: they were broken for a terminal's width.
function unwrapped(text) {
  return text.replace(/^( +)(\S.*)((?:\n\1\S.*)+)/gm,
    (all, indent, first, rest) => indent + first + rest.replaceAll(`\n${indent}`, ' '));
}

function showFeedback(action, job) {
  if (action === 'hint') {
    at('hints').hidden = false;
    at('hints').textContent = unwrapped(job.text.trim());
    return;
  }
  editor.showFindings(findingsOf(job.text, state.lab.sourceName));
  state.occupancy = occupancyOf(job.text) || state.occupancy;
}

async function follow(action, request) {
  const debugs = action === 'debug', place = action === 'hint' ? null : panel(action);
  let begun = false;
  const job = await runJob(path(), request, (text, {state: words, progress}) => {
    if (place) place.output.textContent = text;
    at('progress').textContent = `${action}: ${words === 'running' && progress ? progress : words}`;
    if (!debugs) return;
    if (begun) debugShow(text);
    else debugBegin(state.lab.sourceName);
    begun = true;
    place.output.scrollTop = place.output.scrollHeight;
  });
  if (debugs) debugEnd();
  if (place) place.resultOf = state.digest;
  showFeedback(action, job);
  if (job.state === 'ended' && (job.status === 0 || action === 'picture' || action === 'profile'))
    await showFiles(action, job);
  if (job.state === 'ended') await lockPredictions(action, job);
  return job;
}

async function start(request) {
  if (state.busy) return;
  const {action} = request;
  setBusy(true, `${action} ...`);
  if (action === 'hint') {
    showPane('handout');
  } else {
    showPane('results');
    showTab(action);
    if (action !== 'picture') panel(action).figures.replaceChildren();
  }
  try {
    if (state.dirty && !await save()) {
      setBusy(false);
      return;
    }
    const job = await follow(action, request);
    setBusy(false, job.state === 'cancelled' ? 'cancelled' : `${action}: done`);
    await poll();
    if (action === 'grade') await loadOverview();
  } catch (error) {
    debugEnd();
    setBusy(false);
    throw error;
  }
}

// ---- changes from outside ------------------------------------------------------------------

function showOutdated() {
  const one = panel();
  if (one) at('outdated').hidden = !one.resultOf || (one.resultOf === state.digest && !state.dirty);
  at('settings').hidden = ['grade', 'picture', 'ladder'].includes(tabShown());
  at('predictions').hidden = !at('predictions').childElementCount || state.target?.kind !== 'labs' ||
    !['run', 'grade'].includes(tabShown());
}

async function poll() {
  const {target} = state;
  const seen = await ask('GET', `${path(target)}/state`);
  if (target !== state.target) return;
  if (target.kind === 'labs') showPoints(seen.points, seen.state);
  if (seen.source !== state.digest && !state.conflict) {
    if (state.dirty) showConflict(seen.source);
    else await showChange();
  }
  showOutdated();
}

async function showChange() {
  const {source} = await ask('GET', path());
  if (source.error) banner(source.error);
  if (source.error || state.dirty) return;
  state.digest = source.digest;
  editor.editorSet(source.text, false);
  showTasks(source.regions);
  banner('');
}

async function pollForever() {
  let silent = false;
  for (;;) {
    await new Promise((wake) => setTimeout(wake, 1000));
    if (document.hidden || state.busy) continue;
    try {
      await poll();
      if (silent) banner('');
      silent = false;
    } catch (error) {
      if (!silent) await guarded(() => { throw error; })();
      silent = true;
    }
  }
}

// ---- start ---------------------------------------------------------------------------------

function showPane(pane) {
  document.querySelector('main').dataset.shown = pane;
  for (const button of document.querySelectorAll('#panes button'))
    button.setAttribute('aria-pressed', String(button.dataset.pane === pane));
}

let storing = 0;
function changed() {
  state.dirty = true;
  showOutdated();
  showSaved();
  clearTimeout(storing);
  storing = setTimeout(storeDraft, 300);
}

// Controls of single tabs.
function controlsOpen() {
  state.against = element('select', {id: 'against'}, new Option('nothing', ''),
    new Option('reference', 'reference'), new Option('baseline', 'baseline'));
  panel('profile').controls.append(element('label', {className: 'of-lab'}, 'against ', state.against));
  state.filter = element('select', {id: 'filter'});
  state.live = element('input', {id: 'live', type: 'checkbox'});
  panel('picture').controls.append(element('label', {}, 'Filter ', state.filter),
    element('label', {}, state.live, 'after each save'));
}

async function saveAndDraw() {
  if (await save() && state.live.checked && !state.busy && !panel('picture').tab.hidden)
    await start(settings('picture'));
}

function listen() {
  at('lab').addEventListener('change', guarded(() => openTarget(
    {kind: at('lab').value.endsWith('.cu') ? 'playground' : 'labs', name: at('lab').value})));
  at('save').addEventListener('click', guarded(saveAndDraw));
  at('reset').addEventListener('click', guarded(resetRegion));
  at('hint').addEventListener('click', guarded(() => {
    const region = regionHere();
    return start({action: 'hint', todo: region ? String(region.number) : ''});
  }));
  at('new-program').addEventListener('submit', guarded(createProgram));
  debugListen(guarded);
  at('cancel').addEventListener('click', guarded(cancelJob));
  at('task').addEventListener('change', () => at('task').value && editor.editorGo(Number(at('task').value)));
  for (const button of document.querySelectorAll('#panes button'))
    button.addEventListener('click', () => showPane(button.dataset.pane));
  document.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    if (event.key === 's') guarded(saveAndDraw)();
    else if (event.key === 'Enter') guarded(() => start(settings(tabShown())))();
    else return;
    event.preventDefault();
  });
  window.addEventListener('beforeunload', (event) => state.dirty && event.preventDefault());
  editor.onEdit(changed);
  editor.onCursor(codeShow);
}

async function main() {
  showPane('editor');
  if (!await takeToken()) {
    banner('Open the address that make workbench printed: it has the key of this page.');
    return;
  }
  tabsOpen((action) => guarded(() => start(settings(action)))(), showOutdated);
  controlsOpen();
  const {labs, machines} = await loadOverview();
  options(at('gpu'), machines.map(({name, title}) => [name, title ? `${name}: ${title}` : name]));
  editor.editorOpen(at('text'));
  listen();
  const last = JSON.parse(localStorage.getItem('workbench-target') || 'null');
  try {
    await openTarget(last || {kind: 'labs', name: labs[0].name});
  } catch {
    await openTarget({kind: 'labs', name: labs[0].name}); // the last one does not exist any more
  }
  pollForever();
}

guarded(main)();
