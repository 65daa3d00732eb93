// Floods: whatever one user does, /readyz answers and another user reads and writes while it goes
// on. Nothing here judges times; it is the order that counts. A flood has begun before the others
// ask for anything, and goes on until they have been served - or comes to its end, which is much
// later, and then they were not served meanwhile.
//
//   node fair_floods.mjs FOLDER HTTP HTTPS PID LOAD    LOAD: the program of bench/load.c
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import tls from 'node:tls';
import {
    bindCrew, clientOf, configMap, door, folder, isSanitized, maps, metric, must, port,
    residentMb, root, tlsPort, tokens, usageOf, wrong,
} from './fair_setting.mjs';
import { RawConnection } from './raw_client.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const rounds = 10;
// A sanitizer keeps what was freed, and shadows of all memory.
const resident_mb_max = isSanitized() ? 1500 : 400;
const watches_n = 2000;
const loadProgram = process.argv[6];

await bindCrew();
await must(root, 201, 'POST', maps, configMap('shared'));
const [bob, anybody] = [clientOf('bob'), clientOf(null)];

// Rounds of another user's life, one after the other; problems if one fails, or if something of
// the flood is gone afterwards.
async function live(isOver = () => false, n = rounds) {
    const problems = [];
    for (let i = 0; i < n; i++) {
        const ready = await anybody.ask('GET', '/readyz');
        if (ready.status !== 200) problems.push(`/readyz: ${ready.status} ${ready.text}`);
        const read = await bob.ask('GET', `${maps}/shared`);
        if (read.status !== 200) problems.push(`a read: ${read.status} ${read.text}`);
        const headers = { 'content-type': 'application/merge-patch+json' };
        const write = await bob.ask('PATCH', `${maps}/shared`, { data: { i: `${i}` } }, headers);
        if (write.status !== 200) problems.push(`a write: ${write.status} ${write.text}`);
    }
    if (isOver()) problems.push('the flood was cut');
    return problems;
}

const request = (path, token = tokens.ann) =>
    `GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\n\r\n`;

// Sends the request on one connection, a batch ahead of its answers, and counts these by status:
// until it is told that it may end, or has sent as many as it ever will.
class Stream {
    constructor(text, most, batch) {
        this.most = most;
        this.batch = batch;
        this.mayEnd = false;
        this.counts = {};
        this.answered = 0;
        this.sent = 0;
        this.rest = '';
        this.text = text;
        this.raw = new RawConnection({ port });
        this.raw.socket.removeAllListeners('data');
        this.done = new Promise((resolve, reject) => {
            this.raw.socket.on('data', (data) => this.take(data.toString('latin1'), resolve));
            const cut = () => reject(new Error('a connection of the flood was cut'));
            this.raw.socket.on('close', cut);
        });
        this.done.catch(() => {}); // who waits for it is told
        this.push();
    }

    push() {
        this.raw.send(this.text.repeat(this.batch));
        this.sent += this.batch;
    }

    take(data, resolve) {
        const text = this.rest + data;
        for (const [, status] of text.matchAll(/HTTP\/1\.1 ([0-9]{3}) [^\r]*\r\n/g)) {
            this.counts[status] = (this.counts[status] ?? 0) + 1;
            this.answered++;
        }
        const end = text.lastIndexOf('\n');
        this.rest = text.slice(end + 1).slice(-64); // half a status line, at most
        if (this.answered < this.sent) return;
        if (!this.mayEnd && this.answered < this.most) {
            this.push();
        } else {
            this.close();
            resolve();
        }
    }

    close() {
        this.raw.socket.removeAllListeners('close');
        this.raw.close();
    }
}

// Others live while the streams flow; how that went, and the answers of the streams by status.
async function liveBeside(streams) {
    const total = () => streams.reduce((sum, { answered }) => sum + answered, 0);
    if (!(await untilTrue(() => streams.every(({ answered }) => answered > 0), 60)))
        return { problems: ['the flood did not begin'], counts: {} };
    const atFirst = total();
    const isOver = () => streams.every(({ answered, most }) => answered >= most);
    const problems = await live(isOver);
    const atLast = total();
    for (const one of streams) one.mayEnd = true;
    await Promise.all(streams.map(({ done }) => done));
    if (!(atFirst < atLast && atLast < total()))
        problems.push(`no flood: ${atFirst} answers before, ${atLast} then, ${total()} at last`);
    const counts = {};
    for (const one of streams)
        for (const [status, n] of Object.entries(one.counts))
            counts[status] = (counts[status] ?? 0) + n;
    return { problems, counts };
}

const flood = (connections, each, text) =>
    liveBeside(Array.from({ length: connections }, () => new Stream(text, each, 5)));

// A program of the benchmarks, which does faster what it does than this one could: a flood, or the
// vigil beside it.
class Program {
    constructor(mode, user, options) {
        const settings = Object.entries({ seconds: 600, ...options });
        const words = settings.flatMap(([name, value]) => [`--${name}`, `${value}`]);
        const known = ['--server', door.http, '--token', tokens[user]];
        const stdio = ['ignore', 'pipe', 'inherit'];
        // A flood has what CPU the others leave: its machine would be another.
        const niceness = ['-n', mode === 'vigil' ? '0' : '19'];
        const line = [...niceness, loadProgram, mode, ...known, ...words];
        this.child = spawn('nice', line, { stdio });
        this.text = '';
        this.over = false;
        this.child.stdout.on('data', (data) => (this.text += data));
        this.done = new Promise((resolve) => this.child.on('close', () => resolve(this.end())));
    }

    // Its last line, which says what it has done.
    end() {
        this.over = true;
        const line = this.text.trim().split('\n').at(-1);
        return line.startsWith('{') ? JSON.parse(line) : { right: false, said: this.text };
    }

    async isReady() {
        return (await untilTrue(() => this.over || this.text.startsWith('ready'))) && !this.over;
    }

    stop() {
        this.child.kill();
        return this.done;
    }
}

// How long /readyz took meanwhile is said, and not judged: whatever else runs on the machine is in
// it. `make bench` does that.
async function keepVigil() {
    const vigil = new Program('vigil', 'bob', { objects: 1 });
    await vigil.isReady();
    return async (problems) => {
        const seen = await vigil.stop();
        for (const [name, at] of [['kept', 'ready_ms'], ['new', 'fresh_ms']]) {
            const { n, p50, p99, max } = seen[at] ?? {};
            const times = `p50 ${p50}, p99 ${p99}, max ${max} ms`;
            console.log(`# /readyz on a ${name} connection: ${n} times, ${times}`);
        }
        if (!seen.right || !seen.served) problems.push(JSON.stringify(seen));
    };
}

// Others live beside a flood until all of it has been answered.
async function liveThrough(flood) {
    const endVigil = await keepVigil();
    if (!(await flood.isReady())) return { problems: ['the flood did not begin'], result: {} };
    const problems = await live(() => flood.over);
    flood.child.kill(); // it may end, when it has done what it is to do
    while (!flood.over) problems.push(...(await live(() => false, 1)));
    await endVigil(problems);
    const result = await flood.done;
    console.log(`# ${JSON.stringify(result)}`);
    return { problems, result };
}

// ---- requests ----

await must(root, 201, 'POST', maps, configMap('load-0'));
const many = { clients: 500, requests: 30000, ahead: 4, objects: 1 };
const asking = await liveThrough(new Program('requests', 'ann', many));
tap('30,000 requests of one user on 500 connections: others are served', asking.problems);
const { answers, good, refused, right } = asking.result;
const inOrder = right && answers >= 30000 && good + refused === answers && good > 0;
tap('and each of them is answered, or refused in good order', wrong(inOrder, asking.result));

// ---- resets ----

const storm = { clients: 50, requests: 30000, path: maps };
const resetting = await liveThrough(new Program('resets', 'ann', storm));
tap('30,000 requests that are taken back at once: others are served', resetting.problems);
const { resets, ended, told } = resetting.result;
const calmed = resets >= 30000 && ended >= storm.clients && told > 0;
tap('and who does that is told to go', wrong(calmed, resetting.result));

// ---- bad tokens ----

const failures = 'authentication_attempts_total{result="failure"}';
const before = await metric(failures);
const guessed = `vdt_${'A'.repeat(43)}`;
const bad = await flood(50, 2000, request(maps, guessed));
tap('bad tokens on 50 connections: others are served meanwhile', bad.problems);
const all401 = Object.keys(bad.counts).join() === '401' && bad.counts[401] >= 250;
tap('and all are 401', wrong(all401, bad.counts));
const counted = (await metric(failures)) - before;
tap('and are counted', wrong(counted === bad.counts[401], counted));
fs.writeFileSync(`${folder}/refused`, `${bad.counts[401]}\n`);

// ---- handshakes ----

let stopped = false;
let shaken = 0;
const shakers = Array.from({ length: 64 }, async () => {
    while (!stopped)
        await new Promise((resolve) => {
            const socket = tls.connect({ port: tlsPort, host: '127.0.0.1', ca: door.ca });
            const finish = () => (socket.destroy(), resolve());
            socket.on('secureConnect', () => (shaken++, finish()));
            socket.on('error', finish);
        });
});
const begun = await untilTrue(() => shaken > 64);
const shakenBefore = shaken;
const shaking = await live();
const shakenMeanwhile = shaken - shakenBefore;
stopped = true;
await Promise.all(shakers);
tap('a flood of handshakes: others are served meanwhile', shaking);
tap('and it was one', wrong(begun && shakenMeanwhile > 0, { shakenBefore, shakenMeanwhile }));

// ---- slow watches ----

const endVigil = await keepVigil();
const options = { watchers: watches_n, path: maps, 'receive-buffer': 4096 };
const slow = new Program('slow', 'ann', options);
const arriving = [];
while (!slow.over && !slow.text.startsWith('ready')) arriving.push(...(await live(() => false, 1)));
const { watches } = await usageOf('ann');
tap(`${watches_n} watches of one user are open`, wrong(watches === watches_n, watches));
const isCut = () => slow.over;
arriving.push(...(await live(isCut)));
tap('that nobody reads: others are served meanwhile', arriving);
let writes = 0;
const parked = async () => {
    const { text } = await must(root, 200, 'GET', '/metrics');
    const lines = text.split('\n').filter((line) => /^watch_watchers\{.*parked/.test(line));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};
while ((await parked()) < watches_n && writes < 400)
    await must(bob, 201, 'POST', maps, configMap(`fat-${writes++}`, 'x'.repeat(20000)));
const full = await parked();
tap('events flow until all queues are full', wrong(full === watches_n, { full, writes }));
const served = await live(isCut);
await endVigil(served);
tap('and then, too', served);
const mb = residentMb();
tap(`memory stays below ${resident_mb_max} MB`, mb < resident_mb_max ? [] : [`${mb} MB`]);
const stood = await slow.stop();
tap('all of them stood', wrong(stood.open === watches_n && !stood.refused, stood));
const left = await untilTrue(async () => (await usageOf('ann')).watches === 0, 60);
tap('they leave nothing behind', wrong(left, await usageOf('ann')));

// ---- lists ----

for (let i = 0; i < 20; i++)
    await must(root, 201, 'POST', maps, configMap(`large-${i}`, 'x'.repeat(100000)));
const idlers = Array.from({ length: 150 }, () => new Stream(request(maps), 1, 1));
for (const { raw } of idlers) raw.socket.pause(); // these never read
const listers = Array.from({ length: 10 }, () => new Stream(request(maps), 5000, 1));
const listing = await liveBeside(listers);
tap('large lists on 160 connections: others are served meanwhile', listing.problems);
const odd = Object.keys(listing.counts).filter((status) => status !== '200' && status !== '429');
tap('lists are answered, or refused in good order', odd);
const { queuedBytes } = await usageOf('ann');
tap('what waits for those who do not read is bounded', wrong(queuedBytes < 128 << 20, queuedBytes));
const listMb = residentMb();
tap(`memory stays below ${resident_mb_max} MB`, listMb < resident_mb_max ? [] : [`${listMb} MB`]);
for (const one of idlers) one.close();
const free = await untilTrue(async () => {
    const { requests, queuedBytes: bytes } = await usageOf('ann');
    return requests === 0 && bytes === 0;
}, 60);
tap('and nothing is left of it', free ? [] : [JSON.stringify(await usageOf('ann'))]);
tapEnd();
