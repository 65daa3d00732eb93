// The limits of users over HTTP/2, where one connection has many requests, and maybe several users:
// user-requests 20, user-watches 50.
import fs from 'node:fs';
import { connect } from 'node:http2';
import {
    bindCrew, configMap, door, folder, maps, must, root, tokens, usageOf, wrong,
} from './fair_setting.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

await bindCrew();

function open(settings = {}) {
    const session = connect(door.http, { settings, peerMaxConcurrentStreams: 250 });
    session.on('error', () => {}); // its requests tell
    return session;
}

// A request: its stream, and its answer when it has begun.
function request(session, user, path) {
    const headers = { ':path': path, authorization: `Bearer ${tokens[user]}` };
    const stream = session.request(headers);
    const answer = new Promise((resolve, reject) => {
        stream.on('response', resolve);
        stream.on('error', reject);
        stream.on('close', () => reject(new Error('the stream was closed')));
    });
    answer.catch(() => {}); // who waits for it is told
    return { stream, answer };
}

async function ask(session, user, path) {
    const { stream, answer } = request(session, user, path);
    const parts = [];
    stream.on('data', (part) => parts.push(part));
    const ended = new Promise((resolve) => stream.on('end', resolve));
    const headers = await answer;
    await ended;
    return { status: headers[':status'], headers, text: Buffer.concat(parts).toString() };
}

const is = ({ status, text }, want) => wrong(status === want, { status, text });
const usageIs = (what, n) => untilTrue(async () => (await usageOf('ann'))?.[what] === n);
const nothing = async (what) => wrong(await usageIs(what, 0), await usageOf('ann'));

// ---- requests in flight ----

// A get of a version that is to come waits for it: some seconds in flight.
const { json: list } = await must(root, 200, 'GET', `${maps}?limit=1`);
const version = Number(list.metadata.resourceVersion);
const later = `${maps}/none?resourceVersion=${version + 1000000}`;
const one = open();
const waiting = Array.from({ length: 20 }, () => request(one, 'ann', later));
tap('twenty streams are in flight', wrong(await usageIs('requests', 20), await usageOf('ann')));
const refused = await ask(one, 'ann', maps);
tap('one more is 429', is(refused, 429));
const id = refused.headers['audit-id'];
const events = () =>
    fs.readFileSync(`${folder}/audit.log`, 'utf8').split('\n').slice(0, -1).map(JSON.parse);
const eventOf = () => events().find(({ auditID }) => auditID === id);
await untilTrue(() => id && eventOf());
const event = id && eventOf();
const told = event?.responseStatus?.code === 429 && event.user.username === 'ann';
tap('which the audit log tells, by the id in the answer', wrong(told, event ?? { id }));
tap('another user of the connection has his own', is(await ask(one, 'bob', maps), 200));
tap('after whom it is still too many', is(await ask(one, 'ann', maps), 429));
waiting[0].stream.close();
tap('a stream that is reset', wrong(await usageIs('requests', 19), await usageOf('ann')));
one.destroy();
tap('and a connection that ends hold nothing', await nothing('requests'));

// ---- watches ----

const watchPath = `${maps}?watch=1&resourceVersion=${version}`;
const two = open();
const watches = [];
const bad = [];
for (let i = 0; i < 50; i++) { // one by one: until they are open they are requests
    watches.push(request(two, 'ann', watchPath));
    const { ':status': got } = await watches[i].answer;
    if (got !== 200) bad.push(`${got}`);
}
tap('fifty watches are open', bad);
tap('one more is 429', is(await ask(two, 'ann', watchPath), 429));
watches[0].stream.close();
await usageIs('watches', 49);
const next = request(two, 'ann', watchPath);
const { ':status': status } = await next.answer;
tap('when one ends, another may begin', wrong(status === 200, status));
two.destroy();
tap('they hold nothing afterwards', await nothing('watches'));

// ---- bytes that wait ----

// Without a window, what is sent waits with its stream.
const three = open({ initialWindowSize: 0 });
// Each has a filter of its own, so that none shares its bytes with another.
const own = Array.from({ length: 3 }, (_, i) => `${watchPath}&labelSelector=!none${i}`);
const closed = own.map((path) => request(three, 'ann', path));
await Promise.all(closed.map(({ answer }) => answer));
await must(root, 201, 'POST', maps, configMap('big', 'x'.repeat(100000)));
const queued = async () => (await usageOf('ann')).queuedBytes;
await untilTrue(async () => (await queued()) >= 300000);
const waits = await queued();
tap('what waits with streams is counted, once', wrong(waits >= 300000 && waits < 330000, waits));
closed[0].stream.close();
await untilTrue(async () => (await queued()) < 300000);
const rest = await queued();
tap('not that of a stream that was reset', wrong(rest >= 200000 && rest < 220000, rest));
three.settings({ initialWindowSize: 1048576 });
let received = 0;
for (const { stream } of closed.slice(1)) stream.on('data', (part) => (received += part.length));
await untilTrue(() => received >= 200000);
tap('when it has been read, nothing waits', await nothing('queuedBytes'));
three.destroy();
tap('and nothing is left', await nothing('watches'));
const four = open({ initialWindowSize: 0 });
const { json: now } = await must(root, 200, 'GET', `${maps}?limit=1`);
const newest = `${maps}?watch=1&resourceVersion=${now.metadata.resourceVersion}`;
const equal = Array.from({ length: 3 }, () => request(four, 'ann', newest));
await Promise.all(equal.map(({ answer }) => answer));
await must(root, 201, 'POST', maps, configMap('another', 'x'.repeat(100000)));
await untilTrue(async () => (await queued()) >= 100000);
const shared = await queued();
tap('what streams share is held once, and counted so', wrong(shared < 110000, shared));
four.destroy();
tapEnd();
