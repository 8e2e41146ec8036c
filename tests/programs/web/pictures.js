// pictures.js PAGE FOLDER - pictures of every part of the page, at 1280 and 390 pixels, in light and dark colours.
'use strict';
const path = require('node:path');
const {start, open} = require('./chromium.js');

const states = {
  number: '#number',
  'number-sub': '#number?n.x=1e-6&n.m=sra&n.r=8',
  line: '#line',
  'line-all': '#line?l.v=all&l.x=5.5',
  'line-log': '#line?l.f=e4m3&l.v=log&l.x=3',
  sums: '#sums',
  'sums-run': '#sums?s.v=1',
  'sums-sr': '#sums?s.p=harmonic&s.m=sra&s.n=1000',
  dot: '#dot',
  'dot-fp8': '#dot?d.i=e4m3&d.c=64&d.m=h100-e4m3&d.p=' + encodeURIComponent(Array(8).fill('2^-4 2^-4').join('\n')),
  histogram: '#histogram',
  'histogram-fp8': '#histogram?h.f=e4m3&h.k=12',
};

async function main([file, folder, only]) {
  const browser = start(process.env.CHROMIUM || 'chromium');
  const page = await open(browser, null, 1280, 900);
  for (const [name, hash] of Object.entries(states)) {
    if (only && !name.startsWith(only)) continue;
    for (const [width, theme] of [[1280, 'light'], [1280, 'dark'], [390, 'light'], [390, 'dark']]) {
      await page.size(width, 900);
      await page.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: theme}]});
      await page.goto('file://' + path.resolve(file) + hash);
      await new Promise((go) => setTimeout(go, 400));
      await page.picture(path.join(folder, `${name}-${width}-${theme}.png`));
      const overflow = await page.evaluate('document.documentElement.scrollWidth - ' + width);
      if (overflow > 0) console.log(`${name} at ${width}: ${overflow} pixels too wide`);
    }
  }
  if (page.problems.length) console.log([...new Set(page.problems)].join('\n'));
  await browser.stop();
}

main(process.argv.slice(2)).catch((problem) => {
  console.error(problem);
  process.exit(1);
});
