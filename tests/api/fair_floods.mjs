// Floods: whatever one user does, /readyz answers and another user reads and writes while it goes
// on. Nothing here measures time: the flood goes on until the others have been served.
import tls from 'node:tls';
import {
    bindCrew, clientOf, configMap, door, maps, metric, must, port, residentMb, root, tlsPort,
    tokens, usageOf, wrong,
} from './fair_setting.mjs';
import { RawConnection } from './raw_client.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const rounds = 20;
const resident_mb_max = 700;

await bindCrew();
await must(root, 201, 'POST', maps, configMap('shared'));
const [bob, anybody] = [clientOf('bob'), clientOf(null)];

// Rounds of another user's life, one after the other; problems if one fails, or if something of
// the flood is gone afterwards.
async function live(isOver = () => false) {
    const problems = [];
    for (let i = 0; i < rounds; i++) {
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
// so many times, and on until it is told that it may end.
class Stream {
    constructor(text, total, batch = 20) {
        this.total = total;
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
        if (!this.mayEnd || this.answered < this.total) {
            this.push();
        } else {
            this.raw.socket.removeAllListeners('close');
            this.raw.close();
            resolve();
        }
    }
}

async function flood(connections, each, text) {
    const streams = Array.from({ length: connections }, () => new Stream(text, each));
    const all = Promise.all(streams.map(({ done }) => done));
    const problems = await live();
    for (const one of streams) one.mayEnd = true;
    await all;
    const counts = {};
    for (const one of streams)
        for (const [status, n] of Object.entries(one.counts))
            counts[status] = (counts[status] ?? 0) + n;
    return { problems, counts };
}

// ---- requests ----

const hundredThousand = await flood(50, 2000, request(`${maps}/shared`));
tap('100,000 requests of one user: others are served meanwhile', hundredThousand.problems);
const { 200: good = 0, 429: refused = 0 } = hundredThousand.counts;
const allAnswered = good > 0 && good + refused >= 100000;
tap('and each of them is answered', wrong(allAnswered, hundredThousand.counts));

// ---- bad tokens ----

const failures = 'authentication_attempts_total{result="failure"}';
const before = await metric(failures);
const guessed = `vdt_${'A'.repeat(43)}`;
const bad = await flood(20, 1000, request(maps, guessed));
tap('20,000 bad tokens: others are served meanwhile', bad.problems);
const all401 = Object.keys(bad.counts).join() === '401' && bad.counts[401] >= 20000;
tap('and all are 401', wrong(all401, bad.counts));
const counted = (await metric(failures)) - before;
tap('and are counted', wrong(counted === bad.counts[401], counted));

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
const shaking = await live();
await untilTrue(() => shaken > 200);
stopped = true;
await Promise.all(shakers);
tap('a flood of handshakes: others are served meanwhile', shaking);
tap('and it was one', shaken > 200 ? [] : [`${shaken}`]);

// ---- slow watches ----

const slow = [];
for (let i = 0; i < 5000; i += 250) {
    const open = () => new RawConnection({ port }).send(request(`${maps}?watch=1`));
    const some = Array.from({ length: 250 }, open);
    for (const one of some) {
        await one.until(() => one.received.includes('HTTP/1.1 200'));
        one.socket.pause();
    }
    slow.push(...some);
}
const { watches } = await usageOf('ann');
tap('5,000 watches of one user are open', watches === 5000 ? [] : [`${watches}`]);
const isCut = () => slow.some(({ ended }) => ended);
tap('that nobody reads: others are served meanwhile', await live(isCut));
for (let i = 0; i < 20; i++)
    await must(bob, 201, 'POST', maps, configMap(`fat-${i}`, 'x'.repeat(2000)));
tap('and fatter writes, too', await live(isCut));
const mb = residentMb();
tap(`memory stays below ${resident_mb_max} MB`, mb < resident_mb_max ? [] : [`${mb} MB`]);
for (const one of slow) one.close();
const left = await untilTrue(async () => (await usageOf('ann')).watches === 0, 60);
tap('they leave nothing behind', wrong(left, await usageOf('ann')));

// ---- lists ----

for (let i = 0; i < 40; i++)
    await must(root, 201, 'POST', maps, configMap(`large-${i}`, 'x'.repeat(100000)));
const lists = Array.from({ length: 200 }, () => new Stream(request(maps), 3, 1));
for (const { raw } of lists.slice(100)) raw.socket.pause(); // these never read
for (const one of lists) one.mayEnd = true; // the others would keep this very process busy
const reading = Promise.all(lists.slice(0, 100).map(({ done }) => done));
tap('200 connections of large lists: others are served meanwhile', await live());
await reading;
const statuses = new Set(lists.slice(0, 100).flatMap(({ counts }) => Object.keys(counts)));
const odd = [...statuses].filter((status) => status !== '200' && status !== '429');
tap('lists are answered, or refused in good order', odd);
const { queuedBytes } = await usageOf('ann');
tap('what waits for those who do not read is bounded', wrong(queuedBytes < 128 << 20, queuedBytes));
const listMb = residentMb();
tap(`memory stays below ${resident_mb_max} MB`, listMb < resident_mb_max ? [] : [`${listMb} MB`]);
for (const { raw } of lists) {
    raw.socket.removeAllListeners('close');
    raw.close();
}
const free = await untilTrue(async () => {
    const { requests, queuedBytes: bytes } = await usageOf('ann');
    return requests === 0 && bytes === 0;
}, 60);
tap('and nothing is left of it', free ? [] : [JSON.stringify(await usageOf('ann'))]);
tapEnd();
