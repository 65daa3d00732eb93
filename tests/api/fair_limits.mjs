// The limits of users, each at its value and one past it, on a server whose limits are small:
// user-requests 20, user-watches 50, user-queued-bytes 1 MiB, requests 40.
import {
    bindCrew, clientOf, configMap, maps, metric, must, port, root, tokens, usageOf, wrong,
} from './fair_setting.mjs';
import { RawConnection } from './raw_client.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const message = 'Too many requests, please try again later.';

// What is wrong with an answer that should be a 429.
function not429(answer) {
    const problems = [];
    if (answer.status !== 429) return [`status ${answer.status}: ${answer.text.slice(0, 300)}`];
    const { json, headers } = answer;
    if (headers['retry-after'] !== '1') problems.push(`Retry-After: ${headers['retry-after']}`);
    if (json?.kind !== 'Status' || json.status !== 'Failure') problems.push('no Status');
    if (json?.reason !== 'TooManyRequests') problems.push(`reason ${json?.reason}`);
    if (json?.code !== 429) problems.push(`code ${json?.code}`);
    if (json?.message !== message) problems.push(`message ${json?.message}`);
    if (json?.details?.retryAfterSeconds !== 1) problems.push('no retryAfterSeconds');
    return problems;
}
const is = ({ status, text }, want) =>
    wrong(status === want, { status, text: text?.slice(0, 300) });
const refusals = (list) => list.filter(({ status }) => status !== 200).map(({ text }) => text);

await bindCrew();
const [ann, bob, cem, kim] = ['ann', 'bob', 'cem', 'kim'].map((user) => clientOf(user));

// ---- watches ----

const watchPath = `${maps}?watch=1&timeoutSeconds=600`;
async function open(client, n) {
    const streams = [];
    for (let i = 0; i < n; i++) streams.push(await client.watch(watchPath));
    return streams;
}
const annAgents = Array.from({ length: 2 }, () => clientOf('ann'));
const streams = (await Promise.all(annAgents.map((client) => open(client, 25)))).flat();
tap('fifty watches of a user are open', refusals(streams));
tap('one more is 429, in Kubernetes\' words', not429(await ann.watch(watchPath)));
const bobs = await bob.watch(watchPath);
tap('another user has his own', is(bobs, 200));
const roots = await open(clientOf('root', 100), 60);
tap('an administrator is not bound by it', refusals(roots));
const rejected = 'apiserver_flowcontrol_rejected_requests_total{reason="user-watches"}';
tap('it is counted by the limit', wrong((await metric(rejected)) === 1));
tap('and by the user', wrong((await metric('user_refused_total{user="ann"}')) === 1));
const watches = (await usageOf('ann')).watches;
tap('her watches are seen', watches === 50 ? [] : [`${watches}`]);
const gauge = await metric('user_watches{user="ann"}');
tap('in the metrics, too', gauge === 50 ? [] : [`${gauge}`]);
streams[0].stop();
const reopened = await untilTrue(async () => {
    const one = await ann.watch(watchPath);
    if (one.status === 200) streams.push(one);
    return one.status === 200;
});
tap('when one ends, another may begin', reopened ? [] : ['it may not']);
for (const stream of [...streams, ...roots, bobs]) stream.stop();
const let_go = await untilTrue(async () => (await usageOf('ann')).watches <= 1);
tap('those that ended hold nothing', let_go ? [] : [`${(await usageOf('ann')).watches}`]);

// ---- requests in flight ----

// A get of a version that is to come waits for it: some seconds in flight.
const later = async () => {
    const { json } = await must(root, 200, 'GET', `${maps}?limit=1`);
    return `${maps}/none?resourceVersion=${Number(json.metadata.resourceVersion) + 1000000}`;
};
const wait = async (client, n) => {
    const path = await later();
    return Array.from({ length: n }, () => client.ask('GET', path));
};
const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/none';

// What others are told while requests wait. On a busy machine some of these are answered before
// the last question is asked; then nothing was shown, and it is done again.
async function askBeside() {
    const waiting = [];
    let answered = 0;
    const begin = async (client, user, n) => {
        for (const one of await wait(client, n)) waiting.push(one.finally(() => answered++));
        return untilTrue(async () => (await usageOf(user)).requests === n || answered > 0);
    };
    const told = [];
    const inFlight = await begin(ann, 'ann', 20);
    told.push(['twenty requests of a user are in flight', wrong(inFlight, await usageOf('ann'))]);
    told.push(['one more is 429', not429(await clientOf('ann').ask('GET', maps))]);
    told.push(['health is not asked who', is(await ann.ask('GET', '/readyz'), 200)]);
    told.push(['another user is served', is(await bob.ask('GET', maps), 200)]);
    await begin(bob, 'bob', 10);
    told.push(['thirty of forty are for anybody', not429(await cem.ask('GET', maps))]);
    told.push(['the rest for monitoring', is(await kim.ask('GET', '/metrics'), 200)]);
    told.push(['and administrators', is(await root.ask('GET', maps), 200)]);
    told.push(['and for leases', is(await cem.ask('GET', lease), 404)]);
    const isShown = answered === 0;
    const late = (await Promise.all(waiting)).filter(({ status }) => status !== 504);
    told.push(['who waited is answered', late.map(({ text }) => text)]);
    return { told, isShown };
}
let beside = await askBeside();
for (let i = 0; i < 10 && !beside.isShown; i++) beside = await askBeside();
for (const [name, problems] of beside.told) tap(name, problems);
tap('and asks again', is(await ann.ask('GET', maps), 200));
const after = await usageOf('ann');
tap('nothing is left in flight', after.requests === 0 ? [] : [`${after.requests}`]);

// Who speaks for others does so on his own account.
const asHers = Array.from({ length: 20 }, () => later().then((path) => cem.ask('GET', path)));
await untilTrue(async () => (await usageOf('cem'))?.requests === 20);
tap(
    'speaking for another is charged to who speaks',
    not429(await clientOf('cem').ask('GET', maps, undefined, { 'impersonate-user': 'bob' })),
);
await Promise.all(asHers);

// ---- bytes that wait ----

const head = (user, path) =>
    `GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${tokens[user]}\r\n\r\n`;
const { json: now } = await must(root, 200, 'GET', `${maps}?limit=1`);
const from = `${maps}?watch=1&resourceVersion=${now.metadata.resourceVersion}`;
// Each has a filter of its own: what several share is held, and counted, once.
const slow = Array.from({ length: 20 }, (_, i) =>
    new RawConnection({ port }).send(head('ann', `${from}&labelSelector=!none${i}`)),
);
await untilTrue(async () => (await usageOf('ann')).watches >= 20);
for (const { socket } of slow) socket.pause();
const seen = [];
const quick = await ann.watch(from, ({ object }) => seen.push(object.metadata.name));
const names = [];
const limit = 1048576;
const queued = async () => (await usageOf('ann')).queuedBytes;
for (let i = 0; i < 300 && (await queued()) < limit / 2; i++) {
    names.push(`big-${i}`);
    await must(root, 201, 'POST', maps, configMap(`big-${i}`, 'x'.repeat(100000)));
}
tap('what a user does not read waits', (await queued()) >= limit / 2 ? [] : [`${await queued()}`]);
for (let i = 0; i < 20; i++) {
    names.push(`more-${i}`);
    await must(root, 201, 'POST', maps, configMap(`more-${i}`, 'x'.repeat(100000)));
}
const all = (list) => names.filter((name) => !list.includes(name));
await untilTrue(() => !all(seen).length);
tap('her watch that reads has everything', all(seen));
// Each of the others has one event more than the limit, at most.
const most = limit + 21 * 110000;
tap('the others take no more', (await queued()) < most ? [] : [`${await queued()} bytes`]);
const lists = [];
while (lists.length < 15 && (await queued()) < limit) {
    const one = new RawConnection({ port });
    one.socket.pause();
    lists.push(one.send(head('ann', maps)));
    await untilTrue(async () => (await usageOf('ann')).requests === lists.length);
    const before = await queued();
    await untilTrue(async () => (await queued()) !== before, 1);
}
tap('lists that nobody reads bring it there', wrong((await queued()) >= limit, await queued()));
tap('then her lists are 429', not429(await ann.ask('GET', maps)));
tap('a single object is not', is(await ann.ask('GET', `${maps}/big-0`), 200));
tap('others list', is(await bob.ask('GET', `${maps}?limit=1`), 200));
for (const one of lists) one.close();
for (const { socket } of slow) socket.resume();
const named = /"metadata":\{"name":"([^"]*)"/g;
const lines = ({ received }) => [...received.toString('latin1').matchAll(named)].map((m) => m[1]);
const late = [];
for (const one of slow) {
    await one.until(() => one.received.includes(names.at(-1)), 60);
    late.push(...all(lines(one)).map((name) => `${name} is missing`));
    if (lines(one).join() !== names.join()) late.push('not in order');
}
tap('and lose nothing: they read on from the log', late);
const drained = await untilTrue(async () => (await usageOf('ann')).queuedBytes === 0);
tap('when all is read, nothing waits', drained ? [] : [JSON.stringify(await usageOf('ann'))]);
tap('and she lists again', is(await ann.ask('GET', `${maps}?limit=1`), 200));
quick.stop();
for (const one of slow) one.close(); // else they keep this process
tapEnd();
