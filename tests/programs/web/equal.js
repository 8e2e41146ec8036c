// equal.js PAGE BIN NATIVE - the results of the page's module are those of the library and its programs, bit for bit.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const {execFileSync} = require('node:child_process');
const {load} = require('./module.js');

const [file, bin, native] = process.argv.slice(2);
let failed = 0;
const verdict = (good, text) => {
  console.log(`${good ? 'ok' : 'not ok'} - ${text}`);
  if (!good) failed = 1;
};
const run = (program, ...options) => execFileSync(
    path.join(bin, program), options, {encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore']});
const filter = (input, ...options) =>
    execFileSync(path.join(bin, 'ulp'), options, {input, encoding: 'utf8'}).trim().split('\n');
const number = (text) => Number(text.replace('inf', 'Infinity').replace('nan', 'NaN'));
const same = (a, b) => Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b));

// ---- random conversions, and probabilities over all words ----

function conversions(page) {
  const coins = execFileSync(native, ['cases.bin'], {encoding: 'utf8'}).trim().split('\n'),
        data = fs.readFileSync('cases.bin');
  let at = 0, total = 0, wrong = 0;
  while (at < data.length) {
    const end = data.indexOf(10, at),
          [format, mode, overflow, bits, seed, count] = data.toString('latin1', at, end).split(' ');
    const size = 8 * count;
    data.copy(page.values(+count), 0, end + 1, end + 1 + size);
    const answer = page.ask('web_round_values', format, mode, overflow, +bits, +seed, +count);
    if (answer.error || data.compare(page.values(+count), 0, size, end + 1 + size, end + 1 + 2 * size) !== 0) {
      if (wrong++ < 5) console.log(`# ${format} ${mode} ${overflow} ${bits} ${answer.error || ''}`);
    }
    total += +count;
    at = end + 1 + 2 * size;
  }
  verdict(
      wrong === 0 && total === 1000000,
      `${total} random roundings in all modes, policies and seeds are those of libulp`);
  const off = coins.filter((line) => {
    const [format, mode, bits, x, ups] = line.split(' ');
    return page.ask('web_coin_sides', format, mode, +bits, number(x)).ups !== +ups;
  });
  off.slice(0, 5).forEach((line) => console.log('# ' + line));
  verdict(
      off.length === 0 && coins.length === 400, 'the exact probabilities of 400 coins are the counts over all words');
}

// ---- sums: the rows of the experiments ----

function rowsOf(file) {
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n').filter((line) => line[0] !== '#'),
        names = lines[0].split(',');
  return lines.slice(1).map((line) => Object.fromEntries(line.split(',').map((cell, i) => [names[i], cell])));
}

function sums(page, problem, options, column) {
  const csv = problem + '.csv', numbers = [100, 0.01, 1];
  run(problem, '--restart', '--quiet', '--seed', '1', '--out', csv, ...options);
  const paths = new Map();
  for (const row of rowsOf(csv)) {
    if (row.what !== 'path') continue;
    const key = [row.format, row.mode, row.cure, row.run].join();
    if (!paths.has(key)) paths.set(key, []);
    paths.get(key).push(row);
  }
  let compared = 0, wrong = 0;
  for (const [key, rows] of paths) {
    const [format, name, cure, runNumber] = key.split(','), [mode, bits] = name.split('/');
    page.ask('web_sum_numbers', ...numbers, +runNumber, 8, +(bits || 32));
    const begin = page.ask('web_sum_begin', problem, format, mode, cure);
    let k = 0, value = begin.error ? NaN : number(begin.start);
    for (const row of rows) {
      while (k < +row[column]) {
        const n = Math.min(30000, +row[column] - k);
        page.call('web_sum_run', n);
        value = page.numbers(n)[n - 1];
        k += n;
      }
      compared++;
      const good = !begin.error && same(value, number(row.value));
      if (!good && wrong++ < 5) console.log(`# ${key} at ${k}: ${value}, want ${row.value} ${begin.error || ''}`);
    }
  }
  verdict(wrong === 0 && compared > 500, `${compared} values of ${paths.size} sums are those of ${problem}`);
}

// ---- dot products: `ulp dot` ----

function examples() {
  const source = fs.readFileSync(path.join(__dirname, '../../../web/dot.js'), 'utf8');
  return new Function('return ' + source.match(/const dotExamples = (\[[\s\S]*?\n\]);/)[1])();
}

function dots(page) {
  const lines = new Map(),
        code = (format, text) => page.ask('web_number', format, text, 'rne', 'default', 32).result.code;
  const cases = examples();
  for (let seed = 1; seed <= 6; seed++)
    cases.push(
        {inputs: seed % 2 ? 'binary16' : 'e5m2', c: '0.5', products: page.ask('web_dot_random', 40, 8, seed).products});
  let drawn = 0, untrue = 0;
  for (const example of cases) {
    const set = page.ask('web_dot_set', example.c, example.products, example.inputs);
    if (set.error) throw new Error(set.error);
    for (const m of page.ask('web_dot_machines').machines) {
      const inputs = m.inputs || 'binary64',
            codes = [0, 1].map((i) => set.products.map((p) => code(inputs, p[i])).join(' '));
      if (!lines.has(m.name)) lines.set(m.name, {inputs: m.inputs, text: [], want: []});
      lines.get(m.name).text.push(`${code(m.result, set.c)} ${codes.join(' ')}`);
      lines.get(m.name).want.push(m.code);
      const terms = page.ask('web_dot_terms', m.name);
      for (const block of terms.blocks) {
        drawn++;
        if (block.drawn && !block.agrees) untrue++;
      }
      const last = terms.late ? null : terms.blocks.length ? terms.blocks[terms.blocks.length - 1].result : null;
      if (last !== null && last !== m.value) untrue++;
    }
  }
  let compared = 0, wrong = 0;
  for (const [name, {inputs, text, want}] of lines) {
    filter(text.join('\n') + '\n', 'dot', '--datapath', name, ...(inputs ? [] : ['--in', 'binary64']))
        .forEach((line, i) => {
          compared++;
          if (line !== want[i] && wrong++ < 5) console.log(`# ${name}: ${want[i]}, ulp dot says ${line}`);
        });
  }
  verdict(wrong === 0 && compared > 400, `${compared} dot products on ${lines.size} machines are those of ulp dot`);
  verdict(untrue === 0 && drawn > 500, `the terms of ${drawn} blocks, as they are drawn, add up to the result`);
}

// ---- gradients: `ulp round` ----

function histograms(page) {
  const x = Array.from({length: 3000}, (_, i) => (i % 2 ? -1 : 1) * (1 + (i % 97) / 97) * 2 ** ((i % 61) - 40));
  let wrong = 0;
  for (const [format, scale, least] of [['binary16', 3, 2 ** -14], ['e4m3', -2, 2 ** -6], ['q8.8', 0, 2 ** -8]]) {
    page.call('web_data_clear');
    page.call('web_judge_begin');
    for (let i = 0; i < x.length; i += 500) {
      page.write(x.slice(i, i + 500).join(' '));
      page.ask('web_data_text', 0, 0);
    }
    page.call('web_judge', format, scale, 0, 1e6);
    const got = page.ask('web_judge_report'), want = {flushed: 0, subnormal: 0, kept: 0, overflowed: 0};
    filter(
        x.map((v) => v * 2 ** scale).join('\n') + '\n', 'round', '--format', format, '--overflow', 'nan', '--to',
        'value')
        .forEach((line, i) => {
          const y = Math.abs(number(line));
          const kept = Math.abs(x[i]) * 2 ** scale < least ? 'subnormal' : 'kept';
          want[Number.isNaN(y) ? 'overflowed' : y === 0 ? 'flushed' : kept]++;
        });
    for (const name of Object.keys(want)) {
      if (want[name] !== got[name] && wrong++ < 5) console.log(`# ${format} ${name}: ${got[name]}, want ${want[name]}`);
    }
  }
  verdict(wrong === 0, 'flushed, subnormal, kept and overflowed numbers are counted as ulp round rounds them');
}

// ---- typed numbers: `ulp round` reads the same texts ----

function texts(page) {
  const typed = [
    '2049.00000000000000001', '2049', '0.1', '8.8817857851880284252e-16', '1e400', '-1e-400', '0x1.8p-4',
    `1.${'0'.repeat(400)}1`, `0.${'9'.repeat(1000)}`, 'inf', 'nan', '-0'
  ];
  let wrong = 0;
  for (const format of ['binary16', 'binary32', 'binary64', 'bfloat16', 'posit16'])
    for (const mode of ['rne', 'rna', 'rz', 'ru', 'rd', 'ro']) {
      const want = filter(typed.join('\n') + '\n', 'round', '--format', format, '--mode', mode);
      typed.forEach((text, i) => {
        const {modes} = page.ask('web_number', format, text, mode, 'default', 32);
        if (modes.find((m) => m.mode === mode).code !== want[i] && wrong++ < 5)
          console.log(`# ${text} in ${format}, ${mode}: not ${want[i]}`);
      });
    }
  verdict(wrong === 0, 'typed numbers of any length are those of ulp round');
}

async function main() {
  const page = await load(file);
  conversions(page);
  sums(
      page, 'stagnation',
      [
        '--runs', '3', '--modes', 'rne,rna,rz,ru,rd,ro,sra,srb,src,sra/4,src/7', '--formats',
        'binary32,binary16,bfloat16,e4m3,q8.8'
      ],
      'step');
  sums(
      page, 'counting',
      ['--runs', '3', '--terms', '3000', '--limit', '9000', '--formats', 'binary32,binary16,bfloat16,e4m3,q8.8'], 'n');
  sums(
      page, 'harmonic',
      ['--runs', '3', '--terms', '600', '--limit', '2000', '--formats', 'binary32,binary16,bfloat16,e4m3'], 'n');
  dots(page);
  texts(page);
  histograms(page);
  process.exit(failed);
}

main().catch((problem) => {
  console.log('not ok - ' + problem.stack);
  process.exit(1);
});
