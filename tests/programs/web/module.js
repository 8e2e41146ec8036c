// module.js - the wasm module of the page's file, for Node.
'use strict';
const fs = require('node:fs'), zlib = require('node:zlib');

async function load(file) {
  const [, base64] = fs.readFileSync(file, 'utf8').match(/<script type="text\/plain" id="wasm">([^<]*)<\/script>/);
  const nothing = () => 8;
  const {instance} = await WebAssembly.instantiate(
      zlib.gunzipSync(Buffer.from(base64, 'base64')),
      {wasi_snapshot_preview1: {fd_close: nothing, fd_seek: nothing, fd_write: nothing}});
  const e = instance.exports;
  e._initialize();
  const bytes = () => Buffer.from(e.memory.buffer);
  const call = (name, ...given) => {
    let at = e.web_input();
    return e[name](...given.map((value) => {
      if (typeof value !== 'string') return value;
      const start = at;
      at += bytes().write(value + '\0', at);
      return start;
    }));
  };
  const ask = (name, ...given) => {
    const at = call(name, ...given), memory = bytes();
    return JSON.parse(memory.toString('utf8', at, memory.indexOf(0, at)));
  };
  // the first n numbers of an answer, as bytes and as numbers
  const values = (n) => bytes().subarray(e.web_values(), e.web_values() + 8 * n);
  const write = (text) => bytes().write(text + '\0', e.web_input());
  return {call, write, ask, values, numbers: (n) => new Float64Array(e.memory.buffer, e.web_values(), n)};
}

module.exports = {load};
