// wasm.js - calls of the functions that the C sources export.

const wasm = {
  exports: null
};

// The module needs three functions of WASI, which a write to stderr would call. The page never writes.
const nothing = () => 8;

async function wasmStart(bytes) {
  const wasi = {fd_close: nothing, fd_seek: nothing, fd_write: nothing};
  const {instance} = await WebAssembly.instantiate(bytes, {wasi_snapshot_preview1: wasi});
  instance.exports._initialize();
  wasm.exports = instance.exports;
}

// The module from base64 of gzip.
async function wasmBytes(base64) {
  const text = atob(base64.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

// Calls an export. Strings are written to the input area, one after the other.
function call(name, ...given) {
  let at = wasm.exports.web_input();
  const end = at + 131072, encoder = new TextEncoder();
  const passed = given.map((value) => {
    if (typeof value !== 'string') return value;
    const bytes = encoder.encode(plain(value)), start = at;
    if (at + bytes.length + 1 > end) throw new RangeError('The text is longer than 100,000 characters.');
    const memory = new Uint8Array(wasm.exports.memory.buffer);
    memory.set(bytes, at);
    memory[at + bytes.length] = 0;
    at += bytes.length + 1;
    return start;
  });
  return wasm.exports[name](...passed);
}

function textAt(address) {
  const memory = new Uint8Array(wasm.exports.memory.buffer);
  let end = address;
  while (memory[end] !== 0) end++;
  return new TextDecoder().decode(memory.subarray(address, end));
}

// Calls an export that answers with a JSON text. A refusal is { error: 'a sentence' }.
function ask(name, ...given) {
  try {
    return JSON.parse(textAt(call(name, ...given)));
  } catch (problem) {
    if (problem instanceof RangeError) return {error: problem.message};
    throw problem;
  }
}

// A copy of the first n numbers that the last call answered with, from `first` on.
function answered(n, first = 0) {
  return new Float64Array(wasm.exports.memory.buffer, wasm.exports.web_values(), 65536).slice(first, first + n);
}
