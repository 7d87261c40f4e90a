// predict.ini as a form.  A line "name = value" of the file belongs to each question.

function valueOf(text, name) {
  const match = text.match(new RegExp(`^${name}[ \\t]*=[ \\t]*([^;\\n]*)`, 'm'));
  return match ? match[1].trim() : '';
}

export function withValue(text, name, value) {
  const line = new RegExp(`^(${name}[ \\t]*=)[^;\\n]*?([ \\t]*;.*)?$`, 'm');
  return line.test(text) ? text.replace(line, (all, head, note) => `${head} ${value}${note || ''}`)
    : `${text.replace(/\n*$/, '\n')}${name} = ${value}\n`;
}

// Calls save(name, value) when an answer changes.
export function showPredictions(form, predictions, text, save) {
  form.replaceChildren();
  form.hidden = !predictions.length;
  const title = document.createElement('h2');
  title.textContent = 'Predictions: answer before you measure';
  form.append(title);
  for (const {name, question, points} of predictions) {
    const label = document.createElement('label'), input = document.createElement('input');
    label.append(`${question} (${points} points) `, input);
    input.name = name;
    input.value = valueOf(text, name);
    input.autocomplete = 'off';
    input.addEventListener('change', () => save(name, input.value.trim()));
    form.append(label);
  }
  form.onsubmit = (event) => event.preventDefault();
}
