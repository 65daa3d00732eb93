// The JSON parser against node's: same documents accepted, same values read.
//
//   node node_diff.js JSON_TOOL
//
// The corpus is written by hand and mutated with a fixed seed, so every run is the same. Node parses
// text and not bytes, so bytes go through a strict decoder first: invalid UTF-8 counts as refused. What is
// accepted by both is compared by what JSON.parse makes of our output. The deliberate differences:
//
// - half a surrogate pair in \u escapes: node keeps it, we read U+FFFD (as Go does);
// - nesting beyond 512: node accepts, we refuse (a limit);
// - numbers: node rounds to doubles, we keep the text. It is compared after node's rounding, so a
//   number that is written with other digits than it was read would show.
'use strict';
const { spawnSync } = require('child_process');

let seed = 20261115;
function random(n) { // xorshift32: good enough to choose bytes, and the same everywhere
  seed ^= seed << 13; seed ^= seed >>> 17; seed ^= seed << 5; seed >>>= 0;
  return seed % n;
}

const valid = [
  'null', 'true', 'false', '0', '-0', '1', '-1', '1.5', '1e5', '1E+5', '1e-5', '0.1e1', '""', '"a"', '[]', '{}',
  '[1,2,3]', '{"a":1}', '{"a":{"b":[1,{"c":null}]}}', ' [ 1 , 2 ] ', '\t{\n"a"\r:\n1 }\n',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u0041\\u00e4\\u20ac\\ud83d\\ude00"', '"äö€😀"', '"\u2028\u2029"', '"\u007f"',
  '"\\u0000"', '{"":0}', '{"a":1,"a":2}', '{"a":1,"b":2,"a":{"c":3}}', '{"\\u0061":1,"a":2}', '{"__proto__":1}',
  '[123456789012345678901234567890]', '[1e308,1e-400,5e-324]', '[0.1,0.2,0.30000000000000004]',
  '9007199254740993', '18446744073709551615', '-9223372036854775808', '[[[[[[[[[[]]]]]]]]]]',
  '"a string that is a good deal longer than one block of sixteen bytes"',
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","labels":{"app.kubernetes.io/name":"web"},' +
    '"annotations":{"last":"{\\"a\\":\\"b\\"}\\n"},"resourceVersion":"17"},"spec":{"containers":[{"name":"web",' +
    '"ports":[{"containerPort":8080,"protocol":"TCP"}],"cpu":0.5,"args":["--a=b",""]}],"n":null,"t":true}}',
  '{\n    "pretty": [\n        1,\n        {\n            "x": "y"\n        }\n    ],\n    "e": {}\n}',
  '{' + Array.from({ length: 60 }, (_, i) => `"key${i % 45}":${i}`).join(',') + '}',
  '['.repeat(512) + ']'.repeat(512),
];

const invalid = [
  '', ' ', '[', ']', '{', '}', '[1', '[1,', '[1,]', '[,1]', '[1,,2]', '[1 2]', '[1]]', '{]', '[}', '{"a"}', '{"a":}',
  '{"a":1,}', '{,}', '{a:1}', "{'a':1}", '{1:1}', '{"a" 1}', '{"a"::1}', '{"a":1 "b":2}', '[1]x', '[1] 2', '{}{}',
  '+1', '01', '-01', '00', '.5', '-.5', '1.', '1.e1', '1e', '1e+', '0x1', '1_0', '--1', '- 1', 'NaN', 'Infinity',
  '-Infinity', 'tru', 'True', 'nul', 'nulll', 'undefined', '"', '"a', '"\\', '"\\"', '"\\a"', '"\\x41"', '"\\u"',
  '"\\u12"', '"\\u00g0"', '"a\nb"', '"a\tb"', '"\u0000"', '"\u001f"', '[1]//', '/**/1', '#', '\ufeff1', '\u00a01', '[\v1]',
  '[\f1]', '[\u20281]', "['a']", '[1;2]', '(1)', '<1>', '"a"\u0000', '\u00001', '[\u0000]', '{"a":1\u0000}',
];

const bytes = [ // not text at all
  [0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xc3, 0x22], [0x22, 0xe2, 0x82, 0x22],
  [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xf0, 0x80, 0x80, 0x80, 0x22], [0x80],
  [0xef, 0xbb, 0xbf, 0x31], [0xff, 0xfe, 0x31, 0x00], [0x22, 0xef, 0xbf, 0xbf, 0x22], [0x22, 0xf4, 0x8f, 0xbf, 0xbf, 0x22],
];

const tokens = ['{', '}', '[', ']', ',', ':', '"', '\\', '0', '-', '.', 'e', '1', ' ', '\n', 'true', 'null', '"a":', '\\u',
  '\\ud800', '\\udc00', '\u00e4', '\ud83d\ude00', '\u0001', '\\n', '"b"', '99999999999999999999', '/', "'"].map((t) => Buffer.from(t));

function mutate(doc) {
  for (let k = random(3) + 1; k > 0; k--) {
    const at = random(doc.length + 1), cut = random(4);
    const token = tokens[random(tokens.length)];
    switch (random(6)) {
      case 0: doc = Buffer.concat([doc.subarray(0, at), token, doc.subarray(at)]); break;
      case 1: doc = Buffer.concat([doc.subarray(0, at), token, doc.subarray(at + cut)]); break;
      case 2: doc = Buffer.concat([doc.subarray(0, at), doc.subarray(at + cut)]); break;
      case 3: doc = Buffer.from(doc); if (at < doc.length) doc[at] = random(256); break;
      case 4: doc = doc.subarray(0, at); break;
      default: { // a piece of the document again, elsewhere
        const from = random(doc.length + 1), piece = doc.subarray(from, from + random(20));
        doc = Buffer.concat([doc.subarray(0, at), piece, doc.subarray(at)]);
      }
    }
  }
  return doc;
}

const documents = [...valid, ...invalid].map((t) => Buffer.from(t)).concat(bytes.map((b) => Buffer.from(b)));
const seeds = valid.filter((t) => t.length < 1000).map((t) => Buffer.from(t));
const cases = documents.slice();
for (let i = 0; i < 100000; i++) cases.push(mutate(seeds[random(seeds.length)]));

function depth(v) {
  if (v === null || typeof v !== 'object') return 0;
  let deepest = 0;
  for (const child of Object.values(v)) deepest = Math.max(deepest, depth(child));
  return deepest + 1;
}

const wellFormed = (text) => text.replace(/\p{Surrogate}/gu, '\ufffd'); // with /u only lone halves match

// Keys in one order, and halves of surrogate pairs as U+FFFD: what both sides agree on.
function canonical(v) {
  if (typeof v === 'string') return JSON.stringify(wellFormed(v));
  if (Array.isArray(v)) return `[${v.map(canonical).join(',')}]`;
  if (v === null || typeof v !== 'object') return Object.is(v, -0) ? '-0' : String(v);
  const members = new Map(); // two keys may become one when they are made well-formed
  for (const key of Object.keys(v)) members.set(wellFormed(key), v[key]);
  return `{${[...members.keys()].sort().map((key) => `${JSON.stringify(key)}:${canonical(members.get(key))}`).join(',')}}`;
}

function nodeReads(doc) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(doc);
    const value = JSON.parse(text);
    return depth(value) > 512 ? null : canonical(value);
  } catch {
    return null;
  }
}

const input = Buffer.concat(cases.map((doc) => Buffer.concat([Buffer.from(`${doc.length}\n`), doc])));
const run = spawnSync(process.argv[2], { input, maxBuffer: 1 << 30 });
const lines = (run.stdout || Buffer.alloc(0)).toString().split('\n');
const failures = [];
let accepted = 0;
for (let i = 0; i < cases.length; i++) {
  const want = nodeReads(cases[i]);
  const line = lines[i] === undefined ? 'missing' : lines[i];
  const got = line.startsWith('ok ') ? canonical(JSON.parse(line.slice(3))) : null;
  if (want !== null) accepted++;
  if (want !== got || (got === null && line !== 'refused'))
    failures.push(`${JSON.stringify(cases[i].toString('latin1'))}: node ${want}, we ${line}`);
}

const checks = [
  ['the tool answered every case', run.status === 0 && lines.length === cases.length + 1],
  ['what node accepts we accept, and read the same', failures.length === 0],
  ['the corpus has enough of both kinds', accepted > cases.length / 20 && accepted < cases.length * 0.95],
];
console.log(`1..${checks.length}`);
checks.forEach(([what, ok], i) => console.log(`${ok ? 'ok' : 'not ok'} ${i + 1} - ${what}`));
for (const failure of failures.slice(0, 20)) console.log(`# ${failure}`);
console.log(`# ${cases.length} documents, ${accepted} accepted`);
process.exit(checks.every(([, ok]) => ok) ? 0 : 1);
