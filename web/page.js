// page.js - elements, texts of numbers and messages, for all parts of the page.

const byId = (id) => document.getElementById(id);

// An element with attributes and children; `text` and `class` are shorthands.
function make(tag, attributes = {}, ...children) {
  const svg = ['svg', 'g', 'line', 'rect', 'circle', 'text', 'path', 'title'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'text')
      e.textContent = value;
    else
      e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

const superscripts = Object.fromEntries([...'-0123456789'].map((c, i) => [c, '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'[i]]));
const power = (e) => '2' + String(e).replace(/./g, (c) => superscripts[c]);
const minus = (text) => text.replace(/^-/, '−').replace(/e-0?/, 'e−');

// A typed text in the characters that the C sources read: the page writes minus signs, raised digits and narrow blanks.
const raisedDigits = Object.fromEntries(Object.entries(superscripts).map(([digit, raised]) => [raised, digit]));
const plain = (text) =>
    text.replace(/[−–]/g, '-')
        .replace(/[\u00a0\u2007\u2009\u202f]/g, ' ')
        .replace(/[·×]/g, '*')
        .replace(/∞/g, 'inf')
        .replace(/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (all) => '^' + [...all].map((c) => raisedDigits[c]).join(''));

// Decimal digits as they are read: all of them up to a width, else the first digits and the length.
function digits(text, width = 34) {
  if (text === 'inf') return '+∞';
  if (text === '-inf') return '−∞';
  if (text === 'nan') return 'NaN';
  if (text.length <= width) return minus(text);
  if (/^-?\d+$/.test(text))
    text = text.replace(/^(-?\d)(\d*)$/, (all, first, rest) => `${first}.${rest}e+${rest.length}`);
  text = text.replace(
      /^(-?)0\.(0{3,})(\d)(\d*)$/, (all, sign, zeros, first, rest) => `${sign}${first}.${rest}e-${zeros.length + 1}`);
  const [, significand, exponent] = text.match(/^([^e]*)(e.*)?$/);
  return minus(significand.slice(0, width - 2 - (exponent || '').length) + '…' + (exponent || ''));
}

// A number for a narrow place: short as it is, a power of two, or its first digits.
function brief(x) {
  const text = String(x), e = Math.log2(Math.abs(x));
  if (text.length <= 7) return minus(text);
  return Number.isInteger(e) ? (x < 0 ? '−' : '') + power(e) : digits(text, 9);
}

const count = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ' ');
// three digits, or more, without zeros at the end of a fraction
const shortly = (x, most = 3) =>
    x.toPrecision(most).replace(/\.0+(?=e|$)|(\.\d*[1-9])0+(?=e|$)/, '$1').replace('e-', 'e−');
const percent = (part, whole) => (whole === 0 ? '0' : shortly((100 * part) / whole)) + ' %';
// a difference: short, with its sign
const signed = (x, most = 3) => (x === null ? '' : x === 0 ? '0' : (x > 0 ? '+' : '−') + shortly(Math.abs(x), most));
// an error in units in the last place; an error near a tie has so many digits that it does not look like one
function units(x) {
  let most = 6;
  while (x !== null && most < 17 && Number(x.toPrecision(most)) !== x && Number(x.toPrecision(most)) % 0.5 === 0)
    most++;
  return signed(x, most);
}

// Writes a sentence about a refusal, or clears it. Returns whether there was one.
function refuse(id, answer) {
  const place = byId(id), sentence = answer && answer.error;
  place.hidden = !sentence;
  if (place.textContent !== (sentence || '')) place.textContent = sentence || '';
  return Boolean(sentence);
}

// While an input is refused, the last results stay, but pale.
function outdate(id, refused) {
  const place = byId(id);
  place.classList.toggle('stale', refused);
  place.hidden = refused && !place.dataset.drawn;
  if (!refused) place.dataset.drawn = 'yes';
}

// Fills a table. A column whose name begins with ">" has its name at the right, as its numbers are.
function fill(table, head, rows) {
  const name = (text) => (text.startsWith('>') ? {class: 'right', text: text.slice(1)} : {text});
  const line = make('tr', {}, ...head.map((text) => make('th', {scope: 'col', ...name(text)})));
  table.replaceChildren(make('thead', {}, line), make('tbody', {}, ...rows));
}

const cell = (content, kind = '') => make('td', kind ? {class: kind} : {}, content === null ? '–' : content);
const head = (content) => make('th', {scope: 'row'}, content);

function facts(list, pairs) {
  list.replaceChildren(
      ...pairs.map(([name, value]) => make('div', {}, make('dt', {text: name}), make('dd', {}, value))));
}

// The number of an answer's text: "nan", "inf" and "-inf", too.
const numberOfText = (text) => (text === 'nan' ? NaN : Number(text.replace('inf', 'Infinity')));
// The row of a rounding mode in the lists.
const modeOf = (name) => lists.modes.find((mode) => mode.name === name);

// Says a sentence to screen readers.
function say(sentence) {
  const live = byId('live');
  if (live.textContent !== sentence) live.textContent = sentence;
}

// Reads a whole number of a field; a refusal names the value and what is allowed.
function wholeOf(id, low, high, what) {
  const text = byId(id).value.trim(), typed = plain(text).replace(/^\d{1,3}( \d{3})+$/, (all) => all.replace(/ /g, ''));
  const value = /^[+-]?\d+$/.test(typed) ? Number(typed) : NaN;
  if (value >= low && value <= high) return {value};
  return {error: `${what}: "${text.slice(0, 40)}" is not possible. Allowed are whole numbers from ${low} to ${high}.`};
}

// Reads a number of a field as the C sources do; a refusal names the value and what is allowed.
function numberOf(id, what, low = -Number.MAX_VALUE, high = Number.MAX_VALUE) {
  const answer = ask('web_finite', byId(id).value.trim(), low, high);
  return answer.error ? {error: `${what}: ${answer.error}`} : {value: Number(answer.x)};
}

// The width that a picture has; a part that is not shown has none.
const widthOf = (element) => Math.max(280, Math.floor(element.clientWidth || 280));

const frame = () => new Promise((done) => setTimeout(done, 0));
const fieldNames = {
  s: 'sign',
  i: 'integer',
  e: 'exponent',
  r: 'exponent',
  d: 'exponent',
  c: 'exponent',
  f: 'fraction'
};
const fieldClasses = (letters) => [...letters].map((letter) => fieldNames[letter]);
