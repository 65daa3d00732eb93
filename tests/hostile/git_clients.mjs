// Hostile git clients: pushes that are cut, bodies that lie about themselves, bodies that grow,
// clients that hold processes, and strangers that look for names. The server stays small, answers
// others, and has no process left of them.
//
//   node git_clients.mjs VEDETTE FOLDER SEED
import crypto from 'node:crypto';
import fs from 'node:fs';
import zlib from 'node:zlib';
import net from 'node:net';
import { equal, finish, tap } from '../clients/tap.mjs';
import {
    commit, git, gitMust, map, MAPS, Random, Server, until,
} from '../support/git_server.mjs';
import { gitTerms, readLimits, sum } from './worst_case.mjs';
import { history, pack, pushBody, raw, requestHead, said, ZERO } from './git_packs.mjs';

const [, , vedette, folder, seedText] = process.argv;
const random = new Random(Number(seedText));
const sanitized = fs.readFileSync(vedette).includes('__asan_init') || fs.readFileSync(vedette).includes('__tsan_init');
const KIB = 1 << 10;
const MIB = 1 << 20;
const limits = readLimits(new URL('../../src/base/limits.h', import.meta.url));
const server = new Server(vedette, folder);
const local = `${folder}/local.git`;
const RECEIVE = '/shop/hostile.git/git-receive-pack';
const TYPE = { 'content-type': 'application/x-git-receive-pack-request' };

const names = async () => (await server.must('GET', MAPS)).items.map((item) => item.metadata.name);

async function ready() {
    const start = Date.now();
    const { status } = await server.call('GET', '/readyz', undefined, { timeout: 10_000 });
    if (status !== 200) throw new Error(`/readyz: ${status}`);
    return Date.now() - start;
}

async function nothingLeft() {
    await until('no process and no quarantine is left', () => {
        const left = [...server.children(), ...server.files(/^(tmp_objdir|incoming)-|\.lock$/)];
        if (left.length) throw new Error(left.join(' '));
        return true;
    }, 10);
    await ready();
}

const post = (body, fields = {}, token = server.admin, path = RECEIVE) => Buffer.concat([
    requestHead('POST', path, token, { ...TYPE, 'content-length': body.length, ...fields }), body]);

let serial = 0;
// A push of one object to a branch of its own, as bytes.
function onePush() {
    const name = `cut-${serial++}`;
    const { id, entries } = history([['100644', `${name}.yaml`, map(name)], ['100644', 'noise', crypto.randomBytes(20_000)]]);
    return { name, id, ref: `refs/heads/${name}`, body: pushBody([[ZERO, id, `refs/heads/${name}`]], pack(entries)) };
}

// The push has happened whole or not at all.
async function isWhole({ name, id, ref }, must) {
    const there = (await names()).includes(name);
    const refs = await server.refs('hostile');
    if (there !== (refs[ref] === id)) throw new Error(`${name} is ${there ? '' : 'not '}there, its ref is ${refs[ref]}`);
    if (must !== undefined && there !== must) throw new Error(`${name} is ${there ? '' : 'not '}there`);
}

async function cutPushes(n) {
    const pushed = [];
    for (let i = 0; i < n; i++) {
        const one = onePush();
        const bytes = post(one.body);
        const at = random.chance(0.2) ? bytes.length : 1 + random.below(bytes.length - 1);
        await raw(server.port, bytes.subarray(0, at), { cut: true });
        pushed.push([one, at === bytes.length ? undefined : false]);
    }
    await nothingLeft();
    for (const [one, must] of pushed) await isWhole(one, must);
}

// What the server says to a body that is not what it says to be; the push must not happen.
async function lies(what, bytes, one, { half = true, seconds = 20 } = {}) {
    const answer = await raw(server.port, bytes, { half, seconds });
    await nothingLeft();
    await isWhole(one, false);
    return answer.toString('latin1');
}

function chunked(body, { size = 1000, wrong } = {}) {
    const parts = [];
    for (let at = 0; at < body.length; at += size) {
        const piece = body.subarray(at, at + size);
        parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
        if (wrong && at > body.length / 2) return Buffer.concat([...parts, Buffer.from(wrong)]);
    }
    return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

/* ---- who holds processes ---- */

const open = [];
function hold(path, token, fields, body = '') {
    const socket = net.connect({ port: server.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.pause();
    const bytes = Buffer.concat([requestHead(fields ? 'POST' : 'GET', path, token, fields ?? {}), Buffer.from(body)]);
    const sent = new Promise((resolve) => { socket.write(bytes, resolve); });
    open.push(socket);
    return sent;
}
function letGo() {
    for (const socket of open.splice(0)) socket.destroy();
}

// What docs/limits.md allows n clients of one user: connections, what is read ahead of them, and the
// terms of Git for those who are stopped before a hook runs.
function boundOf(n) {
    const terms = gitTerms(limits, { git: 'read', users: 1 });
    const each = 48 * KIB + limits.VD_HTTP_AHEAD_LEN_MAX + limits.VD_HTTP_BODY_FREE_LEN;
    return sum(terms.filter(([, , use]) => use === 'git')) + n * each;
}

let idleKb = 0; // of the server before any attack

// The server's memory once it has not grown for a while, in bytes more than it was without clients.
async function settled() {
    let most = 0;
    let since = Date.now();
    await until('memory does not grow', () => {
        const now = server.residentKb('VmRSS');
        if (now > most) since = Date.now();
        most = Math.max(most, now);
        return Date.now() - since > 150;
    }, 20);
    return (most - idleKb) * KIB;
}

async function stalled(n, token, make) {
    await Promise.all(Array.from({ length: n }, () => make(token)));
    const times = [];
    for (let i = 0; i < 10; i++) times.push(await ready());
    const grown = await settled();
    console.log(`# ${n} clients: /readyz in at most ${Math.max(...times)} ms, ${server.children().length} processes, `
        + `${(grown / MIB).toFixed(1)} of ${(boundOf(n) / MIB).toFixed(1)} MiB`);
    if (!sanitized && grown > boundOf(n)) throw new Error(`${grown} bytes more, instead of ${boundOf(n)}`);
    if (times.sort((a, b) => a - b)[5] > 1000) throw new Error(`/readyz takes ${times}`);
}

const clone = (token, to) => git(folder, ['clone', '-q', server.url('hostile', token), to], { timeout: 60_000 });

async function main() {
    console.log(`# seed ${seedText}`);
    if (!sanitized) server.limit = ['prlimit', `--as=${1536 * MIB}`];
    await server.start({ options: ['--log-level', 'error'] });
    await server.openShop();
    await gitMust(folder, ['init', '-q', '--bare', local]);
    await server.repository('hostile', { branches: ['main', 'cut-*'] });
    await server.repository('small', { limits: { packBytes: MIB } });
    const id = await commit(local, 'refs/heads/main', { 'base.yaml': map('base') });
    await gitMust(local, ['push', '-q', server.url('hostile'), `${id}:refs/heads/main`]);
    const mallory = await server.token('mallory');
    const stranger = await server.token('stranger');
    const rules = [{ apiGroups: ['git.vedette.dev'], resources: ['repositories/contents'], verbs: ['get'] }];
    await server.must('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles', { metadata: { name: 'read' }, rules });
    await server.must('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings', {
        metadata: { name: 'read' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'read' },
        subjects: [{ kind: 'User', name: 'mallory', apiGroup: 'rbac.authorization.k8s.io' }],
    });

    idleKb = server.residentKb('VmRSS');
    await tap('a push of bytes is admitted', async () => {
        const one = onePush();
        const text = said(await raw(server.port, post(one.body)));
        if (!text.includes(`ok ${one.ref}`)) throw new Error(text);
        await isWhole(one, true);
    });
    await tap('pushes that are cut at random bytes', () => cutPushes(25));
    await tap('a Content-Length that is too large', async () => {
        const one = onePush();
        await lies('large', post(one.body.subarray(0, one.body.length - 30), { 'content-length': one.body.length + 1000 }), one);
    });
    await tap('a Content-Length that is too small', async () => {
        const one = onePush();
        await lies('small', post(one.body, { 'content-length': one.body.length - 100 }), one);
    });
    await tap('lengths that are no lengths', async () => {
        for (const value of ['-1', '99999999999999999999', '1e3', '0x10', '10, 20']) {
            const one = onePush();
            const text = await lies('no length', post(one.body, { 'content-length': value }), one);
            if (!/^HTTP\/1\.1 4\d\d/.test(text)) throw new Error(`${value}: ${text.slice(0, 200)}`);
        }
    });
    await tap('chunks', async () => {
        const head = (fields) => requestHead('POST', RECEIVE, server.admin, { ...TYPE, 'transfer-encoding': 'chunked', ...fields });
        const good = onePush();
        const text = said(await raw(server.port, Buffer.concat([head({}), chunked(good.body)])));
        if (!text.includes(`ok ${good.ref}`)) throw new Error(text);
        for (const wrong of ['zzz\r\n', '-5\r\nabcde\r\n', 'ffffffffffffffffff\r\n', '5;x="y\r\n', '\r\n\r\n\r\n', '5\r\nabc']) {
            const one = onePush();
            await lies(`chunks: ${wrong}`, Buffer.concat([head({}), chunked(one.body, { wrong })]), one);
        }
        const both = onePush();
        await lies('both', Buffer.concat([head({ 'content-length': 5 }), chunked(both.body)]), both);
    });
    await tap('compressed bodies that are none, are cut, or have more behind them', async () => {
        const gzip = { 'content-encoding': 'gzip' };
        const good = onePush();
        const text = said(await raw(server.port, post(zlib.gzipSync(good.body), gzip)));
        if (!text.includes(`ok ${good.ref}`)) throw new Error(text);
        for (const make of [(b) => b, (b) => zlib.gzipSync(b).subarray(0, 900), (b) => {
            const bytes = zlib.gzipSync(b);
            bytes.fill(0xff, 500, 600);
            return bytes;
        }]) {
            const one = onePush();
            await lies('gzip', post(make(one.body), gzip), one);
        }
        const odd = onePush();
        const answer = await lies('odd', post(odd.body, { 'content-encoding': 'br' }), odd);
        if (!/^HTTP\/1\.1 4\d\d/.test(answer)) throw new Error(answer.slice(0, 300));
    });
    await tap('a compressed body that grows is refused early', async () => {
        const before = server.residentKb();
        // A pack that is whole and stored without compression, so that only the body's gzip shrinks it.
        const { id: tip, entries } = history([['100644', 'zeros', Buffer.alloc(200 * MIB)]]);
        const body = pushBody([[ZERO, tip, 'refs/heads/main']], pack(entries, 0));
        const bomb = zlib.gzipSync(body, { level: 9 });
        const answer = await raw(server.port, post(bomb, { 'content-encoding': 'gzip' }, server.admin, RECEIVE.replace('hostile', 'small')), { seconds: 60 });
        await nothingLeft();
        const text = said(answer);
        if (/ok refs/.test(text)) throw new Error(text);
        equal(await server.refs('small'), {});
        const grown = server.residentKb() - before;
        console.log(`# ${bomb.length} bytes, ${grown} kB more, said: ${text.slice(0, 100).replace(/\n/g, ' ')}`);
        if (!sanitized && grown > 50_000) throw new Error(`${grown} kB`);
    });
    await tap('commands that are no commands', async () => {
        for (const body of ['', '0000', 'zzzz', '0001', 'ffff', '0005', '0010hello world!', `${'0032'}${'0'.repeat(46)}`,
            `00ff${'a'.repeat(100)}`, '0009done\n', 'PACK\0\0\0\x02\0\0\0\0']) {
            await raw(server.port, post(Buffer.from(body)), { half: true, seconds: 20 });
            await raw(server.port, post(Buffer.from(body), {}, server.admin, RECEIVE.replace('receive', 'upload')), { half: true, seconds: 20 });
        }
        await nothingLeft();
    });

    await tap('200 clients that ask for refs and do not read', async () => {
        await stalled(200, mallory, (token) => hold('/shop/hostile.git/info/refs?service=git-upload-pack', token));
        const done = await clone(server.admin, 'c1');
        if (done.code) throw new Error(done.err);
        letGo();
        await nothingLeft();
    });
    await tap('200 clients that begin a fetch and do not go on', async () => {
        await stalled(200, mallory, (token) => hold('/shop/hostile.git/git-upload-pack', token,
            { 'content-type': 'application/x-git-upload-pack-request', 'content-length': 100000 }, '0032want '));
        const done = await clone(server.admin, 'c2');
        if (done.code) throw new Error(`another user: ${done.err}`);
        letGo();
        await nothingLeft();
        const own = await clone(mallory, 'c3');
        if (own.code) throw new Error(`the same one later: ${own.err}`);
    });
    await tap('100 clients that fetch a large file and do not read it', async () => {
        const large = await commit(local, 'refs/heads/large', { noise: crypto.randomBytes(4 * MIB) });
        await gitMust(local, ['push', '-q', server.url('hostile'), `${large}:refs/heads/large`]);
        const line = (text) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
        const body = `${line(`want ${large} side-band-64k ofs-delta\n`)}0000${line('done\n')}`;
        await stalled(100, mallory, (token) => hold('/shop/hostile.git/git-upload-pack', token,
            { 'content-type': 'application/x-git-upload-pack-request', 'content-length': body.length }, body));
        letGo();
        await nothingLeft();
    });
    await tap('100 compressed pushes that do not go on', async () => {
        const fields = { ...TYPE, 'content-encoding': 'gzip', 'content-length': 100000 };
        const begin = zlib.gzipSync(`00ff${'a'.repeat(100)}`, { finishFlush: zlib.constants.Z_SYNC_FLUSH });
        await stalled(100, server.admin, (token) => hold(RECEIVE, token, fields, begin));
        letGo();
        await nothingLeft();
    });
    await tap('100 pushes that do not go on, and an honest one of somebody else', async () => {
        const pusher = await server.token('pusher', 'system:masters');
        await stalled(100, server.admin, (token) => hold(RECEIVE, token, { ...TYPE, 'content-length': 100000 }, '00ff'));
        const next = await commit(local, 'refs/heads/main', { 'base.yaml': map('base', '2') }, [id]);
        const done = await git(local, ['push', server.url('hostile', pusher), `${next}:refs/heads/main`]);
        if (done.code) throw new Error(done.err);
        letGo();
        await nothingLeft();
    });

    await tap('strangers learn no names', async () => {
        const ask = async (name, token, service) => {
            const { status, body } = await server.call('GET', `/shop/${name}.git/info/refs?service=git-${service}`, undefined, { token });
            return JSON.stringify([status, body]).replaceAll(name, 'NAME');
        };
        for (const token of [stranger, null, 'wrong']) {
            for (const service of ['upload-pack', 'receive-pack']) {
                equal(await ask('hostile', token, service), await ask('nowhere', token, service));
            }
        }
        const { status } = await server.call('GET', '/shop/hostile.git/info/refs?service=git-receive-pack', undefined, { token: mallory });
        equal(status, 403);
    });
    await tap('who may only read cannot push, by no way', async () => {
        const one = onePush();
        for (const fields of [{}, { 'x-http-method-override': 'PUT' }, { 'x-remote-user': 'ann' }, { 'impersonate-user': 'ann' }]) {
            const answer = (await raw(server.port, post(one.body, fields, mallory))).toString('latin1');
            if (!/^HTTP\/1\.1 403/.test(answer)) throw new Error(answer.slice(0, 300));
        }
        await isWhole(one, false);
    });
    await tap('paths that lead elsewhere', async () => {
        for (const path of ['/shop/../shop/hostile.git/info/refs', '/shop/hostile.git/../../../etc/passwd',
            '/shop/hostile.git/objects/info/packs', '/shop/hostile.git/HEAD', '/shop/hostile.git/config',
            '/shop/%2e%2e/hostile.git/info/refs', '/shop/hostile.git%2f..%2fx/info/refs', '/shop/.git/info/refs',
            '/shop/hostile.git/info/refs?service=git-upload-archive', '/shop/hostile.git/info/refs?service=--help',
            '/shop/hostile.git/info/refs', '/shop/hostile.git/git-upload-archive']) {
            const answer = (await raw(server.port, requestHead('GET', path, server.admin), { seconds: 10 })).toString('latin1');
            if (!/^HTTP\/1\.1 [45]\d\d/.test(answer)) throw new Error(`${path}: ${answer.slice(0, 300)}`);
        }
    });
    await tap('the protocol version is no way in', async () => {
        for (const version of ['version=2:x=$(touch pwned)', 'a'.repeat(4000), 'version=1:version=2', '--x']) {
            await raw(server.port, requestHead('GET', '/shop/hostile.git/info/refs?service=git-upload-pack', server.admin,
                { 'git-protocol': version }), { seconds: 10 });
        }
        await nothingLeft();
        if (fs.existsSync(`${folder}/pwned`)) throw new Error('something was run');
    });
    await tap('the server stays small', () => {
        console.log(`# at most ${server.residentKb()} kB`);
        if (!sanitized && server.residentKb() > 200 * 1024) throw new Error(`${server.residentKb()} kB`);
    });
    await tap('the server stops in order', async () => equal((await server.stop()).code, 0));
    finish();
}

process.on('exit', () => { if (server.child) server.child.kill('SIGKILL'); });
main().catch((error) => {
    console.log(`not ok - ${error.stack}`);
    process.exit(1);
});
