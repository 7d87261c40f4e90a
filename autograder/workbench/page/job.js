// A job of the server: start it, follow its output, cancel it.

import {ask} from './server.js';

const PAUSE_MS = 150, LONGEST_PAUSE_MS = 1000;
let current = null;

// A pause, which input for the job ends.
let wakeUp = () => {};
const sleep = (ms) => new Promise((wake) => {
  wakeUp = wake;
  setTimeout(wake, ms);
});

// Programs show their progress by lines that end with a carriage return: the last one stays.
export function asLines(text) {
  return text.split('\n').map((line) => line.replace(/\r$/, '').replace(/^.*\r/, '')).join('\n');
}

// Lines of progress, "  grading 02-naive: case 3 of 10, tall, 4 s, about 6 s left", are taken out
// of the output; returns {text, progress}, the latest of them.
export function withoutProgress(text) {
  const pattern = /^ {2}\S.*, \d+ s(?:, about \d+ s left)?\n/gm;
  const lines = text.match(pattern);
  return lines ? {text: text.replace(pattern, ''), progress: lines[lines.length - 1].trim()}
    : {text, progress: ''};
}

// Calls show(text, job) while the output grows; returns {id, state, status, text}.
export async function runJob(target, request, show) {
  const {id} = await ask('POST', `${target}/jobs`, request);
  const job = {id, text: '', state: 'waiting', status: 0, progress: '', pause: PAUSE_MS};
  current = job;
  show('', job);
  // A job that says nothing new is asked less and less often.
  for (let from = 0; ;) {
    const part = await ask('GET', `jobs/${id}?from=${from}`);
    const isNews = part.text !== '' || part.state !== job.state;
    from = part.bytes;
    job.text += part.text;
    job.state = part.state;
    job.status = part.status;
    if (isNews) {
      const seen = withoutProgress(asLines(job.text));
      job.progress = seen.progress;
      show(seen.text, job);
    }
    if (part.state === 'ended' || part.state === 'cancelled') break;
    job.pause = isNews ? PAUSE_MS : Math.min(job.pause * 1.25, LONGEST_PAUSE_MS);
    await sleep(job.pause);
  }
  if (current === job) current = null;
  job.text = withoutProgress(asLines(job.text)).text;
  return job;
}

// A line for the program that runs.  It may not run yet: then the line waits.
export async function jobInput(text) {
  for (;;) {
    if (!current || current.state === 'ended') return;
    try {
      await ask('POST', `jobs/${current.id}/input`, {text});
      if (current) current.pause = PAUSE_MS;
      wakeUp();
      return;
    } catch (error) {
      if (error.status !== 409 || current.state !== 'waiting') throw error;
      await sleep(PAUSE_MS);
    }
  }
}

export async function cancelJob() {
  if (current) await ask('DELETE', `jobs/${current.id}`);
}

// Lines of the source that the output names: "conv.cu:15: error ..." and "at conv.cu:15".
export function findingsOf(text, file) {
  const found = new Map();
  const name = file.replace(/\./g, '\\.');
  const pattern = new RegExp(`(?:^|[\\s/(])${name}[:(](\\d+)\\)?:?(.*)`, 'g');
  for (const match of text.matchAll(pattern)) {
    const line = Number(match[1]);
    if (!found.has(line)) found.set(line, (match[2] || '').trim() || 'named in the result');
  }
  return [...found].map(([line, words]) => ({line, text: words}));
}
