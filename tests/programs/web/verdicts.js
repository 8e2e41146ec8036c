// verdicts.js - lines of TAP about a page: verdicts, and what a page says about good and bad inputs.
'use strict';

let failed = 0;
function verdict(good, text, seen) {
  console.log(`${good ? 'ok' : 'not ok'} - ${text}`);
  if (!good && seen !== undefined) console.log('# ' + JSON.stringify(seen).slice(0, 500));
  if (!good) failed++;
}

const says = async (page, id, words, text) => {
  const seen = await page.text(id), all = [].concat(words);
  verdict(all.every((word) => seen.includes(word)), text, seen);
};
const labelled = async (page, selector, words, text) => {
  const label = `document.querySelector('${selector}').getAttribute('aria-label')`, seen = await page.evaluate(label);
  verdict(words.every((word) => seen !== null && seen.includes(word)), text, seen);
};
// A field with each of some bad inputs, or [input, the part that the sentence names]: a sentence names the value, and
// no NaN, undefined or blank result is shown.
async function refuses(page, id, error, inputs) {
  const before = await page.evaluate(`document.getElementById('${id}').value`), wrong = [];
  for (const [input, named] of inputs.map((entry) => [].concat(entry, entry).slice(0, 2))) {
    await page.set(id, input);
    await page.until(`!document.getElementById('${error}').hidden`, `a sentence about ${id} ${input}`).catch(() => {});
    const seen = await page.text(error),
          shown = await page.evaluate(`document.querySelector('[role=tabpanel]:not([hidden])').innerText`);
    if (!seen.includes(named) || seen.length < 30 || /NaN of|undefined|\[object/.test(shown)) wrong.push([input, seen]);
  }
  await page.set(id, before);
  await page.until(`document.getElementById('${error}').hidden`, `${id} is good again`);
  verdict(wrong.length === 0, `${id}: a sentence about ${inputs.length} bad inputs`, wrong);
}

module.exports = {
  verdict,
  says,
  labelled,
  refuses,
  failures : () => failed
};
