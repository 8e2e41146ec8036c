// main.js - starts the page: lists from the wasm module, tabs, theme, link.

const parts = {
  number: {draw: drawNumber, start: startNumber},
  line: {draw: drawLine, start: startLine},
  sums: {draw: drawSums, start: startSums},
  dot: {draw: drawDot, start: startDot},
  histogram: {draw: drawHistogram, start: startHistogram},
};
const lists = {};

function show(part) {
  state.part = part;
  for (const name of Object.keys(parts)) {
    const tab = byId('tab-' + name), on = name === part;
    tab.setAttribute('aria-selected', on);
    tab.tabIndex = on ? 0 : -1;
    byId(name).hidden = !on;
  }
  parts[part].draw();
  stateWrite();
}

function startTabs() {
  const names = Object.keys(parts);
  for (const name of names) byId('tab-' + name).addEventListener('click', () => show(name));
  byId('tabs').addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    show(names[(names.indexOf(state.part) + step + names.length) % names.length]);
    byId('tab-' + state.part).focus();
  });
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  byId('theme').textContent = dark ? 'Light' : 'Dark';
  byId('theme').setAttribute('aria-label', dark ? 'Switch to light colours' : 'Switch to dark colours');
  byId('theme').setAttribute('aria-pressed', dark);
}

function startTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)');
  setTheme(system.matches);
  system.addEventListener('change', () => setTheme(system.matches));
  byId('theme').addEventListener('click', () => {
    setTheme(document.documentElement.dataset.theme !== 'dark');
    parts[state.part].draw();
  });
}

function notice(sentence) {
  byId('notice').hidden = !sentence;
  byId('notice').textContent = sentence;
}

async function copyLink() {
  const hash = stateHash(), link = location.href.replace(/#.*/s, '') + hash;
  history.replaceState(null, '', hash);
  const long = state.tooLong ? ' Long pasted numbers are not in it.' : '';
  try {
    await navigator.clipboard.writeText(link);
    notice('The link is copied.' + long);
  } catch {
    notice('The link is in the address bar.' + long);
  }
}

// Lists of formats, modes and policies, as the C sources have them.
function fillLists() {
  Object.assign(lists, ask('web_lists'));
  byId('formats').replaceChildren(...lists.formats.map(
      (f) => make('option', {value: f.name, label: [f.aliases, f.source].filter(Boolean).join(', ')})));
  const mode = (m) => make('option', {value: m.name, text: `${m.name}: ${m.meaning.replace(/:.*/, '')}`});
  const options = {
    modes: () => lists.modes.map(mode),
    stochastic: () => lists.modes.filter((m) => m.stochastic).map(mode),
    policies: () =>
        lists.policies.map((p) => make('option', {value: p, text: p === 'default' ? 'default of the format' : p})),
  };
  for (const select of document.querySelectorAll('[data-list]'))
    select.replaceChildren(...options[select.dataset.list]());
}

async function main() {
  await wasmStart(await wasmBytes(byId('wasm').textContent));
  fillLists();
  startTheme();
  startTabs();
  for (const part of Object.values(parts)) part.start();
  stateDefaults();
  notice(stateRead());
  for (const field of fields()) {
    if (field.type === 'hidden') continue;
    field.addEventListener('input', () => {
      notice('');
      parts[state.part].draw(field.id);
      stateWrite();
    });
  }
  byId('copy').addEventListener('click', copyLink);
  addEventListener('hashchange', () => {
    notice(stateRead());
    show(state.part);
  });
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== width) parts[state.part].draw();
    width = innerWidth;
  });
  show(state.part);
  document.documentElement.dataset.ready = 'yes';
}

addEventListener(
    'DOMContentLoaded',
    () => main().catch(
        (problem) => notice(`The page could not start: ${problem.message}. It needs a browser with WebAssembly.`)),
);
