// click.js PAGE - clicks through every part of the page in headless Chromium.
'use strict';
const path = require('node:path');
const {start, open} = require('./chromium.js');
const {verdict, says, labelled, refuses, failures} = require('./verdicts.js');
const {look} = require('./looks.js');

async function main([file]) {
  const browser = start(process.env.CHROMIUM || 'chromium'),
        timer = setTimeout(() => browser.child.kill('SIGKILL'), 400000);
  try {
    const page = await open(browser, null, 1280, 900), url = 'file://' + path.resolve(file);
    await page.send('Emulation.setEmulatedMedia', {
      features: [{name: 'prefers-color-scheme', value: 'light'}, {name: 'prefers-reduced-motion', value: 'reduce'}]
    });
    await page.goto(url);
    for (const part of [number, line, sums, dot, histogram]) await part(page);
    await links(page, url);
    await look(page, url);
    verdict(
        page.requests.every(
            (address) => address.startsWith('file://' + path.resolve(file)) || address === 'about:blank' ||
                address.startsWith('data:')),
        'no request leaves the page', page.requests);
    verdict(page.problems.length === 0, 'no script fails', page.problems);
  } catch (problem) {
    verdict(false, problem.stack);
  }
  clearTimeout(timer);
  await browser.stop();
  process.exit(failures() ? 1 : 0);
}

async function number(page) {
  await says(page, 'number-value', 'binary16 holds 0.0999755859375', 'the number 0.1 in binary16');
  await page.click('#number-bits-row button:last-child');
  await says(page, 'number-value', '0.10003662109375', 'a click on the last bit gives the neighbour');
  await page.click('#number-below');
  await says(page, 'number-value', '0.0999755859375', 'the button goes to the number below');
  await page.set('number-x', '1e-6');
  await says(page, 'number-meaning', ['0.0000010001', 'subnormal'], 'a subnormal number says that it is one');
  await page.set('number-format', 'e4m3');
  await page.set('number-x', '500');
  await says(page, 'number-policies', ['448', 'NaN'], 'the overflow policies differ beyond the range');
  await says(page, 'number-sides-table', ['bfloat16', 'q8.8'], 'formats stand side by side');
  await page.set('number-hex', '7f');
  await says(page, 'number-meaning', 'not a number', 'the code 7f of e4m3 is NaN');
  await page.set('number-format', 'q4.12');
  await page.set('number-x', '-1.5');
  await says(page, 'number-meaning', '−6144', 'fixed point is an integer in units of the last place');
  await page.set('number-format', 'binary16');
  await page.set('number-x', '0.1');
  const rows = await page.evaluate('document.querySelectorAll(\'#number-modes tbody tr\').length');
  verdict(rows === 12, 'every mode has a row', rows);
  const error = 'number-modes', note = 'number-note';
  for (const [format, x, id, words] of [
           ['e4m3', '3648', error, '−100 ulp'], ['q4.12', '8.024169921875', error, '−100 ulp'],
           ['q4.12', '8.060791015625', error, '−250 ulp'], ['binary16', '65519.99', error, '−0.499687 ulp'],
           ['binary16', '65519.99', 'number-policy-note', 'In mode rne all policies give one result'],
           ['binary16', '70000', 'number-policy-note', 'The policy decides'],
           ['binary16', '1.000488281250000000000000000001', note, 'is rounded once, as it is written'],
           ['binary16', '65519.99999999999999999', note, 'is rounded once, as it is written'],
           ['binary16', '0.1', note, 'is rounded once, as it is written']]) {
    await page.set('number-format', format);
    await page.set('number-x', x);
    await says(page, id, words, `${x} in ${format}: ${words}`);
  }
  for (const x of ['+5', '2^-24', '0x1.8p3', '3*2^-7', '−2⁻²⁴', '1.5e1', 'inf']) {
    await page.set('number-x', x);
    const seen = (await page.text(note)) + (await page.text('number-error'));
    verdict(seen === '', `${x} is a binary64 number`, seen);
  }
  await page.set('number-x', '0.1');
  await refuses(page, 'number-x', 'number-error', ['abc', '0,1', '1/3', '1 2', '2^', '0x', '12abc']);
  await refuses(page, 'number-format', 'number-error', ['e12m3', 'q40.40', 'fp17', 'e4m3:wrap']);
  await refuses(page, 'number-bits', 'number-error', ['0', '33', '1.5', 'x']);
  await refuses(page, 'number-hex', 'number-error', ['xyz', '12345']);
  await refuses(page, 'number-sides', 'number-sides-error', [['fp16 nonsense', 'nonsense']]);
}

async function line(page) {
  await page.click('#tab-line');
  await says(page, 'line-caption', 'from 2 to 2.5', 'the line names the gap of x');
  await labelled(
      page, '#line-picture svg', ['17 numbers of e3m2 from 0.5 to 8', 'x = 2.2'],
      'the label of the line has its numbers');
  await says(page, 'line-probability', '51 / 128', 'the probability of a coin is exact');
  const coins = await page.text('line-coins');
  await page.set('line-seed', '2');
  const other = await page.text('line-coins');
  await page.set('line-seed', '1');
  verdict(
      coins.length === 64 && other !== coins && (await page.text('line-coins')) === coins,
      'the seed repeats the draws');
  await page.evaluate('document.querySelector(\'#line-picture [role=slider]\').focus()');
  await page.key('ArrowRight');
  const moved = await page.evaluate('document.getElementById(\'line-x\').value');
  verdict(Number(moved) === 2.2 + 0.5 / 16, 'an arrow key moves the point by a sixteenth of the spacing', moved);
  const at = await page.evaluate(`(() => {
        const r = document.querySelector('#line-picture .point').getBoundingClientRect();
        return [r.x + r.width / 2, r.y + r.height / 2];
      })()`);
  for (const [type, x] of [['mousePressed', at[0]], ['mouseMoved', at[0] + 200], ['mouseReleased', at[0] + 200]])
    await page.send(
        'Input.dispatchMouseEvent',
        {type, x, y: at[1], button: 'left', buttons: type === 'mouseReleased' ? 0 : 1, clickCount: 1});
  const dragged = Number(await page.evaluate('document.getElementById(\'line-x\').value'));
  verdict(dragged > 3 && dragged < 4.5, 'the mouse drags the point', dragged);
  await page.set('line-view', 'all');
  await says(page, 'line-caption', '63 numbers', 'all 63 numbers of e3m2 are drawn');
  await page.set('line-view', 'log');
  await says(page, 'line-caption', '31 numbers', 'the positive numbers are drawn on a logarithmic line');
  await page.set('line-view', '16');
  await formats(page);
  await refuses(page, 'line-x', 'line-error', ['inf', 'zwei', '1000']);
  await refuses(page, 'line-draws', 'line-coins-error', ['0', '99999', '-1']);
  await refuses(page, 'line-bits', 'line-coins-error', ['33', '-1', '0']);
  await page.set('line-x', '30');
  await says(page, 'line-caption', 'x is beyond e3m2', 'a number beyond the format is not one of its numbers');
  await page.set('line-x', '2.4999');
  await page.set('line-draws', '1');
  await says(page, 'line-drawn', '1 of 1 draws give 2.5, 100 %', 'a share of all is 100 %');
  await page.set('line-draws', '64');
  await page.set('line-x', '2.2');
  await refuses(page, 'line-seed', 'line-coins-error', ['-3', '1e3']);
}

// Every format, in all views: no blank, no sentence that is wrong, no picture with a number that is none.
async function formats(page) {
  const wrong = await page.evaluate(`(() => {
    const wrong = [], field = (id) => document.getElementById(id);
    const set = (id, value) => {
      field(id).value = value;
      field(id).dispatchEvent(new Event('input', { bubbles: true }));
    };
    const names = [...document.querySelectorAll('#formats option')].map((o) => o.value);
    names.push('e1m1', 'e2m0', 'e11m52', 'q1.0', 'q32.0', 'e3m2:nosub', 'q4.4:wrap', 'binary3p1se');
    for (const name of names) {
      set('line-format', name);
      for (const view of ['8', 'all', 'log']) {
        set('line-view', view);
        for (const x of ['1', '-3']) {
          set('line-x', x);
          const text = field('line').innerText + field('line-picture').innerHTML;
          if (/undefined|object|="NaN"|="-?Infinity"/.test(text)) wrong.push([name, view, x]);
        }
      }
    }
    set('line-format', 'e3m2');
    set('line-x', '2.2');
    set('line-view', '16');
    return wrong;
  })()`);
  verdict(wrong.length === 0, 'every format has a number line', wrong);
}

async function sums(page) {
  const hidden = 'document.getElementById(\'sums-out\').hidden';
  const run = async () => {
    await page.click('#sums-end');
    await page.until(
        `document.getElementById('sums-out').dataset.done &&
          /After/.test(document.getElementById('sums-value').textContent) &&
          document.querySelectorAll('#sums-table tbody tr').length > 5`,
        'the end of the sum');
  };
  await page.click('#tab-sums');
  verdict(
      (await page.evaluate(hidden)) && (await page.text('sums')).match(/101/) === null,
      'no result is on the page before the student asks for one');
  await run();
  await says(page, 'sums-value', 'After 100 terms the sum is 100; exactly it is 101', '100 + 0.01 stays in binary16');
  await page.set('sums-cure', 'kahan');
  verdict(
      (await page.evaluate(hidden)) && (await page.text('sums-table')) === '' &&
          !(await page.evaluate('document.getElementById(\'sums-predict\').hidden')),
      'a changed field hides the result and the rows of the numbers before');
  await run();
  await says(page, 'sums-value', 'the sum is 101;', 'Kahan\'s summation reaches 101');
  await page.set('sums-cure', 'plain');
  await page.set('sums-problem', 'counting');
  await run();
  await says(page, 'sums-value', 'the sum is 2048', 'the count stops at 2048');
  await says(page, 'sums-text', 'Term 2 048 was the last', 'the page names the last term that changed the sum');
  await page.set('sums-terms', '4000');
  await page.evaluate('document.getElementById(\'sums-terms\').focus()');
  await page.key('Enter');
  await page.until(
      '/4 000 terms the sum is 2048/.test(document.getElementById(\'sums-value\').textContent)', 'Enter runs the sum');
  await page.set('sums-problem', 'harmonic');
  await run();
  await says(page, 'sums-value', 'the sum is 7.0859375', 'the harmonic series');
  await says(page, 'sums-table', ['master copy', 'sra', '7.484375'], 'the table has all modes and cures');
  const paled = await page.evaluate(`(() => {
        document.getElementById('sums-go').click();
        const table = document.getElementById('sums-table');
        return table.classList.contains('stale') && !document.getElementById('sums-wait').hidden &&
          !document.getElementById('sums-out').dataset.done;
      })()`);
  verdict(paled, 'the rows of the run before are pale until the new rows are there');
  await run();
  verdict(
      await page.evaluate(
          `!document.querySelector('#sums-table.stale') && document.getElementById('sums-wait').hidden`),
      'the new rows are not pale');
  await labelled(
      page, '#sums-picture',
      ['binary16', 'mode rne', '1 000 terms', 'from 0 to 7.0859375', 'about 7.4854', 'Term 512 was the last'],
      'the label of the picture of a sum says what is drawn');
  await page.set('sums-problem', 'stagnation');
  await page.set('sums-mode', 'sra');
  const mean = async (text) => {
    await page.click('#sums-end');
    await page.until(`document.getElementById('sums-spread').textContent.includes('${text}')`, text);
  };
  // stagnation --formats binary16 --modes sra,sra/2 --runs 200
  await mean('the mean of the sum is 101.0028, and the standard deviation is 0.2173');
  await page.set('sums-bits', '2');
  await mean('the mean of the sum is 100.0000, and the standard deviation is 0.000');
  await page.set('sums-bits', '32');
  await page.set('sums-mode', 'rne');
  await exactSums(page);
  await refuses(page, 'sums-terms', 'sums-error', ['0', '2000000', 'many']);
  await page.set('sums-problem', 'stagnation');
  await refuses(
      page, 'sums-term', 'sums-error', [['0,01', 'a point'], ['nan', 'from -1e+30 to 1e+30'], ['x', 'from -1e+30']]);
  await refuses(page, 'sums-format', 'sums-error', ['half?']);
}

// Sums of which the exact value has more than 53 bits: no freeze, all digits, the error of the exact value.
async function exactSums(page) {
  const fields = ['sums-format', 'sums-start', 'sums-term', 'sums-terms'],
        before = await page.evaluate(`${JSON.stringify(fields)}.map((id) => document.getElementById(id).value)`);
  for (const [format, start, term, terms, exact, error] of [
           ['binary64', '9007199254740992', '1', '1', 'exactly it is 9007199254740993.', '−1'],
           ['binary64', '1', '2^-53', '1', '1.000000000000000111022302462515654', '−1.11022e−16'],
           ['binary64', '1', '2^-52', '2', '1.000000000000000444089209850062616169452667236328125.', '0'],
           ['binary64', '1', '2^-40', '1', '1.0000000000009094947017729282379150390625.', '0'],
           ['binary64', '1e16', '1', '100', '10000000000000100.', '−100'],
           ['binary16', '1', '3*2^-20', '1', '1.00000286102294921875.', '−0.00000286102']]) {
    const wanted = [format, start, term, terms];
    for (const [i, id] of fields.entries())
      await page.evaluate(`document.getElementById('${id}').value = '${wanted[i]}'`);
    await page.set('sums-terms', terms);
    await page.click('#sums-end');
    await page
        .until(
            `document.getElementById('sums-value').textContent.includes('${exact}') && document.getElementById(
                'sums-out').dataset.done && document.querySelector('#sums-table tbody td:nth-child(5)').textContent ===
                '${error}'`,
            `${start} + ${terms} * ${term}`)
        .then(() => verdict(true, `${start} + ${terms} * ${term} in ${format} has an exact sum and error`))
        .catch(async () => verdict(false, `${start} + ${terms} * ${term} in ${format}`, [
                 await page.text('sums-value'), await page.text('sums-table')
               ]));
  }
  await says(page, 'sums-value', 'After 1 term the', 'one term is not 1 terms');
  for (const [i, id] of fields.entries()) await page.set(id, before[i]);
}

async function dot(page) {
  await page.click('#tab-dot');
  await says(page, 'dot-table', ['a100-fp16', 'h100-fp16', '33800000'], 'the machines give different results');
  await says(
      page, 'dot-text', ['The cut lies 24 bits below', '2 of them are lost whole'],
      'the terms that are cut are counted');
  const lost = await page.evaluate('document.querySelectorAll(\'#dot-picture .b1.lost\').length');
  verdict(lost === 2, 'the bits below the cut are marked', lost);
  await labelled(
      page, '#dot-picture[role=img]',
      ['4 terms of a100-fp16', 'bit of 2 to the power -24', '2 of 4 terms lose bits', 'The rounded result is 0.'],
      'the label of the rows of bits says what is drawn');
  const choose = (name) => page.evaluate(
      `[...document.querySelectorAll('#dot-table button')].find((b) => b.textContent === '${name}').click()`);
  await choose('fp32');
  verdict(
      await page.evaluate(`document.querySelector('#dot-picture:not([role], [aria-label]) table') !== null &&
        document.getElementById('dot-legend').hidden`),
      'a table in the place of the picture is no picture, and has no legend');
  await choose('h100-fp16');
  await says(page, 'dot-text', 'No term loses a bit', 'a click on another machine shows its terms');
  await page.set('dot-products', '2^-24 2^-24\n1024 1024');
  await says(page, 'dot-table', '−3.55e−15', 'the error of a dot product is that of the exact sum');
  await says(page, 'dot-exact', '1048576.000000000000003552713678800500929355621337890625', 'the exact dot product');
  await page.set('dot-example', '1');
  await says(page, 'dot-text', 'The rounded result is 64.', 'h100-e4m3 adds 32 small terms to 64 and stays at 64');
  await page.set('dot-example', '5');
  await says(page, 'dot-blocks', 'Block 1 of 2', 'a longer sum has blocks');
  await page.click('#dot-blocks button:last-child');
  await says(page, 'dot-blocks', 'Block 2 of 2', 'the next block is a click away');
  await page.click('#dot-generate');
  await says(page, 'dot-exact', '8 products', 'random products are generated');
  await page.set('dot-products', '1 1\n1 -1');
  await refuses(page, 'dot-products', 'dot-error', [
    ['1 x', '"x"'], ['1e9 1', '1e9'], ['1e400 1', '1e400 is beyond binary16'], ['1 1\n5', 'Line 2 has 1 number'],
    ['1 1\n1,2', '"1,2" in line 2'], ['1 1\n'.repeat(300), 'There are 300 products']
  ]);
  await refuses(page, 'dot-c', 'dot-error', ['start', ['1,5', 'a point, not a comma'], '1e400']);
  await page.set('dot-products', '−1.5\u00a02⁻¹⁴');
  await says(page, 'dot-exact', 'the exact sum is −0.000091552734375', 'the page reads the signs that it writes');
  await page.set('dot-count', '-1');
  await page.click('#dot-generate');
  await says(
      page, 'dot-error', 'Random products: "-1" is not possible. Allowed are whole numbers from 1 to 256.',
      'a number of products that is not possible is refused');
  await page.set('dot-count', '8');
}

async function histogram(page) {
  const shows = (words) => page.until(
      `${JSON.stringify(words)}.every((w) => document.getElementById('histogram-table').textContent.includes(w))`,
      words.join());
  await page.click('#tab-histogram');
  await shows(['1 152 465', '45 %']);
  await labelled(
      page, '#histogram-picture svg', ['power 0', 'binary16', '2 559 589 numbers', '45 % flushed to zero'],
      'the label of the histogram says what is drawn');
  await page.set('histogram-scale', '12');
  const old = '1 152 465', table = 'document.getElementById("histogram-table")';
  await page.until(`!${table}.textContent.includes('${old}')`, 'the counts of the new scale');
  const flushed =
      await page.evaluate('document.querySelector(\'#histogram-table td\').textContent.replace(/\\D/g, \'\')');
  verdict(Number(flushed) < 200000, 'a loss scale of 2^12 flushes fewer gradients', flushed);
  await page.set('histogram-source', 'lognormal');
  await page.until(
      '/Every number is rounded on its own/.test(document.getElementById(\'histogram-note\').textContent)',
      'generated numbers');
  await page.set('histogram-source', 'pasted');
  await says(page, 'histogram-error', 'There is no number yet', 'an empty field says what to paste');
  const beats = await page.evaluate(`(async () => {
    const numbers = Array.from({ length: 90000 }, (_, i) => (Math.sin(i) * 1e-5).toPrecision(8));
    const data = new DataTransfer();
    data.setData('text', numbers.join('\\n'));
    if (data.getData('text').length < 1e6) throw new Error('less than a megabyte');
    let beats = 0, on = true;
    const beat = () => {
      beats++;
      if (on) setTimeout(beat, 0);
    };
    beat();
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
    document.getElementById('histogram-text').dispatchEvent(event);
    const end = performance.now() + 60000;
    while (performance.now() < end) {
      const cells = [...document.querySelectorAll('#histogram-table tbody tr td:nth-child(2)')];
      const counts = cells.map((c) => Number(c.textContent.replace(/\\D/g, '')));
      if (counts.reduce((a, b) => a + b, 0) === 90000) break;
      await new Promise((go) => setTimeout(go, 20));
    }
    on = false;
    return performance.now() < end ? beats : 0;
  })()`);
  verdict(beats > 30, 'a pasted megabyte is counted in slices, between which the page does other things', beats);
  await page.set('histogram-text', '2^-25');
  await shows(['100 %']);
  await page.set('histogram-text', '1 2 3');
  await refuses(
      page, 'histogram-text', 'histogram-error',
      [['1 2 drei', '"drei"'], ['0.1 0.2\n1/3', '"1/3" in line 2'], ['0,1 0,2', '"0,1"']]);
  await refuses(page, 'histogram-format', 'histogram-error', ['e99m1']);
}

async function links(page, url) {
  await page.goto(`${url}#dot?d.i=e4m3&d.c=64&d.m=h100-e4m3&d.p=${encodeURIComponent('2^-4 2^-4\n2^-4 2^-4')}`);
  await says(page, 'dot-text', 'The rounded result is 64.', 'a link opens a part with its state');
  await page.click('#tab-line');
  await page.set('line-format', 'e4m3');
  await page.set('line-x', '17.3');
  await page.click('#tab-number');
  await page.set('number-hex', '3c01');
  await page.click('#tab-sums');
  await page.set('sums-mode', 'sra');
  await page.click('#copy');
  const state = () => page.evaluate(
      'JSON.stringify([...document.querySelectorAll(\'[data-key]\')].map((f) => [f.dataset.key, f.value]))');
  const before = await state(), hash = await page.evaluate('location.hash');
  await page.goto(url + hash);
  verdict(
      (await state()) === before && hash.startsWith('#sums?'), 'the link restores every field of every part',
      [hash, before, await state()]);
  await page.goto(url + '#number?n.c=3c00&h.k=abc&l.c=abc&d.m=xyz&s.v=2');
  await says(
      page, 'notice', ['h.k=abc', 'l.c=abc', 'd.m=xyz', 's.v=2'], 'a link with values that are not possible says so');
  const one = await page.evaluate('document.getElementById(\'number-x\').value');
  verdict(one === '1', 'a link with a code shows the number of the code', one);
  for (const [link, shown] of [['#sums', false], ['#sums?s.p=harmonic', true], ['#sums?s.p=harmonic&s.v=0', false]]) {
    await page.goto(url + link);
    const seen = await page.evaluate('!document.getElementById(\'sums-out\').hidden');
    verdict(seen === shown, `the link ${link} ${shown ? 'shows' : 'hides'} the result`);
  }
  for (const part of ['number', 'sums']) {
    await page.goto(`${url}#${part}`);
    verdict((await page.evaluate('scrollY')) === 0, `a link to the part ${part} shows the header`);
  }
  await page.goto(url + '#nowhere?n.m=best&zz=1');
  await says(page, 'notice', ['nowhere', 'n.m=best', 'zz'], 'a link with unknown names says so');
}

main(process.argv.slice(2));
