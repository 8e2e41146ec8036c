// chromium.js - drives headless Chromium over a pipe: pages, clicks, requests, pictures.
'use strict';
const {spawn} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

// Starts Chromium. The browser speaks the DevTools protocol over file descriptors 3 and 4, with a zero byte between
// messages.
function start(program) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'ulplab-chromium-'));
  const options = [
    '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
    '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--disable-extensions', '--hide-scrollbars', '--force-color-profile=srgb', '--user-data-dir=' + profile,
    'about:blank'
  ];
  const child = spawn(program, options, {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
  const waiting = new Map(), listeners = [];
  let last = 0, rest = Buffer.alloc(0);
  child.stdio[4].on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const message = JSON.parse(rest.subarray(0, end).toString());
      rest = rest.subarray(end + 1);
      const call = waiting.get(message.id);
      waiting.delete(message.id);
      if (call)
        message.error ? call.fail(new Error(JSON.stringify(message.error))) : call.done(message.result);
      else if (message.method)
        for (const listener of listeners) listener(message);
    }
  });
  const send = (method, params = {}, sessionId) => new Promise((done, fail) => {
    waiting.set(++last, {done, fail});
    child.stdio[3].write(JSON.stringify({id: last, method, params, sessionId}) + '\0');
  });
  const stop = async () => {
    const ended = new Promise((done) => child.once('exit', done));
    await send('Browser.close').catch(() => {});
    const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
    await ended;
    clearTimeout(timer);
    fs.rmSync(profile, {recursive: true, force: true, maxRetries: 5});
  };
  return {send, stop, on: (listener) => listeners.push(listener), child};
}

// Opens a page. `requests` collects the addresses that it asks for, `problems` its exceptions and console errors.
async function open(browser, url, width, height) {
  const {targetId} = await browser.send('Target.createTarget', {url: 'about:blank'});
  const {sessionId} = await browser.send('Target.attachToTarget', {targetId, flatten: true});
  const send = (method, params) => browser.send(method, params, sessionId);
  const page = {send, requests: [], problems: []};
  browser.on((message) => {
    if (message.sessionId !== sessionId) return;
    if (message.method === 'Network.requestWillBeSent') page.requests.push(message.params.request.url);
    if (message.method === 'Runtime.exceptionThrown')
      page.problems.push(
          message.params.exceptionDetails.exception?.description || message.params.exceptionDetails.text);
    if (message.method === 'Log.entryAdded' && message.params.entry.level === 'error')
      page.problems.push(message.params.entry.text);
  });
  page.evaluate = async (expression) => {
    const {result, exceptionDetails} =
        await send('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  };
  page.until = async (expression, what = expression) => {
    for (const end = Date.now() + 40000; Date.now() < end;) {
      if (await page.evaluate(expression)) return;
      await new Promise((go) => setTimeout(go, 20));
    }
    throw new Error('the page never came to: ' + what);
  };
  page.size = (w, h) =>
      send('Emulation.setDeviceMetricsOverride', {width: w, height: h, deviceScaleFactor: 1, mobile: w < 600});
  page.goto = async (address) => {
    await send('Page.navigate', {url: 'about:blank'});
    await page.until('location.href === \'about:blank\'');
    await send('Page.navigate', {url: address});
    await page.until('document.documentElement && document.documentElement.dataset.ready === \'yes\'', 'ready');
  };
  page.picture = async (file) => {
    const {cssContentSize: size} = await send('Page.getLayoutMetrics');
    const clip = {x: 0, y: 0, width: size.width, height: Math.min(size.height, 4000), scale: 1};
    const {data} = await send('Page.captureScreenshot', {format: 'png', clip, captureBeyondViewport: true});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  };
  page.set = (id, value) => page.evaluate(
      `(() => { const e = document.getElementById(${JSON.stringify(id)}); e.value = ${JSON.stringify(value)};
      e.dispatchEvent(new Event('input', { bubbles: true }));
      e.dispatchEvent(new Event('change', { bubbles: true })); })()`);
  page.click = (selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  page.text = (id) => page.evaluate(`document.getElementById(${JSON.stringify(id)}).textContent`);
  page.key = async (key) => {
    for (const type of ['keyDown', 'keyUp'])
      await send(
          'Input.dispatchKeyEvent',
          {type, key, code: key, windowsVirtualKeyCode: {ArrowLeft: 37, ArrowRight: 39, Tab: 9, Enter: 13}[key]});
  };
  await send('Page.enable');
  await send('Runtime.enable');
  await send('Network.enable');
  await send('Log.enable');
  await page.size(width, height);
  if (url) await page.goto(url);
  return page;
}

module.exports = {
  start,
  open
};
