// Requests to the server of this page.

const KEY = 'workbench-token';

// The address that make workbench prints has the token behind #.  It is not sent in requests for
// pages and does not stay in the address bar.
// A key that does not fit does not replace the one that does: another page may link to this one.
export async function takeToken() {
  const given = location.hash.slice(1), kept = localStorage.getItem(KEY);
  if (/^[0-9a-f]{32}$/.test(given)) {
    history.replaceState(null, '', '/');
    const answer = kept && kept !== given &&
      await fetch('/api/key', {headers: {Authorization: `Bearer ${given}`}}).catch(() => null);
    if (answer?.status !== 401) localStorage.setItem(KEY, given);
  }
  return localStorage.getItem(KEY);
}

export class Failure extends Error {
  constructor(status, body) {
    super(body.error || `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

export async function ask(method, path, body) {
  const answer = await fetch(`/api/${path}`, {
    method,
    headers: {Authorization: `Bearer ${localStorage.getItem(KEY)}`},
    body: body && JSON.stringify(body),
  });
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Failure(answer.status, value);
  return value;
}

// A file of a job, as text; null if the job wrote none.
export async function jobFile(id, name) {
  const answer = await fetch(`/files/${id}/${name}`);
  return answer.ok ? answer.text() : null;
}
