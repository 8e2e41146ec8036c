// number.js - the part "A number": bits, exact value, neighbours, every mode, overflow policies, formats side by side.

const number = {
  format: null
};

function startNumber() {
  byId('number-hex').addEventListener('input', () => setCode(byId('number-hex').value.trim()));
  byId('number-below').addEventListener('click', () => stepTo('below'));
  byId('number-above').addEventListener('click', () => stepTo('above'));
}

// Shows a code; the typed number becomes the value of the code.
function setCode(code) {
  const answer = ask('web_code', byId('number-format').value.trim(), code);
  if (refuse('number-error', answer)) return;
  byId('number-code').value = answer.code;
  byId('number-x').value = answer.short;
  drawNumber('number-code');
  stateWrite();
}

function stepTo(side) {
  const neighbour = number.shown && number.shown[side];
  if (neighbour) setCode(neighbour.code);
}

function flipBit(i) {
  const bits = [...number.shown.bits];
  bits[i] = bits[i] === '1' ? '0' : '1';
  setCode(BigInt('0b' + bits.join('')).toString(16));
  const button = byId('number-bits-row').querySelectorAll('button')[i];
  if (button) button.focus();
}

function meaningOf(shown, format) {
  const names = {zero: 'zero', infinite: 'infinity', NaN: 'not a number: the code stands for no value'};
  if (names[shown.class])
    return `${shown.class === 'NaN' ? '' : shown.value.startsWith('-') ? '−' : '+'}${names[shown.class]}`;
  if (format.fixed)
    return `${minus(String(shown.integer))} × ${power(shown.exponent)}: an integer in units of the last place`;
  const product = `${shown.sign === '-' ? '−' : '+'}${shown.significand}₂ × ${power(shown.exponent)}`;
  if (shown.class === 'subnormal' && !format.tapered)
    return `${product}. The number is subnormal: the exponent field is 0, the leading bit is 0, and the exponent is ${
        minus(String(format.emin))}`;
  if (format.tapered) return product;
  return `${product}. The exponent is the field ${shown.field} − bias ${minus(String(format.bias))}`;
}

function drawBits(shown, format) {
  const row = byId('number-bits-row'), classes = fieldClasses(shown.letters);
  const buttons = [...shown.bits].map((bit, i) => {
    const place = format.bits - 1 - i;
    const edge = i > 0 && shown.letters[i] !== shown.letters[i - 1] ? ' edge' : '';
    const button = make('button', {
      type: 'button',
      class: `bit ${classes[i]}${edge}`,
      'aria-pressed': bit === '1',
      'aria-label': `bit ${place}, ${classes[i]}, is ${bit}`,
      text: bit
    });
    button.addEventListener('click', () => flipBit(i));
    return button;
  });
  row.replaceChildren(...buttons);
  const names =
      format.fixed ? [['integer', 'integer bits, the first has the weight of the sign'], ['fraction', 'fraction']] : [
        ['sign', 'sign'], ['exponent', format.tapered ? 'regime and exponent' : 'exponent'],
        ['fraction', 'fraction of the significand']
      ];
  const widths = {};
  for (const name of classes) widths[name] = (widths[name] || 0) + 1;
  byId('number-legend')
      .replaceChildren(...names.filter(([key]) => widths[key] > 0)
                           .map(([key, text]) => make('span', {
                                  class: 'key ' + key,
                                  text: `${text}: ${widths[key]} bit${widths[key] === 1 ? '' : 's'}`
                                })));
}

function longNumber(text) {
  if (text.length <= 60) return digits(text, 60);
  return make(
      'details', {}, make('summary', {text: digits(text, 40) + ` (all ${text.replace(/[^0-9]/g, '').length} digits)`}),
      make('span', {class: 'digits', text}));
}

function drawShown(shown, format) {
  number.shown = shown;
  drawBits(shown, format);
  if (document.activeElement !== byId('number-hex')) byId('number-hex').value = shown.code;
  byId('number-value').textContent = `${format.name} holds ${digits(shown.value, 40)}`;
  byId('number-meaning').textContent = meaningOf(shown, format);
  for (const side of ['below', 'above']) {
    const button = byId('number-' + side), neighbour = shown[side];
    button.disabled = !neighbour || !neighbour.code;
    const name = side === 'below' ? '◀ next below' : 'next above ▶';
    button.textContent = neighbour ? `${name}: ${digits(neighbour.value, 14)}` : `${name}: none`;
  }
  const rows = [
    ['Exact value', longNumber(shown.value)], ['Hex float', shown.hex],
    ['Kind', shown.class + (shown.class === 'subnormal' ? ', below the least normal number' : '')]
  ];
  if (shown.below) rows.push(['Below', longNumber(shown.below.value)]);
  if (shown.above) rows.push(['Above', longNumber(shown.above.value)]);
  if (shown.ulp)
    rows.push([
      'ulp, the spacing here',
      `${shown.ulpExponent === null ? '' : power(shown.ulpExponent) + ' = '}${digits(shown.ulp)}`
    ]);
  facts(byId('number-facts'), rows);
}

const fraction = (ups, words) => {
  let a = BigInt(ups), b = BigInt(words);
  while (a > 0n && a % 2n === 0n) [a, b] = [a / 2n, b / 2n];
  return `${a} / ${b.toString(2).length > 13 ? power(b.toString(2).length - 1) : b}`;
};

function drawModes(answer, chosen) {
  const rows = answer.modes.map((m) => {
    const about = modeOf(m.mode);
    const row = make('tr', m.mode === chosen ? {class: 'chosen'} : {});
    row.append(head(m.mode), cell(about.meaning, 'wide'));
    if (!m.other)
      row.append(cell(digits(m.value)), cell(m.code, 'code'), cell(m.error === null ? '' : `${units(m.error)} ulp`));
    else {
      const p = Number(m.ups) / Number(m.words), lines = (a, b) => make('span', {}, a, make('br'), b);
      row.append(
          cell(lines(digits(m.value), digits(m.other))), cell(lines(m.code, m.otherCode), 'code'),
          cell(lines(
              `probability ${(1 - p).toPrecision(4)}`,
              `probability ${p.toPrecision(4)} = ${fraction(m.ups, m.words)}`)));
    }
    return row;
  });
  fill(byId('number-modes'), ['mode', 'rounds', 'result', 'code', 'error, or probability'], rows);
}

function drawPolicies(answer, format) {
  const range = `the range of ${format.name}, ${digits(format.lowest, 20)} to ${digits(format.max, 20)}`,
        differ = answer.policies.some((p) => p.value !== answer.policies[0].value);
  byId('number-policy-note').textContent = !answer.beyond ?
      `The number is inside ${range}. The policies differ only where a result is beyond the range.` :
      differ ? `The number is beyond ${range}. The policy decides.` :
               `The number is beyond ${range}. In mode ${byId('number-mode').value} all policies give one result.`;
  const rows = answer.policies.map(
      (p) => make(
          'tr', p.own ? {class: 'chosen'} : {}, head(p.policy + (p.own ? ' (default)' : '')), cell(digits(p.value)),
          cell(p.code, 'code')));
  fill(byId('number-policies'), ['policy', `result in mode ${byId('number-mode').value}`, 'code'], rows);
}

function drawFormat(f) {
  const yes = (flag) => (flag ? 'yes' : 'no');
  const rows = [['Width', `${f.bits} bits`]];
  if (f.fixed)
    rows.push(
        ['Fixed point', `${f.integerBits} integer bits, which count the sign, and ${f.fractionBits} fraction bits`]);
  else
    rows.push(
        ['Precision', `${f.precision} significant bit${f.precision === 1 ? '' : 's'}${f.tapered ? ' at most' : ''}`], [
          'Exponents',
          `${minus(String(f.emin))} to ${minus(String(f.emax))}` + (f.tapered ? '' : `, bias ${minus(String(f.bias))}`)
        ]);
  rows.push(['Largest', digits(f.max, 40)], ['Lowest', digits(f.lowest, 40)]);
  if (!f.fixed) rows.push(['Least normal', digits(f.minNormal, 40)]);
  rows.push(['Least positive', digits(f.minPositive, 40)]);
  if (!f.fixed)
    rows.push(['Subnormals', yes(f.subnormals)], ['Infinity', yes(f.infinities)], ['NaN', f.nan.replace('NaN: ', '')]);
  facts(byId('number-format-facts'), rows);
}

function drawSides(x) {
  const answer = ask('web_sides', byId('number-sides').value, x, byId('number-mode').value);
  byId('number-sides-table').hidden = Boolean(refuse('number-sides-error', answer));
  if (answer.error) return;
  const rows = answer.rows.map((r) => {
    const strip = make('span', {class: 'strip', 'aria-hidden': 'true'});
    const classes = r.bits ? fieldClasses(r.letters) : [];
    classes.forEach((kind, i) => strip.append(make('i', {class: kind, text: r.bits[i]})));
    return make(
        'tr', {}, head(r.format), cell(r.code, 'code'), cell(digits(r.value, 26)),
        cell(r.relative === null ? '' : signed(r.relative), 'right'),
        cell(r.ulpExponent === null ? '' : power(r.ulpExponent)), cell(strip));
  });
  fill(byId('number-sides-table'), ['format', 'code', 'value', '>relative error', 'ulp', 'bits'], rows);
}

function drawNumber(changed) {
  if (['number-x', 'number-mode', 'number-overflow', 'number-format'].includes(changed)) byId('number-code').value = '';
  const name = byId('number-format').value.trim(), x = byId('number-x').value.trim(), mode = byId('number-mode').value;
  const bits = wholeOf('number-bits', 1, 32, 'Random bits'), format = ask('web_format', name);
  const answer = bits.error || format.error ?
      {error: bits.error || format.error} :
      ask('web_number', name, x, mode, byId('number-overflow').value, bits.value);
  outdate('number-out', refuse('number-error', answer));
  if (answer.error) return;
  const code = byId('number-code').value;
  let shown = code ? ask('web_code', name, code) : answer.result;
  if (shown && shown.error) {
    byId('number-code').value = '';
    shown = answer.result;
  }
  byId('number-typed').textContent = minus(x.length > 30 ? x.slice(0, 30) + '…' : x);
  const random = modeOf(mode).stochastic && !code && answer.modes.find((m) => m.mode === mode).other;
  byId('number-note').textContent =
      (random ? `The bits above show the result of ${mode} with random bits that are all 0. ` : '') +
      (answer.isBinary64 ? '' : 'The typed number is no number of binary64. It is rounded once, as it is written.');
  if (shown)
    drawShown(shown, format);
  else
    byId('number-value').textContent = `${format.name} has no code for ${digits(answer.x)}.`;
  for (const id of ['number-bits-row', 'number-meaning', 'number-facts', 'number-legend']) byId(id).hidden = !shown;
  drawModes(answer, mode);
  drawPolicies(answer, format);
  drawFormat(format);
  drawSides(x);
  if (shown) say(`${format.name}, code ${shown.code}, ${digits(shown.value)}, ${shown.class}`);
}
