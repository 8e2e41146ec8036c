// exact.js - exact numbers: quotients n / d of BigInts, read from texts and doubles.

// The quotient n / d times 2^e.
const quotient = (n, d = 1n, e = 0) => (e < 0 ? {n, d: d << BigInt(-e)} : {n: n << BigInt(e), d});
const addExact = (x, y) => ({n: x.n * y.d + y.n * x.d, d: x.d * y.d});
const mulExact = (x, y) => ({n: x.n * y.n, d: x.d * y.d});
const lessExact = (x, y) => addExact(x, {n: -y.n, d: y.d});

// The exact value of a finite double.
function exactOfNumber(x) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const u = view.getBigUint64(0), field = Number((u >> 52n) & 0x7ffn);
  const m = (u & 0xfffffffffffffn) | (field ? 1n << 52n : 0n);
  return quotient(u >> 63n ? -m : m, 1n, (field || 1) - 1075);
}

// A decimal number or a hex float, or null. An exponent of more than four digits gives null.
function exactOfPlain(text) {
  const [, sign, hex, decimal, exponent] =
      text.match(/^([+-]?)(?:0x([\da-f]*\.?[\da-f]*)|(\d*\.?\d*))(?:[ep]([+-]?\d{1,4}))?$/i) || [];
  const digits = hex === undefined ? decimal : hex;
  if (digits === undefined || !/[\da-f]/i.test(digits) || (hex === undefined && /p/i.test(text))) return null;
  const [whole, part = ''] = digits.split('.'), m = BigInt((hex === undefined ? '' : '0x') + whole + part),
                       n = sign === '-' ? -m : m, e = Number(exponent || 0);
  if (hex !== undefined) return quotient(n, 1n, e - 4 * part.length);
  return e < part.length ? {n, d: 10n ** BigInt(part.length - e)} : {n: n * 10n ** BigInt(e - part.length), d: 1n};
}

// The exact value of a typed number: the texts that web_number_read reads. Null for other texts, inf and nan.
function exactOfText(text) {
  const [, factor, sign, exponent] = text.match(/^(?:(.+)[*x])?([+-]?)2\^([+-]?\d{1,4})$/) || [];
  if (exponent === undefined) return exactOfPlain(text);
  const of = factor === undefined ? {n: 1n, d: 1n} : exactOfPlain(factor);
  return of && mulExact(of, quotient(sign === '-' ? -1n : 1n, 1n, Number(exponent)));
}

// The sum of quotients, over the largest denominator if all denominators divide it, as powers of two do.
function sumOfDyadics(list) {
  const d = list.reduce((most, x) => (x.d > most ? x.d : most), 1n);
  return {n: list.reduce((sum, x) => sum + x.n * (d / x.d), 0n), d};
}

// The decimal digits of a quotient, or null if they do not end.
function decimalOfExact(x) {
  const n = x.n < 0n ? -x.n : x.n, common = (a, b) => (b === 0n ? a : common(b, a % b)), d = x.d / common(n, x.d);
  let places = d.toString(2).length, ten = 10n ** BigInt(places);
  if (ten % d !== 0n) return null;
  const all = ((n * ten) / x.d).toString().padStart(places + 1, '0');
  const part = all.slice(-places).replace(/0+$/, '');
  return (x.n < 0n ? '-' : '') + all.slice(0, -places) + (part ? '.' + part : '');
}

// A double within two units in the last place of a quotient.
function numberOfExact(x) {
  if (x.n === 0n) return 0;
  const n = x.n < 0n ? -x.n : x.n, e = n.toString(2).length - x.d.toString(2).length - 64;
  const m = Number(e < 0 ? (n << BigInt(-e)) / x.d : n / (x.d << BigInt(e))), half = Math.trunc(e / 2);
  return (x.n < 0n ? -m : m) * 2 ** half * 2 ** (e - half);
}
