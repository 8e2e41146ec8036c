// dot.js - the part "Dot product": the results of all machines, and the aligned terms of one of them as rows of bits.

const dot = {
  machines: []
};
const dotExamples = [
  {
    name: 'cancellation: 1 − 1 + 2⁻²⁵ + 2⁻²⁵',
    inputs: 'binary16',
    c: '0',
    products: '1 1\n1 -1\n2^-14 2^-11\n2^-14 2^-11',
    machine: 'a100-fp16'
  },
  {
    name: 'many small terms: 64 + 32 · 2⁻⁸',
    inputs: 'e4m3',
    c: '64',
    products: Array(32).fill('2^-4 2^-4').join('\n'),
    machine: 'h100-e4m3'
  },
  {
    name: 'the last rounding: 4 + 3·2⁻²³',
    inputs: 'binary16',
    c: '3*2^-23',
    products: '1 1\n1 1\n1 1\n1 1',
    machine: 'v100-fp16'
  },
  {
    name: 'smaller start: 1 − 2⁻²⁴ + 8 · 2⁻²⁵',
    inputs: 'binary16',
    c: '0x1.fffffep-1',
    products: Array(8).fill('2^-13 2^-12').join('\n'),
    machine: 'a100-fp16'
  },
  {
    name: 'not normalised: 1.5² − 1.5² + 2⁻²⁴',
    inputs: 'binary16',
    c: '0',
    products: '1.5 1.5\n1.5 -1.5\n2^-12 2^-12',
    machine: 'a100-fp16'
  },
  {
    name: 'two blocks: 1 − 1, then 2⁻²⁶',
    inputs: 'binary16',
    c: '0',
    products: ['1 1', '1 -1', ...Array(6).fill('0 0'), '2^-13 2^-13'].join('\n'),
    machine: 'a100-fp16'
  },
];

function startDot() {
  byId('dot-inputs')
      .replaceChildren(...ask('web_inputs').inputs.map((name) => make('option', {value: name, text: name})));
  byId('dot-inputs').value = 'binary16';
  byId('dot-example')
      .replaceChildren(
          make('option', {value: '', text: 'choose an example'}),
          ...dotExamples.map((e, i) => make('option', {value: i, text: e.name})));
  byId('dot-example').addEventListener('change', () => {
    const e = dotExamples[byId('dot-example').value];
    if (!e) return;
    byId('dot-inputs').value = e.inputs;
    byId('dot-c').value = e.c;
    byId('dot-products').value = e.products;
    byId('dot-machine').value = e.machine;
    byId('dot-block').value = '1';
    drawDot();
    stateWrite();
  });
  byId('dot-generate').addEventListener('click', () => {
    const n = wholeOf('dot-count', 1, 256, 'Random products'), seed = wholeOf('dot-seed', 0, 2 ** 53, 'Seed');
    const answer =
        n.error || seed.error ? {error: n.error || seed.error} : ask('web_dot_random', n.value, 6, seed.value);
    if (refuse('dot-error', answer)) return;
    byId('dot-products').value = answer.products.trim();
    byId('dot-example').value = '';
    drawDot();
    stateWrite();
  });
}

function chooseMachine(name) {
  byId('dot-machine').value = name;
  byId('dot-block').value = '1';
  drawDot();
  stateWrite();
  const button = byId('dot-table').querySelector('[aria-pressed=true]');
  if (button) button.focus({preventScroll: true});
}

// How a machine forms a sum, in a few words.
function ruleOf(m) {
  if (m.rule) return m.rule;
  if (!m.aligned)
    return {
      'fp32': 'one fused multiply-add after the other',
      split: 'each product rounded, then each sum',
      pairwise: 'a binary tree',
      kahan: 'Kahan\'s compensated sum',
      exact: 'the exact sum, rounded once',
      serial: 'one fused multiply-add after the other'
    }[m.name.replace(/:.*/, '')] ||
        '';
  return `${m.length} products at a time, ${m.fraction} bits kept, result rounded ${m.output}${
      m.late ? ', start added last' : ''}`;
}

// The same as a sentence.
function sentenceOf(m) {
  const rounds = modeOf(m.output).meaning.replace(/:.*/, '');
  if (!m.aligned) return `${m.name} forms ${ruleOf(m)}, in ${m.result}, rounded ${rounds}.`;
  const late = m.late ? ' The start c is added last.' : '';
  return `${m.name} adds ${m.length} products at a time. It cuts all terms ${m.fraction} bits below the largest ` +
      `exponent, adds them exactly, and rounds the sum ${rounds} to ${m.kept} fraction bits of ${m.result}.${late}`;
}

function drawMachines(answer, chosen) {
  const inputs = byId('dot-inputs').value, all = byId('dot-all').value === 'all';
  const shown = answer.machines.filter((m) => all || !m.aligned || m.inputs === inputs || m.name === chosen);
  const rows = shown.map((m) => {
    const on = m.name === chosen;
    const button = make('button', {type: 'button', class: 'link', 'aria-pressed': on, text: m.name});
    button.addEventListener('click', () => chooseMachine(m.name));
    return make(
        'tr', on ? {class: 'chosen'} : {}, head(button), cell(digits(m.value, 26)), cell(m.code, 'code'),
        cell(m.error === null ? '' : signed(m.error), 'right'), cell(m.result), cell(ruleOf(m), 'wide'));
  });
  fill(byId('dot-table'), ['machine', 'result', 'code', '>error', 'in', 'how it adds'], rows);
  const hidden = answer.machines.length - shown.length;
  byId('dot-others').textContent =
      (hidden ? `${hidden} more machines take formats that hold these operands too. ` : '') +
      (answer.others ? `${answer.others} machines take formats that do not hold these operands.` : '');
}

// The bits of |n| 2^low as { top, low, last, bit(e) }; `last` is the exponent of the last bit that is 1.
function bitsOf(n, low) {
  const m = n < 0n ? -n : n, text = m === 0n ? '' : m.toString(2), length = text.length;
  return {
    top: low + length - 1,
    low,
    last: low + length - 1 - text.lastIndexOf('1'),
    bit: (e) => (e < low || e >= low + length ? null : Number((m >> BigInt(e - low)) & 1n))
  };
}

// The bits of a double.
function bitsOfNumber(x) {
  let {n, d} = exactOfNumber(x), low = 1 - d.toString(2).length;
  while (n !== 0n && (n & 1n) === 0n) [n, low] = [n >> 1n, low + 1];
  return bitsOf(n, low);
}

// The columns of the picture: the weights from 2^top down to 2^bottom. Columns are so narrow that the picture fits the
// screen, but not narrower than 6 pixels. On a narrow screen labels are short, and columns of zeros at the right end
// are left out.
function spanOf(block, terms, total) {
  const place = byId('dot-picture'), width = widthOf(place.parentElement), narrow = width < 500;
  const tops = terms.map((t) => t.bits.top).concat(total.top, block.emax),
        lows = terms.map((t) => (narrow ? t.bits.last : t.low)).concat(block.unit - narrow);
  const label = narrow ? 66 : 184, sign = 16, span = {
    narrow,
    label,
    top: Math.max(...tops),
    cut: block.unit,
    bottom: Math.max(Math.min(...lows), block.unit - 30)
  };
  const columns = span.top - span.bottom + 1;
  span.bit = Math.max(6, Math.min(13, Math.floor((10 * (width - label - sign)) / columns) / 10));
  span.scrolls = label + sign + columns * span.bit > width;
  return span;
}

// One row of the picture: a label, a sign, and the bits from the weight 2^top down to 2^bottom.
function bitRow([long, short], negative, bits, span, kind = '') {
  const row = make(
      'div', {class: 'bit-row ' + kind}, make('span', {class: 'bit-label', text: span.narrow ? short : long}),
      make('span', {class: 'bit-sign', text: negative ? '−' : '+'}));
  for (let e = span.top; e >= span.bottom; e--) {
    const bit = bits.bit(e);
    const place = (e === span.cut ? ' last' : '') + (e < span.cut ? ' lost' : '');
    row.append(make('i', {class: bit === null ? 'none' + place : 'b' + bit + place, text: bit === null ? '' : bit}));
  }
  return row;
}

function drawScale(span) {
  const row = make(
      'div', {class: 'bit-row scale'}, make('span', {class: 'bit-label', text: 'weight'}),
      make('span', {class: 'bit-sign'}));
  const step = span.bit < 9 ? 8 : 4, room = 30 / span.bit;  // the columns that a label takes
  for (let e = span.top; e >= span.bottom; e--)
    row.append(
        make('i', {class: 'none'}, e % step === 0 && e - span.bottom + 1 >= room ? make('b', {text: power(e)}) : ''));
  return row;
}

// The label of a term, and its short label.
function termName(t, products) {
  if (t.name === 'c') return ['start c', 'c'];
  const [a, b] = products[t.index - 1];
  return [`${t.index}: ${brief(Number(a))} · ${brief(Number(b))}`, String(t.index)];
}

// The rows of bits of a block. Returns the columns.
function drawRows(block, terms, products) {
  const place = byId('dot-picture'), total = bitsOf(BigInt(block.total), block.unit),
        span = spanOf(block, terms, total), zero = Number(block.result) === 0,
        name = (text, short, isZero) => (isZero ? [text + ': 0', short + ' 0'] : [text, short]);
  place.style.setProperty('--bit', span.bit + 'px');
  place.style.setProperty('--label', span.label + 'px');
  place.replaceChildren(
      drawScale(span), ...terms.map((t) => bitRow(termName(t, products), t.negative, t.bits, span)),
      bitRow(name('sum of kept bits', 'sum', block.total === '0'), BigInt(block.total) < 0n, total, span, 'total'),
      bitRow(
          name('rounded result', 'result', zero), block.result.startsWith('-'),
          zero ? bitsOf(0n, 0) : bitsOfNumber(Number(block.result)), span, 'total'));
  place.parentElement.scrollLeft = span.scrolls ? place.scrollWidth : 0;  // the cut is near the right end
  return span;
}

// Which terms lose bits at the cut, in words.
function lossesOf(block, terms) {
  const size = (n) => (n < 0n ? -n : n), gone = terms.filter((t) => t.kept === '0').length;
  const lost = terms
                   .filter(
                       (t) => BigInt(t.m) << BigInt(Math.max(0, t.low - block.unit)) !==
                           size(BigInt(t.kept)) << BigInt(Math.max(0, block.unit - t.low)))
                   .length;
  if (!lost) return 'No term loses a bit.';
  return `${lost} of ${terms.length} terms lose${lost === 1 ? 's' : ''} bits${
      gone ? `; ${gone} of them ${gone === 1 ? 'is' : 'are'} lost whole` : ''}.`;
}

// A picture has a text for screen readers, and a legend. A table in its place has neither.
function labelPicture(text) {
  const place = byId('dot-picture');
  for (const [name, value] of [['role', 'img'], ['aria-label', text]])
    text ? place.setAttribute(name, value) : place.removeAttribute(name);
  byId('dot-legend').hidden = !text;
}

function drawBlock(block, products, answer) {
  const text = byId('dot-text');
  if (!block.drawn) {
    byId('dot-picture').replaceChildren();
    labelPicture('');
    text.textContent =
        `All terms are zero, or a term is infinite or NaN: nothing is aligned. The result is ${digits(block.result)}.`;
    return;
  }
  const terms = block.terms.map((t) => ({...t, bits: bitsOf(BigInt(t.m), t.low)})).filter((t) => t.m !== '0');
  const span = drawRows(block, terms, products), deeper = terms.some((t) => t.bits.last < span.bottom),
        zeros = terms.some((t) => t.low < span.bottom), losses = lossesOf(block, terms);
  labelPicture(`Rows of bits: ${terms.length} terms of ${answer.name}, from the weight 2 to the power ${
      span.top} down to 2 to the power ${span.bottom}. The cut is after the bit of 2 to the power ${block.unit}. ${
      losses} The rounded result is ${digits(block.result, 40)}.`);
  text.textContent = `The largest exponent is ${minus(String(block.emax))}. The cut lies ${
                         answer.fraction} bits below, at ${power(block.unit)}. ${losses} ` +
      `The rounded result is ${digits(block.result, 40)}.` +
      (answer.late ? ' The start c is added last, rounded to nearest.' : '') +
      (deeper    ? ' Bits far below the cut are not drawn.' :
           zeros ? ' Zeros at the right end are not drawn.' :
                   '') +
      (span.scrolls ? ' The picture is wider than the screen and scrolls sideways.' : '') + ' Zero terms have no row.' +
      (span.narrow ? ' Row 1 is product 1.' : '');
}

function drawTerms(name, products, machine) {
  byId('dot-name').textContent = name;
  const answer = ask('web_dot_terms', name);
  if (refuse('dot-error', answer)) return;
  byId('dot-rule').textContent = sentenceOf(machine);
  const blocks = byId('dot-blocks'), n = answer.blocks.length;
  const at = Math.min(n, Math.max(1, Number(byId('dot-block').value) || 1));
  const step = (to, text) => {
    const button = make('button', {type: 'button', text});
    button.disabled = to < 1 || to > n;
    button.addEventListener('click', () => {
      byId('dot-block').value = to;
      drawTerms(name, products, machine);
      stateWrite();
    });
    return button;
  };
  blocks.replaceChildren(
      ...(n > 1 ?
              [
                step(at - 1, '◀ block before'),
                make('span', {text: `Block ${at} of ${n}: it starts at ${digits(answer.blocks[at - 1].start, 24)}.`}),
                step(at + 1, 'next block ▶')
              ] :
              []));
  if (n) {
    drawBlock(answer.blocks[at - 1], products, answer);
    return;
  }
  const rows = answer.sums.slice(0, 64).map(
      (s, i) => make(
          'tr', {}, head(String(i + 1)), cell(`${digits(products[i][0], 16)} · ${digits(products[i][1], 16)}`),
          cell(digits(s.sum, 34))));
  const table = make('table');
  fill(table, ['product', 'operands', 'sum after it'], rows);
  byId('dot-picture').replaceChildren(...(rows.length ? [table] : []));
  labelPicture('');
  byId('dot-text').textContent = rows.length ?
      (answer.sums.length > 64 ? 'The table shows the first 64 products.' : '') :
      'This sum has no partial sums that follow the order of the products.';
}

// All decimal digits of the exact sum.
function exactDot(answer) {
  const given = [answer.c, ...answer.products.flat()];
  if (!given.every((x) => Number.isFinite(Number(x)))) return answer.exact;
  const terms = answer.products.map(([a, b]) => mulExact(exactOfNumber(Number(a)), exactOfNumber(Number(b))));
  return decimalOfExact(sumOfDyadics([exactOfText(answer.c), ...terms]));
}

function drawDot() {
  const answer = ask('web_dot_set', byId('dot-c').value.trim(), byId('dot-products').value, byId('dot-inputs').value);
  outdate('dot-out', refuse('dot-error', answer));
  if (answer.error) return;
  byId('dot-exact')
      .replaceChildren(
          `${answer.k} product${answer.k === 1 ? '' : 's'} and the start ${digits(answer.c, 24)}: the exact sum is `,
          longNumber(exactDot(answer)));
  const results = ask('web_dot_machines');
  dot.machines = results.machines;
  const chosen = results.machines.find((m) => m.name === byId('dot-machine').value) ||
      results.machines.find((m) => m.aligned) || results.machines[0];
  drawMachines(results, chosen.name);
  drawTerms(chosen.name, answer.products, chosen);
  const values = new Set(results.machines.map((m) => m.value));
  say(`${results.machines.length} machines give ${values.size} different results. ${chosen.name}: ${
      digits(chosen.value)}`);
}
