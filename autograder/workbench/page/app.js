// The page: one lab at a time; the file on disk is authoritative.

import {ask, jobFile, takeToken} from './server.js';
import * as editor from './editor.js';
import {cancelJob, findingsOf, runJob, sharesOf} from './job.js';
import {breakpointsClear, debugBegin, debugEnd, debugListen, debugShow} from './debug.js';
import {showHandout} from './handout.js';
import {showPredictions, withValue} from './predictions.js';

const at = (id) => document.getElementById(id);
const state = {lab: null, digest: '', dirty: false, busy: false, conflict: false, resultOf: '', regions: []};

// ---- messages ------------------------------------------------------------------------------

function banner(text, actions = []) {
  at('banner').hidden = !text;
  at('banner-text').textContent = text;
  at('banner-actions').replaceChildren(...actions.map(([words, act]) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = words;
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

// ---- the lab -------------------------------------------------------------------------------

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

async function openLab(name) {
  if (state.dirty && !await save()) return;
  const lab = await ask('GET', `labs/${name}`);
  Object.assign(state, {lab, digest: lab.source.digest, dirty: false, conflict: false, resultOf: ''});
  banner(lab.source.error || '');
  at('lab').value = lab.name;
  at('file').textContent = lab.sourceName;
  document.title = `${lab.name} · workbook`;
  editor.editorSet(lab.source.text || '', true);
  showTasks(lab.source.regions || []);
  editor.showFindings([]);
  breakpointsClear();
  editor.showShares(new Map());
  options(at('case'), lab.cases.map((item) => [item.name, `${item.name}${item.timed ? ' (timed)' : ''}`]));
  at('gpu').value = lab.gpu;
  at('output').textContent = '';
  at('figures').replaceChildren();
  at('outdated').hidden = true;
  showHandout(at('handout'), lab.handout, guarded(openLab));
  showPredictions(at('predictions'), lab.predictions, lab.predict.text || '', guarded(savePrediction));
  showPoints(lab.points, lab.state);
  showSaved();
  localStorage.setItem('workbench-lab', lab.name);
}

// ---- saving --------------------------------------------------------------------------------

async function save() {
  const text = editor.editorText();
  try {
    const {digest} = await ask('PUT', `labs/${state.lab.name}/source`, {text, base: state.digest});
    state.digest = digest;
    state.dirty = editor.editorText() !== text;
    state.conflict = false;
    banner('');
    showSaved();
    showTasks((await ask('GET', `labs/${state.lab.name}`)).source.regions || []);
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
      const {source} = await ask('GET', `labs/${state.lab.name}`);
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

async function savePrediction(name, value) {
  const {predict} = await ask('GET', `labs/${state.lab.name}`);
  await ask('PUT', `labs/${state.lab.name}/predict`,
    {text: withValue(predict.text, name, value), base: predict.digest});
}

// The number of the region in which the cursor is, as text; "" outside of all: a staged hint.
function regionHere() {
  const line = editor.editorLine();
  const region = state.regions.find(({first, last}) => first <= line && line <= last);
  return region ? String(region.number) : '';
}

// ---- jobs ----------------------------------------------------------------------------------

function settings(action) {
  const request = {action, gpu: at('gpu').value};
  if (at('shape').value) request.shape = at('shape').value;
  else request.case = at('case').value;
  if (action === 'see') request.line = String(editor.editorLine());
  if (action === 'profile') request.against = at('against').value;
  if (action === 'grade') return {action, gpu: request.gpu};
  if (action === 'ladder') return {action};
  return request;
}

function setBusy(busy, words = '') {
  state.busy = busy;
  at('cancel').disabled = !busy;
  for (const button of document.querySelectorAll('.start, #hint')) button.disabled = busy;
  at('progress').textContent = words;
}

async function showFiles(action, id) {
  const figures = [];
  if (action === 'profile') {
    const table = await jobFile(id, 'lines.tsv');
    if (table) editor.showShares(sharesOf(table, state.lab.sourceName));
    for (const [name, words] of [['roofline.svg', 'Roofline'], ['timeline.svg', 'Timeline of blocks']]) {
      if (await jobFile(id, name) === null) continue;
      const image = document.createElement('img');
      image.src = `/files/${id}/${name}`;
      image.alt = words;
      figures.push(image);
    }
  }
  if (action === 'see') {
    const frame = document.createElement('iframe');
    frame.title = 'Accesses of a warp';
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.src = `/files/${id}/see.html`;
    figures.push(frame);
  }
  at('figures').replaceChildren(...figures);
}

async function start(request) {
  if (state.busy) return;
  setBusy(true, `${request.action} ...`);
  showPane('results');
  at('outdated').hidden = true;
  at('figures').replaceChildren();
  try {
    if (state.dirty && !await save()) {
      setBusy(false);
      return;
    }
    const debugs = request.action === 'debug';
    let begun = false;
    const job = await runJob(state.lab.name, request, (text, {state: words}) => {
      at('output').textContent = text;
      at('progress').textContent = `${request.action}: ${words}`;
      if (debugs && !begun) debugBegin(state.lab.sourceName);
      if (debugs && begun) debugShow(text);
      if (debugs) at('output').scrollTop = at('output').scrollHeight;
      begun = true;
    });
    if (debugs) debugEnd();
    state.resultOf = state.digest;
    if (request.action !== 'hint')
      editor.showFindings(findingsOf(job.text, state.lab.sourceName));
    if (job.state === 'ended' && job.status === 0) await showFiles(request.action, job.id);
    setBusy(false, job.state === 'cancelled' ? 'cancelled' : `${request.action}: done`);
    await poll();
  } catch (error) {
    debugEnd();
    setBusy(false);
    throw error;
  }
}

// ---- changes from outside ------------------------------------------------------------------

async function poll() {
  const name = state.lab.name;
  const seen = await ask('GET', `labs/${name}/state`);
  if (name !== state.lab.name) return;
  showPoints(seen.points, seen.state);
  at('outdated').hidden = !state.resultOf || (state.resultOf === seen.source && !state.dirty);
  if (seen.source === state.digest || state.conflict) return;
  if (state.dirty) {
    showConflict(seen.source);
    return;
  }
  const {source} = await ask('GET', `labs/${name}`);
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

function listen() {
  at('lab').addEventListener('change', guarded(() => openLab(at('lab').value)));
  at('save').addEventListener('click', guarded(save));
  at('hint').addEventListener('click', guarded(() => start({action: 'hint', todo: regionHere()})));
  debugListen(guarded);
  at('cancel').addEventListener('click', guarded(cancelJob));
  at('task').addEventListener('change', () => at('task').value && editor.editorGo(Number(at('task').value)));
  for (const button of document.querySelectorAll('.start'))
    button.addEventListener('click', guarded(() => start(settings(button.dataset.action))));
  for (const button of document.querySelectorAll('#panes button'))
    button.addEventListener('click', () => showPane(button.dataset.pane));
  document.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    if (event.key === 's') guarded(save)();
    else if (event.key === 'Enter') guarded(() => start(settings('run')))();
    else return;
    event.preventDefault();
  });
  window.addEventListener('beforeunload', (event) => state.dirty && event.preventDefault());
  editor.onEdit(() => {
    state.dirty = true;
    at('outdated').hidden = !state.resultOf;
    showSaved();
  });
}

async function main() {
  showPane('editor');
  if (!takeToken()) {
    banner('Open the address that make workbench printed: it has the key of this page.');
    return;
  }
  const {labs, machines} = await ask('GET', 'labs');
  options(at('lab'), labs.map((lab) => [lab.name, `${lab.name}: ${lab.title}`]));
  options(at('gpu'), machines.map((name) => [name, name]));
  editor.editorOpen(at('text'));
  listen();
  const last = localStorage.getItem('workbench-lab');
  await openLab(labs.some((lab) => lab.name === last) ? last : labs[0].name);
  pollForever();
}

guarded(main)();
