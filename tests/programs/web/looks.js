// looks.js - how the page looks in Chromium: colours, widths, words, and what a narrow screen shows without scrolling.
'use strict';
const {verdict, says} = require('./verdicts.js');

// Looks and the keyboard: theme, width, labels.
async function look(page, url) {
  const back = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await back();
  await page.click('#theme');
  verdict((await back()) !== light, 'the switch changes the colours');
  await page.evaluate('document.getElementById(\'tab-number\').focus()');
  await page.key('ArrowRight');
  verdict(
      await page.evaluate('document.activeElement.id === \'tab-line\' && !document.getElementById(\'line\').hidden'),
      'arrow keys go through the tabs');
  const unnamed =
      await page.evaluate(`[...document.querySelectorAll('button, input:not([type=hidden]), select, textarea')]
        .filter((e) => !e.closest('label') && !e.getAttribute('aria-label') && !e.textContent.trim())
        .map((e) => e.id)`);
  verdict(unnamed.length === 0, 'every control has a name', unnamed);
  await words(page, url);
  await dotTable(page, url);
  await page.size(390, 800);
  const wide = [];
  for (const part of ['number', 'line', 'sums', 'dot', 'histogram']) {
    await page.click('#tab-' + part);
    await new Promise((go) => setTimeout(go, 60));
    if ((await page.evaluate('document.documentElement.scrollWidth')) > 390) wide.push(part);
  }
  verdict(wide.length === 0, 'every part fits a width of 390 pixels', wide);
  await selects(page);
  await dotTable(page, url);
  await narrowDot(page);
}

// Every select shows the whole text of each of its options.
async function selects(page) {
  const clipped = await page.evaluate(`[...document.querySelectorAll('select')].filter((s) => {
        document.querySelectorAll('[role=tabpanel]').forEach((p) => (p.hidden = p.id !== s.closest('section').id));
        const whole = s.cloneNode(true);
        whole.style.cssText = 'position: absolute; width: max-content';
        s.after(whole);
        const fits = s.offsetWidth >= whole.offsetWidth;
        whole.remove();
        return !fits;
      }).map((s) => s.id)`);
  verdict(clipped.length === 0, 'no text of a select is clipped at a width of 390 pixels', clipped);
}

// Of all machines, the first rows and the chosen row are in sight, and a click on a machine does not move the page.
async function dotTable(page, url) {
  await page.goto(url + '#dot?d.a=all&d.m=b200-fp16-mma');
  const seen = () => page.evaluate(`(() => {
        const box = document.getElementById('dot-table').parentElement.getBoundingClientRect();
        return [...document.querySelectorAll('#dot-table tbody tr')].filter((row) => {
          const r = row.querySelector('button').getBoundingClientRect();
          return r.top >= box.top && r.bottom <= box.bottom;
        }).map((row) => row.querySelector('button').textContent);
      })()`);
  const before = await seen(), place = await page.evaluate('scrollY');
  await page.evaluate(
      '[...document.querySelectorAll(\'#dot-table button\')].find((b) => b.textContent === \'v100-fp16\').click()');
  const after = await seen(), moved = (await page.evaluate('scrollY')) - place;
  verdict(
      ['fp32', 'exact:binary32:rne', 'b200-fp16-mma'].every((name) => before.includes(name)) &&
          ['fp32', 'exact:binary32:rne', 'v100-fp16'].every((name) => after.includes(name)) && moved === 0,
      'the table of machines shows fp32, exact and the chosen machine', [before, after, moved]);
}

// The cut and the lost bits are in sight on a narrow screen, also in a picture that is wider than the screen.
async function narrowDot(page) {
  for (const [products, scrolls] of [['1 1\n1 -1\n2^-14 2^-11', false], ['1 1\n2^-24 2^-24', true]]) {
    await page.set('dot-products', products);
    const hidden = await page.evaluate(`(() => {
          const box = document.getElementById('dot-picture').parentElement.getBoundingClientRect();
          return [...document.querySelectorAll('#dot-picture .last, #dot-picture .b1.lost')].filter((bit) => {
            const r = bit.getBoundingClientRect();
            return r.left < box.left || r.right > box.right + 0.5;
          }).length;
        })()`);
    const text = await page.text('dot-text');
    verdict(
        hidden === 0 && text.includes('scrolls sideways') === scrolls,
        `the cut and the lost bits of ${JSON.stringify(products)} are in sight at 390 pixels`, [hidden, text]);
  }
}

// Every word that stands in names of machines, in cures or in coins is explained on the page.
async function words(page, url) {
  await page.goto(url + '#dot?d.a=all');
  const missing = await page.evaluate(`(() => {
    const parts = (list) => [...new Set([...list].flatMap((e) => e.textContent.split('-').slice(2)))],
          said = (id) => [...document.querySelectorAll(id)].map((e) => e.textContent).join(' '),
          cures = [...document.querySelectorAll('#sums-cure option')].map((e) => e.textContent).slice(1);
    const names = parts(document.querySelectorAll('#dot-table button')), machines = said('#dot details');
    return [...names.filter((word) => !machines.includes(word)), names.length > 3 ? '' : 'no names',
      ...cures.filter((cure) => !said('#sums details').toLowerCase().includes(cure.toLowerCase()))].filter(Boolean);
  })()`);
  verdict(missing.length === 0, 'the page explains the parts of names of machines, and the cures', missing);
}

module.exports = {look};
