// predict.ini as a form.  A line "name = value" of the file belongs to each question.

import {element} from './tabs.js';

function valueOf(text, name) {
  const match = text.match(new RegExp(`^${name}[ \\t]*=[ \\t]*([^;\\n]*)`, 'm'));
  return match ? match[1].trim() : '';
}

export function withValue(text, name, value) {
  const line = new RegExp(`^(${name}[ \\t]*=)[^;\\n]*?([ \\t]*;.*)?$`, 'm');
  return line.test(text) ? text.replace(line, (all, head, note) => `${head} ${value}${note || ''}`)
    : `${text.replace(/\n*$/, '\n')}${name} = ${value}\n`;
}

// Calls save(name, value) when an answer changes.  A question with a first answer is locked.
export function showPredictions(form, predictions, text, save) {
  form.replaceChildren();
  form.hidden = !predictions.length;
  form.append(element('h2', {textContent: 'Predictions: answer before you measure'}));
  form.append(element('p', {className: 'faint', textContent:
    'The first answer counts: after a run, a profile or a grade it is locked.'}));
  for (const {name, question, points, first} of predictions) {
    const input = element('input', {name, value: valueOf(text, name), autocomplete: 'off'});
    const label = element('label', {}, `${question} (${points} points) `, input);
    if (first !== null) {
      input.readOnly = true;
      label.append(element('span', {className: 'faint', textContent: Number(input.value) === first
        ? 'locked' : `locked; your first answer was ${first}, and the file has another one`}));
    }
    input.addEventListener('change', () => save(name, input.value.trim()));
    form.append(label);
  }
  form.onsubmit = (event) => event.preventDefault();
}
