// line.js - the part "Number line": the values of a format, a point to move, the results of all modes, coins.

const line = {
  values: [],
  low: 0,
  high: 1,
  log: false,
  width: 0,
  x: 0,
  ulp: 1,
  dragged: false
};
const svgText = (x, y, text, kind = '', anchor = 'middle') =>
    make('text', {x, y, class: kind, 'text-anchor': anchor, text});

function startLine() {
  byId('line-mode').value = 'sra';
  const picture = byId('line-picture');
  picture.addEventListener('pointerdown', (event) => {
    if (event.target.closest('.row-label')) return;
    line.dragged = true;
    picture.setPointerCapture(event.pointerId);
    dragTo(event);
  });
  picture.addEventListener('pointermove', (event) => line.dragged && dragTo(event));
  for (const end of ['pointerup', 'pointercancel']) picture.addEventListener(end, () => (line.dragged = false));
  picture.addEventListener('keydown', moveByKey);
}

// The place of a value in the picture, and back.
const margin = 14;
function placeOf(value) {
  const part = line.log ? (Math.log2(value) - Math.log2(line.low)) / (Math.log2(line.high) - Math.log2(line.low)) :
                          (value - line.low) / (line.high - line.low);
  return margin + part * (line.width - 2 * margin);
}
function valueAt(place) {
  const part = Math.min(1, Math.max(0, (place - margin) / (line.width - 2 * margin)));
  return line.log ? 2 ** (Math.log2(line.low) + part * (Math.log2(line.high) - Math.log2(line.low))) :
                    line.low + part * (line.high - line.low);
}

function moveTo(x) {
  byId('line-x').value = String(x);
  drawLine('moved');
  stateWrite();
}

function dragTo(event) {
  const x = valueAt(event.clientX - byId('line-picture').getBoundingClientRect().left);
  moveTo(Number(x.toPrecision(6)));
  byId('line-picture').querySelector('[role=slider]').focus();
}

function moveByKey(event) {
  const steps = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 16, PageDown: -16};
  let x = line.x;
  if (event.key in steps)
    x += (steps[event.key] * line.ulp * (event.shiftKey ? 16 : 1)) / 16;
  else if (event.key === 'Home')
    x = line.low;
  else if (event.key === 'End')
    x = line.high;
  else
    return;
  event.preventDefault();
  if (line.log && x <= 0) return;
  moveTo(x);
  byId('line-picture').querySelector('[role=slider]').focus();
}

// The values that the view shows. Returns a sentence if there are too many.
function chooseValues(name, format, view, x) {
  line.log = view === 'log';
  if (view === 'all' || view === 'log') {
    const low = view === 'log' ? Number(format.minPositive) : Number(format.lowest);
    const n = call('web_line_values', name, low, Number(format.max), 1024);
    if (n < 0) return `${format.name} has more than 1024 numbers in this view. Choose numbers around x.`;
    line.values = answered(n);
    if (n < 2) return `${format.name} has ${n} number${n === 1 ? '' : 's'} in this view. Choose numbers around x.`;
  } else {
    const centre = Number(byId('line-centre').value || x), most = Number(view);
    line.values = answered(call('web_line_around', name, centre, most));
    const low = line.values[0], high = line.values[line.values.length - 1];
    if (x < low || x > high) {
      byId('line-centre').value = String(x);
      line.values = answered(call('web_line_around', name, x, most));
    }
  }
  line.low = line.values[0];
  line.high = line.values[line.values.length - 1];
  if (line.high === line.low) line.high = line.low + 1;
  return '';
}

// The results of all modes: `low`, or `high` with the probability ups / words. Without a possible number of random bits
// the stochastic modes have no result.
function resultsOf(name, x) {
  const bits = wholeOf('line-bits', 1, 32, 'Random bits');
  const answer = ask('web_number', name, String(x), 'rne', 'default', bits.error ? 32 : bits.value);
  return answer.modes.filter((m) => !bits.error || !modeOf(m.mode).stochastic).map((m) => ({
                                                                                     mode: m.mode,
                                                                                     low: numberOfText(m.value),
                                                                                     high: m.other ?
                                                                                         numberOfText(m.other) :
                                                                                         null,
                                                                                     text: m.value,
                                                                                     other: m.other,
                                                                                     ups: m.ups,
                                                                                     words: m.words
                                                                                   }));
}

// Zero and the powers of two have long ticks. Labels that fit are written, zero first, then powers of two.
function drawTicks(svg, y, format) {
  const least = Number(format.minNormal), few = line.values.length <= 20,
        room = (line.width < 500 ? 70 : 90) * (few ? 0.55 : 1);
  const isWhole = (value) => value === 0 || Number.isInteger(Math.log2(Math.abs(value))), taken = [];
  for (const value of line.values) {
    const place = placeOf(value), subnormal = Math.abs(value) < least && value !== 0 && format.subnormals;
    const tall = isWhole(value) ? 14 : 8;
    svg.append(
        make('line', {x1: place, x2: place, y1: y - tall, y2: y + tall, class: subnormal ? 'tick subnormal' : 'tick'}));
  }
  const named = [...line.values].filter((value) => few || isWhole(value));
  named.sort((a, b) => (b === 0) - (a === 0) || isWhole(b) - isWhole(a) || (few ? a - b : Math.abs(b) - Math.abs(a)));
  for (const value of named) {
    const place = placeOf(value);
    if (place < 18 || place > line.width - 18 || taken.some((other) => Math.abs(other - place) < room)) continue;
    taken.push(place);
    svg.append(svgText(place, y - 20, brief(value), 'label'));
  }
}

// The rows below the line: what each mode makes of x.
function drawResults(svg, results, y) {
  results.forEach((r, i) => {
    const at = y + 30 + 22 * i, from = placeOf(line.log ? Math.max(line.x, line.low) : line.x),
          inside = (v) => Number.isFinite(v) && v >= line.low && v <= line.high && (!line.log || v > 0);
    const ends = r.high === null ?
        [[r.low, 1]] :
        [[r.low, 1 - Number(r.ups) / Number(r.words)], [r.high, Number(r.ups) / Number(r.words)]];
    svg.append(make('line', {x1: margin, x2: line.width - margin, y1: at, y2: at, class: 'guide'}));
    for (const [value, share] of ends) {
      if (!inside(value)) {
        svg.append(svgText(
            value > line.low || Number.isNaN(value) ? line.width - 4 : 4, at + 4,
            Number.isNaN(value) ? 'NaN' :
                value > 0       ? '+∞ or beyond' :
                                  'beyond',
            'beyond', value > line.low || Number.isNaN(value) ? 'end' : 'start'));
        continue;
      }
      svg.append(make(
          'line', {x1: from, x2: placeOf(value), y1: at, y2: at, class: r.high === null ? 'move' : 'move chance'}));
      svg.append(make('circle', {
        cx: placeOf(value),
        cy: at,
        r: Math.max(2, 6 * Math.sqrt(share)),
        class: r.high === null ? 'result' : 'result chance'
      }));
    }
    const right = from > line.width / 2,
          label = r.high === null ? `${r.mode} ${digits(r.text, 12)}` :
                                    `${r.mode} ${digits(r.text, 8)} or ${digits(r.other, 8)}`;
    svg.append(make('text', {
      x: right ? 4 : line.width - 4,
      y: at + 4,
      class: 'row-label',
      'text-anchor': right ? 'start' : 'end',
      text: label
    }));
  });
}

function drawPicture(name, format) {
  const place = byId('line-picture'), results = resultsOf(name, line.x), y = 62;
  line.width = widthOf(place);
  const svg = make('svg', {
    width: line.width,
    height: y + 30 + 22 * results.length,
    role: 'group',
    'aria-label': `${line.values.length} numbers of ${format.name} from ${line.low} to ${line.high}, the point x = ${
        line.x}, and the result of each mode`
  });
  const below = results.find((r) => r.mode === 'rd').low, above = results.find((r) => r.mode === 'ru').low;
  const gapLow = Math.max(below, line.low), gapHigh = Math.min(above, line.high);
  if (gapHigh > gapLow && (!line.log || gapLow > 0))
    svg.append(make(
        'rect', {x: placeOf(gapLow), y: y - 14, width: placeOf(gapHigh) - placeOf(gapLow), height: 28, class: 'gap'}));
  svg.append(make('line', {x1: margin, x2: line.width - margin, y1: y, y2: y, class: 'axis'}));
  drawTicks(svg, y, format);
  drawResults(svg, results, y);
  const at = placeOf(line.log ? Math.max(line.x, line.low) : line.x);
  if (line.x >= line.low && line.x <= line.high) {
    svg.append(make('line', {x1: at, x2: at, y1: y, y2: y + 20 + 22 * results.length, class: 'drop'}));
    const nearest = results.find((r) => r.mode === 'rne');
    svg.append(make('circle', {
      cx: at,
      cy: y,
      r: 9,
      class: 'point',
      tabindex: 0,
      role: 'slider',
      'aria-label': 'the point x',
      'aria-valuemin': line.low,
      'aria-valuemax': line.high,
      'aria-valuenow': line.x,
      'aria-valuetext': `${line.x}, to nearest ${nearest.low}`
    }));
    svg.append(
        svgText(Math.min(line.width - 40, Math.max(40, at)), 16, `x = ${digits(String(line.x), 14)}`, 'x-label'));
  }
  place.replaceChildren(svg);
  const gap = line.x > Number(format.max) || line.x < Number(format.lowest) ? `x is beyond ${format.name}. ` :
      above > below ? `The gap that holds x goes from ${digits(String(below), 14)} to ${digits(String(above), 14)}. ` :
                      `x is a number of ${format.name}. `;
  byId('line-caption').textContent = `${gap}The view has ${line.values.length} numbers.${
      format.subnormals ? ' Subnormal numbers have another colour: their spacing does not shrink any more.' :
                          ''} A circle that is larger has the larger probability.`;
  say(`${gap}To nearest: ${results.find((r) => r.mode === 'rne').text}.`);
}

// x rounded n times.
function drawCoinsOf(name, bits, seed, n) {
  new Float64Array(wasm.exports.memory.buffer, wasm.exports.web_values(), n).fill(line.x);
  ask('web_round_values', name, byId('line-mode').value, 'default', bits, seed, n);
  return answered(n);
}

function drawCoins(name) {
  const bits = wholeOf('line-bits', 1, 32, 'Random bits'), draws = wholeOf('line-draws', 1, 4096, 'Draws'),
        seed = wholeOf('line-seed', 0, 2 ** 53, 'Seed');
  const error = bits.error || draws.error || seed.error;
  const answer = error ? {error} : ask('web_coin_sides', name, byId('line-mode').value, bits.value, line.x);
  outdate('line-coins-out', refuse('line-coins-error', answer));
  if (answer.error) return;
  const place = byId('line-coins');
  if (answer.ups === 0 && answer.low === answer.high) {
    byId('line-probability').textContent = `x rounds to ${digits(answer.low)} whatever the random bits are.`;
    place.replaceChildren();
    place.hidden = true;
    byId('line-drawn').textContent = '';
    return;
  }
  place.hidden = false;
  const p = answer.ups / answer.words, results = drawCoinsOf(name, bits.value, seed.value, draws.value),
        low = numberOfText(answer.low);
  byId('line-probability').textContent = `x becomes ${digits(answer.high, 20)} with probability ${
      fraction(answer.ups, answer.words)} = ${p.toPrecision(6)}, exactly: ${count(answer.ups)} of the ${
      count(answer.words)} whole numbers of ${bits.value} random bits. Otherwise it becomes ${digits(answer.low, 20)}.`;
  const isLow = (value) => value === low || (Number.isNaN(value) && Number.isNaN(low));
  answer.drawn = results.filter((value) => !isLow(value)).length;
  const coins = [...results].slice(0, 1024).map(
      (value) => make('i', isLow(value) ? {class: 'tail', text: '↓'} : {class: 'head', text: '↑'}));
  place.replaceChildren(...coins);
  place.setAttribute('aria-label', `${answer.drawn} of ${draws.value} draws give ${answer.high}`);
  byId('line-drawn').textContent = `${count(answer.drawn)} of ${count(draws.value)} draws give ${
      digits(answer.high, 20)}, ${percent(answer.drawn, draws.value)}; the expected number is ${
      (p * draws.value).toPrecision(4)}. The same seed gives the same draws.${
      draws.value > 1024 ? ' The picture shows the first 1,024.' : ''}`;
}

function drawLine(changed) {
  if (changed === 'line-view' || changed === 'line-format' || changed === 'line-x') byId('line-centre').value = '';
  const name = byId('line-format').value.trim(), format = ask('web_format', name), x = numberOf('line-x', 'Point x');
  const problem = format.error || x.error;
  outdate('line-out', refuse('line-error', problem ? {error: problem} : null));
  if (problem) return;
  line.x = x.value;
  const view = byId('line-view').value;
  const many = chooseValues(name, format, view, line.x);
  const outside = line.x < Number(format.lowest) || line.x > Number(format.max);
  const hint = many ||
      (line.log && line.x <= 0 ? `The logarithmic view shows positive numbers; ${line.x} is not positive.` : '') ||
      (outside ? `x = ${line.x} is beyond ${format.name}, which goes from ${digits(format.lowest, 16)} to ${
                     digits(format.max, 16)}. Move x into the range to see it on the line.` :
                 '');
  refuse('line-error', hint ? {error: hint} : null);
  byId('line-picture').hidden = Boolean(many);
  const shown = ask('web_number', name, String(line.x), 'rz', 'sat', 32);
  line.ulp = shown.result && shown.result.ulp ? Number(shown.result.ulp) : 1;
  if (!many) drawPicture(name, format);
  drawCoins(name);
}
