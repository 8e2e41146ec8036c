// sums.js - the part "Sums": a staircase that is drawn while the sum runs, and the ends in all modes and with all
// cures.

const sums = {
  turn: 0,
  values: [],
  exact: [],
  given: null,  // start and term of a stagnating sum
  terms: 0,
  seconds: 2
};
const usualTerms = {
  stagnation: 100,
  counting: 4096,
  harmonic: 1000
};
const cureNames = {
  plain: 'no cure',
  master: 'master copy in binary32',
  kahan: 'Kahan\'s summation',
  first: 'terms first',
  chunks: 'chunks'
};

function startSums() {
  byId('sums-go').addEventListener('click', () => showSums(true));
  byId('sums-end').addEventListener('click', () => showSums(false));
  byId('sums').querySelector('.fields').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target.tagName === 'INPUT' && !event.target.list) showSums(true);
  });
}

function showSums(slowly) {
  byId('sums-shown').value = '1';
  drawSums('', slowly);
  stateWrite();
}

// Whether the student has asked for the result. A link with fields of this part shows the result, unless it says no.
function sumsAsked() {
  const shown = byId('sums-shown');
  if (shown.value === '' && /[?&]s\./.test(location.hash)) shown.value = '1';
  return shown.value === '1';
}

// The settings of the fields, or a sentence about the first that is wrong.
function sumSettings() {
  const numbers = [
    numberOf('sums-start', 'Start', -1e30, 1e30), numberOf('sums-term', 'Term', -1e30, 1e30),
    wholeOf('sums-seed', 0, 2 ** 53, 'Seed'), wholeOf('sums-run', 1, 1000000, 'Run'),
    wholeOf('sums-chunk', 1, 1000000, 'Terms in a chunk'), wholeOf('sums-bits', 1, 32, 'Random bits')
  ];
  const terms = wholeOf('sums-terms', 1, 1000000, 'Terms');
  const wrong = [terms, ...numbers].find((n) => n.error);
  if (wrong) return wrong;
  const set = {
    terms: terms.value,
    numbers: numbers.map((n) => n.value),
    exact: ['sums-start', 'sums-term'].map((id) => exactOfText(plain(byId(id).value.trim()))),
    problem: byId('sums-problem').value,
    format: byId('sums-format').value.trim(),
    mode: byId('sums-mode').value,
    cure: byId('sums-cure').value
  };
  const answer = beginSum(set, set.mode, set.cure);
  return answer.error ? answer : Object.assign(set, {start: answer.start, term: answer.term});
}

function beginSum(set, mode, cure) {
  const answer = ask('web_sum_numbers', ...set.numbers);
  return answer.error ? answer : ask('web_sum_begin', set.problem, set.format, mode, cure);
}

function stairs(context, points, x, y) {
  context.beginPath();
  points.forEach(([k, value], i) => {
    if (i > 0) context.lineTo(x(k), y(points[i - 1][1]));
    context.lineTo(x(k), y(value));
  });
  context.stroke();
}

// Steps of an axis: 1, 2 or 5 times a power of ten.
function ticksOf(low, high, most) {
  const raw = (high - low) / most || 1, ten = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= raw) || 10 * ten;
  const ticks = [], first = Math.ceil(low / step);
  for (let i = 0; i <= most + 1 && (first + i) * step <= high + step / 1e6; i++)
    ticks.push(Number(((first + i) * step).toPrecision(12)));
  return ticks;
}

function drawStairs() {
  const canvas = byId('sums-picture'), width = widthOf(canvas.parentElement) - 24,
        height = Math.min(360, Math.max(220, width * 0.45)), scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  const c = canvas.getContext('2d'), style = getComputedStyle(document.documentElement),
        colour = (name) => style.getPropertyValue(name).trim();
  c.scale(scale, scale);
  c.clearRect(0, 0, width, height);
  // Values that differ little are drawn as differences from the first.
  const n = sums.values.length - 1, finite = sums.sampled([...sums.values, ...sums.exact].filter(Number.isFinite));
  let low = Math.min(...finite), high = Math.max(...finite);
  const first = sums.values[0], given = sums.given,
        narrow = Number.isFinite(first) && (given || high > low) && high - low < 1e-6 * Math.max(-low, high),
        value = (k) => sums.values[k] - (narrow ? first : 0),
        exactly = (k) => (narrow && given ? given[0] - first + k * given[1] : sums.exact[k] - (narrow ? first : 0));
  if (narrow) [low, high] = [Math.min(low - first, exactly(n)), Math.max(high - first, exactly(n))];
  if (!(high > low)) [low, high] = [low - (Math.abs(low) / 10 || 1), high + (Math.abs(high) / 10 || 1)];
  const pad = (high - low) * 0.08;
  const left = 62, x = (k) => left + (k / sums.terms) * (width - left - 20),
        y = (v) => height - 42 - ((v - low + pad) / (high - low + 2 * pad)) * (height - 54);
  c.font = '12px system-ui, sans-serif';
  c.fillStyle = colour('--soft');
  c.strokeStyle = colour('--grid');
  c.textAlign = 'right';
  for (const tick of ticksOf(low - pad, high + pad, 5)) {
    c.fillText((narrow && tick > 0 ? '+' : '') + brief(tick), left - 6, y(tick) + 4);
    c.beginPath();
    c.moveTo(left, y(tick));
    c.lineTo(width - 12, y(tick));
    c.stroke();
  }
  c.textAlign = 'left';
  if (narrow) c.fillText(`difference from ${digits(String(first), 24)}`, left, 10);
  c.textAlign = 'center';
  for (const tick of ticksOf(0, sums.terms, width < 450 ? 3 : 6)) c.fillText(String(tick), x(tick), height - 24);
  c.fillText('number of terms', left + (width - left - 20) / 2, height - 6);
  const stride = Math.max(1, Math.floor(n / (2 * width))), points = [], exact = [];
  for (let k = 0; k <= n; k += stride) {
    if (Number.isFinite(sums.values[k])) points.push([k, value(k)]);
    exact.push([k, exactly(k)]);
  }
  if (n % stride !== 0 && Number.isFinite(sums.values[n])) points.push([n, value(n)]);
  c.lineWidth = 1.5;
  c.setLineDash([5, 4]);
  c.strokeStyle = colour('--exact');
  c.beginPath();
  exact.forEach(([k, v]) => c.lineTo(x(k), y(v)));
  c.stroke();
  c.setLineDash([]);
  c.lineWidth = 2.5;
  c.strokeStyle = colour('--sum');
  stairs(c, points, x, y);
  const end = points[points.length - 1];
  if (end) {
    c.fillStyle = colour('--sum');
    c.beginPath();
    c.arc(x(end[0]), y(end[1]), 4, 0, 7);
    c.fill();
  }
}

// At most some thousand of many numbers, for the ends of an axis.
sums.sampled = (list) =>
    (list.length < 5000 ? list :
                          list.filter((_, i) => i % Math.ceil(list.length / 4000) === 0).concat(list[list.length - 1]));

// 1 + 1/2 + ... + 1/n in units of 2^-128; each term is cut, so that the error is less than n units.
const harmonicSum = {
  terms: 0,
  units: 0n
};
function harmonicOf(n) {
  if (n < harmonicSum.terms) Object.assign(harmonicSum, {terms: 0, units: 0n});
  while (harmonicSum.terms < n) harmonicSum.units += (1n << 128n) / BigInt(++harmonicSum.terms);
  return quotient(harmonicSum.units, 1n, -128);
}

// The sum of the typed numbers without rounding; of the harmonic series, to about 30 digits.
function exactSum(set) {
  if (set.problem === 'harmonic') return harmonicOf(set.terms);
  const n = {n: BigInt(set.terms), d: 1n};
  return set.problem === 'counting' ? n : addExact(set.exact[0], mulExact(set.exact[1], n));
}

function reportSums(set) {
  const r = ask('web_sum_report'), exact = decimalOfExact(exactSum(set));
  byId('sums-value')
      .replaceChildren(
          `After ${count(r.terms)} term${r.terms === 1 ? '' : 's'} the sum is ${digits(r.value, 30)}; `,
          ...(set.problem === 'harmonic' ? [`the exact sum is about ${digits(exact.slice(0, 24))}.`] :
                                           ['exactly it is ', longNumber(exact), '.']));
  const random = modeOf(set.mode).stochastic;
  const still = r.last === r.terms ? 'The last term still changed the sum.' :
      r.last === 0                 ? 'No term changed the sum.' :
                                     `Term ${count(r.last)} was the last that changed the sum.`;
  const first = set.problem === 'stagnation' ?
      `In ${set.format} the start is ${digits(set.start, 24)} and the term is ${digits(set.term, 24)}. ` :
      '';
  const spacing = r.spacing === 'nan' ? '' : ` The spacing of the numbers at the sum is ${digits(r.spacing, 20)}.`;
  byId('sums-text').textContent = `${first}${still}${spacing}${
      random ? ' The random words are those of the experiment with this seed and run.' : ''}`;
  byId('sums-picture')
      .setAttribute(
          'aria-label',
          `Staircase: the sum in ${set.format}, mode ${set.mode}, ${cureNames[set.cure]}, after each of ${
              count(r.terms)} terms. It goes from ${digits(set.start, 24)} to ${digits(r.value, 30)}; the exact sum ${
              set.problem === 'harmonic' ? 'is about' : 'is'} ${digits(exact, 24)}. ${still}`);
  say(byId('sums-value').textContent + ' ' + still);
}

// Adds all terms. Drawn while it runs, the sum takes about two seconds; otherwise it is as fast as it can be.
async function addTerms(set, turn, slowly) {
  const began = performance.now();
  while (sums.values.length - 1 < set.terms) {
    const done = sums.values.length - 1, part = slowly ? (performance.now() - began) / (1000 * sums.seconds) : 1;
    const want = Math.min(set.terms - done, Math.max(slowly ? 1 : 20000, Math.floor(part * set.terms) - done), 20000);
    const n = call('web_sum_run', want), exact = answered(n, 32768);
    answered(n).forEach((value, i) => {
      sums.values.push(value);
      sums.exact.push(exact[i]);
    });
    if (slowly || sums.values.length - 1 >= set.terms) drawStairs();
    await (slowly ? new Promise((go) => requestAnimationFrame(go)) : frame());
    if (turn !== sums.turn) return false;
  }
  return true;
}

function errorOf(report, exact) {
  const value = exactOfText(report.value);
  return value ? signed(numberOfExact(lessExact(value, exact)), 6) : '';
}

async function compareSums(set, turn) {
  const cures = ask('web_cures').cures.split(' ').filter((c) => c !== 'plain');
  const rows = [], exact = exactSum(set);
  const jobs = [...lists.modes.map((m) => [m.name, 'plain']), ...cures.map((c) => ['rne', c])];
  for (const [mode, cure] of jobs) {
    if (beginSum(set, mode, cure).error) continue;
    for (let left = set.terms; left > 0; left -= 20000) {
      call('web_sum_run', Math.min(left, 20000));
      if (left <= 20000) break;
      await frame();
      if (turn !== sums.turn) return;  // the module has one sum: a new run ends this comparison
    }
    const r = ask('web_sum_report'), chosen = mode === set.mode && cure === set.cure;
    rows.push(make(
        'tr', chosen ? {class: 'chosen'} : {}, head(mode), cell(cureNames[cure]), cell(digits(r.value, 26)),
        cell(r.code, 'code'), cell(errorOf(r, exact), 'right'), cell(count(r.last), 'right')));
  }
  fill(byId('sums-table'), ['mode', 'cure', 'sum', 'code', '>error', '>last term that changed it'], rows);
  byId('sums-table').classList.remove('stale');
  byId('sums-wait').hidden = true;
  byId('sums-out').dataset.done = turn;
}

// The mean and the standard deviation of many runs of a stochastic sum, which is short enough.
async function spreadSums(set, turn) {
  const runs = 200, ends = [], random = modeOf(set.mode).stochastic;
  byId('sums-spread').textContent = '';
  if (!random || set.cure !== 'plain' || set.terms > 5000) return;
  for (let run = 1; run <= runs; run++) {
    const numbers = [...set.numbers];
    numbers[3] = run;
    beginSum({...set, numbers}, set.mode, 'plain');
    call('web_sum_run', set.terms);
    ends.push(numberOfText(ask('web_sum_report').value));
    if ((run * set.terms) % 20000 < set.terms) await frame();
    if (turn !== sums.turn) return;
  }
  const mean = ends.reduce((a, b) => a + b) / runs,
        sd = Math.sqrt(ends.reduce((a, b) => a + (b - mean) ** 2, 0) / (runs - 1));
  byId('sums-spread').textContent = Number.isFinite(mean) ?
      `Over the runs 1 to ${runs} of this seed, the mean of the sum is ${
          mean.toPrecision(7)}, and the standard deviation is ${sd.toPrecision(4)}.` :
      `Some of the runs 1 to ${runs} of this seed overflow.`;
}

async function runSums(set, turn, slowly) {
  sums.terms = set.terms;
  sums.values = [numberOfText(set.start)];
  sums.exact = [set.problem === 'stagnation' ? set.numbers[0] : 0];
  sums.given = set.problem === 'stagnation' ? set.numbers : null;
  byId('sums-table').classList.add('stale');
  byId('sums-wait').hidden = false;
  byId('sums-value').textContent = '…';
  byId('sums-text').textContent = byId('sums-spread').textContent = '';
  byId('sums-picture').setAttribute('aria-label', 'The sum is running');
  if (!(await addTerms(set, turn, slowly && !matchMedia('(prefers-reduced-motion: reduce)').matches))) return;
  reportSums(set);
  await spreadSums(set, turn);
  if (turn === sums.turn) await compareSums(set, turn);
}

// Shows the result if the student has asked for it. A changed field hides the result, until the student asks again.
function drawSums(changed, slowly = false) {
  const problem = byId('sums-problem').value, random = modeOf(byId('sums-mode').value).stochastic;
  if (changed === 'sums-problem') byId('sums-terms').value = usualTerms[problem];
  const needed = {
    stagnation: problem === 'stagnation',
    chunks: byId('sums-cure').value === 'chunks',
    stochastic: random
  };
  for (const label of document.querySelectorAll('#sums [data-for]')) label.hidden = !needed[label.dataset.for];
  if (changed) {
    byId('sums-shown').value = '0';
    byId('sums-table').replaceChildren();
  }
  const turn = ++sums.turn, set = sumSettings(), wrong = refuse('sums-error', set), shown = !wrong && sumsAsked();
  delete byId('sums-out').dataset.done;
  byId('sums-out').hidden = !shown;
  byId('sums-predict').hidden = shown || wrong;
  if (shown) runSums(set, turn, slowly);
}
