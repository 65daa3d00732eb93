// Streamed request bodies as node's clients send them, over HTTP/1.1 and HTTP/2.
//
//   node stream_body.mjs URL CA CASE MEGABYTES
//
// Prints what went wrong and ends with 1, or nothing.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const [url, caFile, which, megabytes] = process.argv.slice(2);
const ca = readFileSync(caFile);
const length = Number(megabytes) * 1024 * 1024;

setTimeout(() => {
  console.log(`${which}: not done after 300 s`);
  process.exit(1);
}, 300_000).unref();

// A body of so many bytes that repeats nothing soon, and the hash of what was taken of it.
function body(n, pause = 0) {
  const block = Buffer.alloc(65536);
  for (let i = 0; i < block.length; i++) block[i] = (i * 31 + (i >> 8)) & 255;
  const hash = createHash('sha256');
  async function* parts() {
    for (let at = 0, k = 0; at < n; k++) {
      block.writeUInt32LE(k, 0);
      const part = Buffer.from(block.subarray(0, Math.min(block.length, n - at)));
      at += part.length;
      hash.update(part);
      yield part;
      if (pause) await sleep(pause);
    }
  }
  return { stream: Readable.from(parts(), { objectMode: false }), digest: () => hash.digest('hex') };
}

// Reads an answer whole; `pause` milliseconds after each part.
async function digestOf(stream, pause = 0) {
  const hash = createHash('sha256');
  for await (const part of stream) {
    hash.update(part);
    if (pause) await sleep(pause);
  }
  return hash.digest('hex');
}

const headers = (path) => ({ ':method': 'POST', ':path': path });

// One echo over an open HTTP/2 connection.
async function echo2(session, path, n, { writePause = 0, readPause = 0 } = {}) {
  const sent = body(n, writePause);
  const stream = session.request(headers(path));
  const failed = once(stream, 'error').then(([error]) => Promise.reject(error));
  failed.catch(() => {});
  sent.stream.pipe(stream);
  const [answer] = await Promise.race([once(stream, 'response'), failed]);
  assert.equal(answer[':status'], 200);
  const got = await digestOf(stream, readPause);
  assert.equal(got, sent.digest());
}

// The same over HTTP/1.1: chunked, as node sends what it does not know the length of.
async function echo1(agent, path, n, { writePause = 0, readPause = 0 } = {}) {
  const sent = body(n, writePause);
  const { request } = url.startsWith('https') ? https : http;
  const call = request(url + path, { method: 'POST', agent, ca });
  sent.stream.pipe(call);
  const [answer] = await once(call, 'response');
  assert.equal(answer.statusCode, 200);
  assert.equal(await digestOf(answer, readPause), sent.digest());
}

function open() {
  const session = connect(url, { ca });
  session.on('error', () => {});
  return session;
}

const agentOf = () =>
  new (url.startsWith('https') ? https : http).Agent({ keepAlive: true, maxSockets: 1 });

// Everything that comes over a bare socket until it ends; the client has said all it has to say.
async function raw(...parts) {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (part) => (text += part));
  for (const part of parts) {
    socket.write(part);
    await sleep(20);
  }
  socket.end();
  if (!socket.destroyed) await once(socket, 'close');
  return text;
}

const head = (path, ...lines) =>
  [`POST ${path} HTTP/1.1`, 'Host: h', ...lines, '', ''].join('\r\n');

const cases = {
  async large2() {
    const session = open();
    await echo2(session, '/up/cat', length);
    session.close();
  },
  async large1() {
    const agent = agentOf();
    await echo1(agent, '/up/cat', length);
    agent.destroy();
  },
  // Several at a time share a connection; the slow ones do not hold the others up.
  async several2() {
    const session = open();
    const slow = echo2(session, '/up/cat', 2 << 20, { readPause: 50 });
    const start = Date.now();
    await Promise.all([1, 2, 3, 4].map(() => echo2(session, '/up/cat', 4 << 20)));
    const fast = Date.now() - start;
    await slow;
    assert.ok(fast < Date.now() - start, 'the others waited for the slow one');
    session.close();
  },
  async slowReader() {
    await echo1(agentOf(), '/up/cat', 4 << 20, { readPause: 10 });
    const session = open();
    await echo2(session, '/up/cat', 4 << 20, { readPause: 10 });
    session.close();
  },
  async slowWriter() {
    await echo1(agentOf(), '/up/cat', 2 << 20, { writePause: 20 });
    const session = open();
    await echo2(session, '/up/cat', 2 << 20, { writePause: 20 });
    session.close();
  },
  // A hundred on one connection, one after the other: it is kept.
  async keepAlive() {
    const agent = agentOf();
    for (let i = 0; i < 100; i++) await echo1(agent, '/up/echo', i * 1000 + 1);
    agent.destroy();
  },
  async lies() {
    const chunked = 'Transfer-Encoding: chunked';
    assert.match(await raw(head('/up/count', chunked) + '3\r\nabcdef\r\n'), /^HTTP\/1.1 400 /);
    assert.match(await raw(head('/up/count', chunked), 'zz\r\n'), /^HTTP\/1.1 400 /);
    assert.match(await raw(head('/up/count', 'Content-Length: 3', chunked) + 'abc'), /^HTTP\/1.1 400 /);
    assert.match(await raw(head('/up/count', 'Content-Length: -3')), /^HTTP\/1.1 400 /);
    // More than it said: the rest is another request, and a bad one.
    const more = await raw(head('/up/count', 'Content-Length: 3') + 'abcdef\r\n\r\n');
    assert.match(more, /^HTTP\/1.1 200 [^]*3 bytesHTTP\/1.1 400 /);
    // Less: it never ends, and nobody answers.
    assert.equal(await raw(head('/up/count', 'Content-Length: 30') + 'abc'), '');
    const session = open();
    const stream = session.request({ ...headers('/up/count'), 'content-length': '30' });
    stream.end('abc');
    await assert.rejects(once(stream, 'close'), /PROTOCOL_ERROR/);
    await echo2(session, '/up/echo', 1000);
    session.close();
  },
  // Clients that go in the middle of things, in every way.
  async cuts() {
    for (const path of ['/up/cat', '/up/echo', '/up/count', '/up/pause']) {
      for (let i = 0; i < 5; i++) {
        const session = open();
        const stream = session.request(headers(path));
        stream.on('error', () => {});
        body(4 << 20).stream.pipe(stream);
        await sleep(10 * i);
        if (i % 2) stream.close(8);
        else session.destroy();
        await sleep(5);
        session.destroy();
        const call = raw(head(path, 'Content-Length: 1000000'), Buffer.alloc(1000 * (i + 1)));
        if (path !== '/up/pause') await call; // of which nothing is ever read
      }
    }
  },
};

try {
  await cases[which]();
} catch (error) {
  console.log(`${which}: ${error.stack}`);
  process.exit(1);
}
process.exit(0);
