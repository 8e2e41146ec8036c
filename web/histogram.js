// histogram.js - the part "Gradients": a histogram of numbers against a format's range, with a loss scale.

const histogram = {
  turn: 0,
  tables: null,
  loaded: '',
  pasted: ''
};
const longestField = 20000;  // a browser takes seconds to lay out a field with a megabyte
const kindNames = {
  agrad: 'activations',
  wgrad: 'weights'
};
const netNames = {
  mlp: 'multilayer perceptron',
  cnn: 'convolutional network',
  lstm: 'recurrent network (LSTM)'
};
const classNames = ['flushed', 'subnormal', 'kept', 'overflowed', 'unsure'];
const classTexts = {
  flushed: 'flushed to zero',
  subnormal: 'kept, subnormal: fewer bits',
  kept: 'kept',
  overflowed: 'overflowed',
  unsure: 'on the border of a class',
  zeros: 'zero before',
  special: 'infinite or NaN before'
};

// The tables of web/gradients.csv: { 'mlp agrad': [[x, count], ...] }.
function readTables() {
  const tables = {};
  for (const row of byId('gradients').textContent.trim().split('\n')) {
    const [net, kind, x, n] = row.split(',');
    if (row.startsWith('#') || net === 'net') continue;
    (tables[`${net} ${kind}`] ||= []).push([x, Number(n)]);
  }
  return tables;
}

function startHistogram() {
  startLongTexts();
  histogram.tables = readTables();
  const options = Object.keys(histogram.tables).map((key) => {
    const [net, kind] = key.split(' ');
    return make('option', {value: key, text: `${kindNames[kind]}, ${netNames[net]}`});
  });
  byId('histogram-source')
      .replaceChildren(
          make('optgroup', {label: 'gradients of'}, ...options),
          make('option', {value: 'normal', text: 'generated: normal'}),
          make('option', {value: 'lognormal', text: 'generated: normal exponents'}),
          make('option', {value: 'pasted', text: 'your numbers'}));
}

// A long text that is pasted or dropped is counted without being shown.
function startLongTexts() {
  const field = byId('histogram-text');
  const take = (event, text) => {
    if (text.length <= longestField) return;
    event.preventDefault();
    histogram.pasted = text;
    field.value = '';
    field.placeholder = `A text of ${count(text.length)} characters is counted and not shown.`;
    drawHistogram();
    stateWrite();
  };
  field.addEventListener('paste', (event) => take(event, event.clipboardData.getData('text')));
  field.addEventListener('drop', (event) => take(event, event.dataTransfer.getData('text')));
  field.addEventListener('input', () => {
    histogram.pasted = '';
    field.placeholder = '';
  });
}

// Text goes to the module in slices that end between words, so that a pasted megabyte does not stop the page.
async function loadText(text, turn) {
  let words = 0, lines = 0;
  call('web_data_clear');
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + 30000);
    for (const between of [/[\s;]/, /,/]) {
      const longest = end;
      while (end < text.length && end > at && !between.test(text[end])) end--;
      if (end > at) break;
      end = longest;
    }
    const answer = loadSlice(text.slice(at, end), words, lines);
    if (answer.error) return answer;
    [words, lines, at] = [answer.words, answer.lines, end];
    if (at < text.length) {
      say(`Read ${percent(at, text.length)}`);
      await frame();
      if (turn !== histogram.turn) return null;
    }
  }
  return words ? {} : {error: 'There is no number yet. Paste numbers with blanks, commas or new lines between them.'};
}

function loadSlice(text, words, lines) {
  const bytes = new TextEncoder().encode(plain(text)), at = wasm.exports.web_input();
  const memory = new Uint8Array(wasm.exports.memory.buffer);
  memory.set(bytes, at);
  memory[at + bytes.length] = 0;
  return ask('web_data_text', words, lines);
}

// Loads the numbers of the fields into the module, if they are not there yet.
async function loadData(source, turn) {
  if (source === 'pasted') {
    const text = histogram.pasted || byId('histogram-text').value, key = 'pasted ' + text;
    if (histogram.loaded === key) return {};
    histogram.loaded = '';
    const answer = await loadText(text, turn);
    if (answer && !answer.error) histogram.loaded = key;
    return answer;
  }
  const n = wholeOf('histogram-count', 1, 100000, 'How many'),
        centre = wholeOf('histogram-centre', -140, 120, 'Middle exponent'),
        width = numberOf('histogram-width', 'Width', 0, 40), seed = wholeOf('histogram-seed', 0, 2 ** 53, 'Seed');
  const wrong = [n, centre, width, seed].find((v) => v.error),
        generated = source === 'normal' || source === 'lognormal';
  if (generated && wrong) return wrong;
  const key = [source, n.value, centre.value, width.value, seed.value].join();
  if (histogram.loaded === key) return {};
  histogram.loaded = '';
  call('web_data_clear');
  if (generated) {
    const answer = ask('web_data_generate', source, n.value, centre.value, width.value, seed.value);
    if (answer.error) return answer;
  } else {
    for (const [x, c] of histogram.tables[source]) {
      if (x === 'zero')
        call('web_data_zeros', c);
      else
        call('web_data_bin', Number(x), c);
    }
  }
  histogram.loaded = key;
  return {};
}

// Judges all numbers in slices.
async function judge(format, scale, turn) {
  call('web_judge_begin');
  for (let first = 0, more = 1; more > 0; first += 40000) {
    more = call('web_judge', format, scale, first, 40000);
    if (more > 0) {
      await frame();
      if (turn !== histogram.turn) return false;
    }
  }
  return true;
}

function rangeOf(format, bins) {
  const least = Math.log2(Number(format.minPositive)), top = Math.log2(Number(format.max));
  const xs = bins.map((b) => b.x);
  return {
    least,
    normal: Math.log2(Number(format.minNormal)),
    top,
    low: Math.floor(Math.min(least - 3, ...xs)),
    high: Math.ceil(Math.max(top + 3, ...xs.map((x) => x + 2)))
  };
}

const countOf = (report) => classNames.reduce((sum, name) => sum + report[name], 0);
function sharesOf(report) {
  const whole = countOf(report);
  return `of ${count(whole)} numbers ${percent(report.flushed, whole)} flushed to zero, ${
      percent(report.subnormal + report.kept, whole)} kept, ${percent(report.overflowed, whole)} overflowed`;
}

function drawBars(format, bins, scale, report) {
  const place = byId('histogram-picture'), width = widthOf(place), height = 260, foot = 46, top = 34;
  const range = rangeOf(format, bins.length ? bins : [{x: 0}]), left = 8;
  const x = (e) => left + ((e - range.low) / (range.high - range.low)) * (width - 2 * left);
  const most = Math.max(1, ...bins.map((b) => b.total)), y = (n) => height - foot - (n / most) * (height - foot - top);
  const svg = make('svg', {
    width,
    height,
    role: 'img',
    'aria-label': `Histogram of magnitudes by powers of two, after the loss scale 2 to the power ${
        scale}, against the range of ${format.name}: ${sharesOf(report)}`
  });
  const bands = [
    ['flush', range.low, range.least - 1, '→ 0'], ['sub', range.least - 1, range.normal, 'subnormal'],
    ['ok', range.normal, range.top, 'normal'], ['over', range.top, range.high, 'overflow']
  ];
  for (const [kind, from, to, text] of bands) {
    if (to <= from) continue;
    svg.append(
        make('rect', {x: x(from), y: 20, width: x(to) - x(from), height: height - foot - 20, class: 'band ' + kind}));
    if (x(to) - x(from) > text.length * 7) svg.append(svgText((x(from) + x(to)) / 2, 14, text, 'label'));
  }
  for (const bin of bins) {
    let at = 0;
    classNames.forEach((name, i) => {
      if (!bin.counts[i]) return;
      svg.append(make('rect', {
        x: x(bin.x) + 0.5,
        y: y(at + bin.counts[i]),
        width: Math.max(1.5, x(bin.x + 1) - x(bin.x) - 1),
        height: y(at) - y(at + bin.counts[i]),
        class: 'bar ' + name
      }));
      at += bin.counts[i];
    });
  }
  svg.append(make('line', {x1: left, x2: width - left, y1: height - foot, y2: height - foot, class: 'axis'}));
  for (const e of ticksOf(range.low, range.high, width < 500 ? 5 : 10).filter(Number.isInteger))
    svg.append(svgText(x(e), height - foot + 18, power(e), 'label'));
  svg.append(
      svgText(width / 2, height - 8, scale ? `magnitude after the loss scale ${power(scale)}` : 'magnitude', 'label'));
  place.replaceChildren(svg);
}

function drawCounts(report, format) {
  const whole = countOf(report);
  const kinds = classNames.filter((name) => name !== 'unsure' || report.unsure);
  const rows = kinds.map(
      (name) => make(
          'tr', {}, head(make('span', {class: 'key ' + name, text: classTexts[name]})),
          cell(count(report[name]), 'right'), cell(percent(report[name], whole), 'right')));
  for (const name of ['zeros', 'special'])
    if (report[name])
      rows.push(
          make('tr', {}, head(classTexts[name]), cell(count(report[name]), 'right'), cell('not counted', 'right')));
  fill(byId('histogram-table'), [`in ${format.name}, to nearest even`, '>numbers', '>share'], rows);
  say(sharesOf(report));
}

async function drawHistogram() {
  const turn = ++histogram.turn, source = byId('histogram-source').value, scale = Number(byId('histogram-scale').value);
  const shown = {
    generated: source === 'normal' || source === 'lognormal',
    lognormal: source === 'lognormal',
    pasted: source === 'pasted'
  };
  for (const label of document.querySelectorAll('#histogram [data-for]')) label.hidden = !shown[label.dataset.for];
  byId('histogram-scale-text').textContent = `${power(scale)} = ${2 ** scale}`;
  byId('histogram-scale').setAttribute('aria-valuetext', `2 to the power ${scale}`);
  const name = byId('histogram-format').value.trim(), format = ask('web_format', name);
  const answer = format.error ? format : await loadData(source, turn);
  if (!answer || turn !== histogram.turn) return;
  outdate('histogram-out', refuse('histogram-error', answer));
  if (answer.error) return;
  if (!(await judge(name, scale, turn))) return;
  const n = call('web_judge_bins'), numbers = answered(6 * n), bins = [];
  for (let i = 0; i < n; i++) {
    const counts = [...numbers.slice(6 * i + 1, 6 * i + 6)];
    bins.push({x: numbers[6 * i] + scale, counts, total: counts.reduce((a, b) => a + b)});
  }
  const report = ask('web_judge_report');
  drawBars(format, bins, scale, report);
  drawCounts(report, format);
  byId('histogram-note').textContent = histogram.tables[source] ?
      'Each bar counts the gradients between two powers of two. They are from a training on handwritten digits, ' +
          '300 steps (experiment gradient_underflow). A gradient that is exactly a power of two counts as slightly ' +
          'larger, which changes fewer than one count in 100,000.' :
      'Each bar counts the numbers between two powers of two. Every number is rounded on its own.';
  byId('histogram-out').dataset.done = turn;
}
