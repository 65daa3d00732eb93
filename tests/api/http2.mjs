// node's http2 against a server: every verb, a thousand watches over ten connections, a large list
// through small windows, a storm of resets beside a client that is served, and the end of a server.
//
//   node http2.mjs URL FOLDER CASE
//
// FOLDER holds pki/. Prints what went wrong and ends with 1, or nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect, constants } from 'node:http2';

const [url, folder, which] = process.argv.slice(2);
const [ca, cert, key] = ['ca.crt', 'admin.crt', 'admin.key'].map((name) =>
  readFileSync(`${folder}/pki/${name}`),
);
const maps = '/api/v1/namespaces/default/configmaps';
const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM } = constants;

const deadline = setTimeout(() => {
  console.log(`${which}: not done after 100 s`);
  process.exit(1);
}, 100_000);

function open(settings = {}) {
  const session = connect(url, { ca, cert, key, settings, peerMaxConcurrentStreams: 250 });
  return new Promise((resolve, reject) => {
    session.once('remoteSettings', () => resolve(session));
    session.once('error', reject);
  });
}

// One request: the answer's status and whole body.
function ask(session, method, path, body, type = 'application/json') {
  return new Promise((resolve, reject) => {
    const headers = { ':method': method, ':path': path };
    if (body !== undefined) headers['content-type'] = type;
    const stream = session.request(headers, { endStream: body === undefined });
    let status;
    const parts = [];
    stream.on('response', (answer) => (status = answer[':status']));
    stream.on('data', (part) => parts.push(part));
    stream.on('error', reject);
    stream.on('end', () => resolve({ status, text: Buffer.concat(parts).toString() }));
    if (body !== undefined) stream.end(JSON.stringify(body));
  });
}

const map = (name, data) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

// A watch: `events` grows as they come.
function watch(session, version) {
  const stream = session.request({ ':path': `${maps}?watch=1&resourceVersion=${version}` });
  const watcher = { stream, events: [], ended: false, rest: '' };
  stream.setEncoding('utf8');
  stream.on('data', (part) => {
    const lines = (watcher.rest + part).split('\n');
    watcher.rest = lines.pop();
    for (const line of lines) {
      const event = JSON.parse(line);
      // The server keeps a map of its own in every namespace, and makes it again.
      if (event.object.metadata.name !== 'kube-root-ca.crt') watcher.events.push(event);
    }
  });
  stream.on('end', () => (watcher.ended = true));
  stream.on('error', () => {});
  return watcher;
}

async function until(what, holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(await holds(), what);
}

async function version(session) {
  return JSON.parse((await ask(session, 'GET', maps)).text).metadata.resourceVersion;
}

const cases = {
  async verbs() {
    const session = await open();
    assert.equal(session.remoteSettings.maxConcurrentStreams, 250);
    const status = async (...request) => (await ask(session, ...request)).status;
    assert.equal(await status('POST', maps, map('v', { a: '1' })), 201);
    assert.equal(await status('POST', maps, map('v', { a: '1' })), 409);
    assert.equal(await status('GET', `${maps}/v`), 200);
    assert.equal(await status('HEAD', `${maps}/v`), 200);
    assert.equal(await status('PUT', `${maps}/v`, map('v', { a: '2' })), 200);
    const merge = 'application/merge-patch+json';
    assert.equal(await status('PATCH', `${maps}/v`, { data: { b: '3' } }, merge), 200);
    const { text } = await ask(session, 'GET', `${maps}/v`);
    assert.deepEqual(JSON.parse(text).data, { a: '2', b: '3' });
    assert.equal(await status('GET', maps), 200);
    assert.equal(await status('HEAD', maps), 200);
    assert.equal(await status('DELETE', `${maps}/v`), 200);
    assert.equal(await status('GET', `${maps}/v`), 404);
    assert.equal(await status('DELETE', maps), 200);
    assert.equal(await status('GET', '/apis'), 200);
    session.close();
  },

  // Each watch sees each change, once and in order; one that is not read stops nobody.
  async watches() {
    const sessions = await Promise.all(Array.from({ length: 10 }, () => open()));
    const from = await version(sessions[0]);
    const stuck = watch(sessions[0], from);
    stuck.stream.pause();
    const watchers = sessions.flatMap((s) => Array.from({ length: 100 }, () => watch(s, from)));
    const names = Array.from({ length: 20 }, (_, i) => `w${i}`);
    for (const name of names)
      assert.equal((await ask(sessions[1], 'POST', maps, map(name, {}))).status, 201);
    await until('all events', () => watchers.every((w) => w.events.length >= names.length));
    for (const { events } of watchers)
      assert.deepEqual(
        events.map((event) => event.object.metadata.name),
        names,
      );
    for (const { stream } of watchers.slice(0, 50)) stream.close(NGHTTP2_CANCEL);
    assert.equal((await ask(sessions[0], 'DELETE', maps)).status, 200);
    const left = watchers.slice(50);
    await until('deletions', () => left.every((w) => w.events.length === 2 * names.length));
    for (const session of sessions) session.destroy();
  },

  async windows() {
    const session = await open({ initialWindowSize: 5000 });
    const value = 'x'.repeat(50_000);
    const names = Array.from({ length: 40 }, (_, i) => `big${i}`);
    for (const name of names)
      assert.equal((await ask(session, 'POST', maps, map(name, { value }))).status, 201);
    const lists = await Promise.all(names.slice(0, 8).map(() => ask(session, 'GET', maps)));
    for (const { text } of lists) {
      const { items } = JSON.parse(text);
      assert.equal(items.filter((item) => item.data?.value === value).length, names.length);
    }
    assert.equal((await ask(session, 'DELETE', maps)).status, 200);
    session.close();
  },

  // Requests that are taken back at once: the client is told to go, and others are served. A
  // client that is slow to read can lose the farewell with its connection, and storms again.
  async storm() {
    const good = await open();
    let code;
    let slowest = 0;
    const served = (async () => {
      while (code === undefined) {
        const start = performance.now();
        assert.equal((await ask(good, 'GET', '/readyz')).status, 200);
        slowest = Math.max(slowest, performance.now() - start);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    while (code === undefined) {
      const bad = await open();
      bad.on('goaway', (why) => (code = why));
      bad.on('error', () => {});
      while (code === undefined && !bad.destroyed && !bad.closed) {
        // Taken back before its headers have left, a request would not be sent at all.
        const batch = Array.from({ length: 50 }, () => bad.request({ ':path': maps }));
        for (const stream of batch) stream.on('error', () => {});
        await new Promise((resolve) => setImmediate(resolve));
        for (const stream of batch) stream.close(NGHTTP2_CANCEL);
        await new Promise((resolve) => setImmediate(resolve));
      }
      bad.destroy();
    }
    await served;
    assert.equal(code, NGHTTP2_ENHANCE_YOUR_CALM);
    console.error(`the slowest of /readyz meanwhile: ${slowest.toFixed(1)} ms`);
    assert.equal((await ask(good, 'GET', '/readyz')).status, 200);
    good.close();
  },

  // Watches that run until the server is told to stop (by whoever has started this) and end in
  // order; the connection is said goodbye to, with no error.
  async drain() {
    const session = await open();
    const codes = [];
    session.on('goaway', (code) => codes.push(code));
    const from = await version(session);
    const watchers = Array.from({ length: 20 }, () => watch(session, from));
    assert.equal((await ask(session, 'POST', maps, map('last', {}))).status, 201);
    await until('events', () => watchers.every((w) => w.events.length === 1));
    console.log('watching');
    await until('ends', () => watchers.every((w) => w.ended));
    await until('close', () => session.closed || session.destroyed);
    assert.ok(codes.length > 0 && codes.every((code) => code === 0), `GOAWAY: ${codes}`);
  },
};

try {
  await cases[which]();
} catch (error) {
  console.log(`${which}: ${error.stack}`);
  process.exit(1);
}
clearTimeout(deadline);
