// state.js - the link holds the whole state: the part that is shown, and every field that differs from its default.

const fields = () => [...document.querySelectorAll('[data-key]')];
const state = {
  part: 'number',
  timer: 0,
  longest: 6000,
  tooLong: false
};

// The defaults are the values before the first link is read.
function stateDefaults() {
  for (const field of fields()) field.dataset.initial = field.value;
}

function stateHash() {
  const pairs = new URLSearchParams();
  state.tooLong = histogram.pasted !== '';
  for (const field of fields()) {
    if (field.value === field.dataset.initial) continue;
    if (field.value.length > state.longest)
      state.tooLong = true;
    else
      pairs.set(field.dataset.key, field.value);
  }
  const text = pairs.toString();
  return '#' + state.part + (text ? '?' + text : '');
}

function stateWrite() {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => history.replaceState(null, '', stateHash()), 200);
}

// The hidden fields of a link that hold no possible value. A code without its number sets the number.
function wrongHidden(pairs) {
  const value = (id) => byId(id).value, wrong = [];
  const centre = value('line-centre'), block = value('dot-block');
  if (centre && (centre.trim() === '' || !Number.isFinite(Number(centre)))) wrong.push('line-centre');
  if (!/^[01]?$/.test(value('sums-shown'))) wrong.push('sums-shown');
  if (!/^[1-9]\d{0,2}$/.test(block)) wrong.push('dot-block');
  if (!ask('web_dot_set', value('dot-c'), value('dot-products'), value('dot-inputs')).error &&
      !ask('web_dot_machines').machines.some((m) => m.name === value('dot-machine')))
    wrong.push('dot-machine');
  if (value('number-code')) {
    const answer = ask('web_code', value('number-format').trim(), value('number-code'));
    if (!answer.error && !pairs.has('n.x')) byId('number-x').value = answer.short;
    if (answer.error || value('number-x') !== answer.short) wrong.push('number-code');
  }
  return wrong;
}

// Reads the link. Returns a sentence if the link names a part or a field that the page does not have.
function stateRead() {
  const [part, text] = location.hash.replace(/^#/, '').split(/\?(.*)/s);
  const pairs = new URLSearchParams(text || ''), wrong = [];
  for (const field of fields()) {
    const key = field.dataset.key, value = pairs.has(key) ? pairs.get(key) : field.dataset.initial;
    if (field.value === value) continue;
    field.value = value;
    if (field.value !== value && (field.tagName === 'SELECT' || field.type === 'range')) {
      wrong.push(`${key}=${value}`);
      field.value = field.dataset.initial;
    }
  }
  for (const id of wrongHidden(pairs)) {
    wrong.push(`${byId(id).dataset.key}=${byId(id).value}`);
    byId(id).value = byId(id).dataset.initial;
  }
  for (const key of pairs.keys())
    if (!fields().some((field) => field.dataset.key === key)) wrong.push(key);
  if (part && part !== 'main' && !byId('tab-' + part))
    wrong.push(part);
  else if (part && part !== 'main')
    state.part = part;
  return wrong.length ?
      `The link holds "${wrong.join('", "').slice(0, 120)}", which this page does not know; the default stands there.` :
      '';
}
