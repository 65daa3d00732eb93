// Complete after a gap. Clients with several filters follow the server and go away. Meanwhile
// objects go - deleted, deleted and made anew under their names, relabelled, held by finalizers, a
// whole namespace at once - the server is stopped or killed and started again, and compaction
// passes the clients' cursors. Each is told so once, lists again, and must then know exactly which
// of its objects are no more; the test knows that from the writers' answers alone. While they list
// by pages more objects go, and the window passes the pages.
//
//   node gap.mjs VEDETTE DIR
//
// Prints TAP. The seed is VEDETTE_SEED, or a new one.
import { Follower } from './gap_follower.mjs';
import { Random, seedOfRun } from './random.mjs';
import { Api, equal, fail, until, versionOf } from './rest.mjs';
import { ServerProcess } from './server_process.mjs';
import { tap, tapEnd } from './tap.mjs';

const [binary, folder] = process.argv.slice(2);
const seed = seedOfRun();
const random = new Random(seed);
console.log(`# VEDETTE_SEED=${seed}`);

const WINDOW = 60; // events
const ALL = '/api/v1/configmaps';
const pathOf = (namespace) => `/api/v1/namespaces/${namespace}/configmaps`;

const server = new ServerProcess(binary, `${folder}/data`, [
    ...['--window-events', WINDOW, '--tail-events', WINDOW / 4].map(String),
    ...['--watch-bookmark-period', '1s', '--access-log', 'off', '--log-level', 'warn'],
]);
let api;
async function startServer() {
    await server.start();
    api = new Api(server.tls);
}
async function restart(signal) {
    api.agent.destroy();
    await server.stop(signal);
    await startServer();
}

// ---- what is true, by the writers' answers ----

const alive = new Map(); // by uid: the object as it was last answered
const keep = (object) => alive.set(object.metadata.uid, object);
const at = ({ metadata }) => `${pathOf(metadata.namespace)}/${metadata.name}`;
const pickAlive = (namespace) =>
    random.pick([...alive.values()].filter(({ metadata: m }) => m.namespace === namespace));

let made = 0;
async function create(namespace, name = `object-${made++}`) {
    const metadata = { name, labels: { mine: 'yes', color: made % 2 ? 'red' : 'blue' } };
    keep(await api.post(pathOf(namespace), { kind: 'ConfigMap', metadata, data: { v: '0' } }));
}
async function change(object) {
    keep(await api.patch(at(object), { data: { v: `${random.below(1e6)}` } }));
}
async function recolour(object) {
    const color = object.metadata.labels.color === 'red' ? 'blue' : 'red';
    keep(await api.patch(at(object), { metadata: { labels: { color } } }));
}
async function remove(object) {
    await api.remove(at(object));
    alive.delete(object.metadata.uid);
}
async function replaceWithNamesake(object) {
    await remove(object);
    await create(object.metadata.namespace, object.metadata.name);
}
// Held back by a finalizer for a while.
async function removeLate(object) {
    await api.patch(at(object), { metadata: { finalizers: ['example.com/hold'] } });
    await api.remove(at(object));
    await api.patch(at(object), { metadata: { finalizers: null } });
    alive.delete(object.metadata.uid);
}
async function removeCollection(namespace, color) {
    const query = { labelSelector: `mine=yes,color=${color}` };
    const { items } = await api.good('DELETE', pathOf(namespace), query);
    for (const { metadata } of items) alive.delete(metadata.uid);
}
async function makeNamespace(name) {
    await api.post('/api/v1/namespaces', { kind: 'Namespace', metadata: { name } });
}
async function removeNamespace(name) {
    await api.remove(`/api/v1/namespaces/${name}`);
    const path = `/api/v1/namespaces/${name}`;
    await until(`the end of ${name}`, async () => (await api.call('GET', path)).status === 404);
    for (const [uid, { metadata }] of alive) if (metadata.namespace === name) alive.delete(uid);
}

// pass(VERSION): writes until the window has passed it.
async function pass(version) {
    const floor = () => api.metric('store_floor_revision');
    for (let i = 0; (await floor()) <= version; i++) {
        if (i > 5000) fail(`the window never passes ${version}`);
        await change(pickAlive('stays'));
    }
}
const now = async () => versionOf(await api.list(ALL, { limit: 1 }));

// ---- who follows ----

const mine = { labelSelector: 'mine=yes' };
const red = { labelSelector: 'mine=yes,color=red' };
const named = { ...mine, fieldSelector: 'metadata.name!=object-1' };
const isRed = ({ metadata }) => metadata.labels.color === 'red';
const filters = [
    { name: 'all', path: ALL, query: mine, matches: () => true },
    {
        name: 'a namespace',
        path: pathOf('stays'),
        query: mine,
        matches: ({ metadata }) => metadata.namespace === 'stays',
    },
    { name: 'a label', path: ALL, query: red, matches: isRed },
    {
        name: 'all names but one',
        path: ALL,
        query: named,
        matches: ({ metadata }) => metadata.name !== 'object-1',
    },
];
let comingBack = false;
let pagesPassed = 0;
// Between the first page and the second: an object goes that has been seen or not, and in half of
// the cases the window passes the pages. The list as such is of before, or begins anew.
async function betweenPages(follower) {
    if (!comingBack) return;
    if (pagesPassed++ % 2) await pass(await now());
    const [victim] = [...alive.values()].filter(follower.filter.matches);
    await remove(victim);
    await create('stays');
}
const followers = filters.flatMap((filter) =>
    ['whole', 'pages', 'watch'].map((relist) => new Follower(filter, relist, betweenPages)),
);

// ---- the story ----

async function away(round) {
    for (const what of [remove, replaceWithNamesake, removeLate, recolour, change]) {
        for (let i = 0; i < 3; i++) await what(pickAlive('stays'));
    }
    for (let i = 0; i < 12; i++) await create('stays');
    await removeCollection('busy', round % 2 ? 'red' : 'blue');
    await removeNamespace(`goes-${round}`);
    // One that nobody of those who are away has ever seen.
    await create('busy', 'short-lived');
    await remove([...alive.values()].find(({ metadata }) => metadata.name === 'short-lived'));
}

async function prepare(round) {
    await makeNamespace(`goes-${round}`);
    for (let i = 0; i < 5; i++) await create(`goes-${round}`);
    for (let i = 0; i < 5; i++) await create('busy');
}

const sorted = (map) => [...map.values()].sort((a, b) => (at(a) < at(b) ? -1 : 1));
const expected = ({ filter }) => sorted(alive).filter(filter.matches);

async function sameAsTrue(follower) {
    equal(sorted(follower.copy), expected(follower), `${follower.filter.name}: the copy`);
    const { items } = await api.list(follower.filter.path, follower.filter.query);
    const listed = new Map(items.map((object) => [object.metadata.uid, object]));
    equal(sorted(follower.copy), sorted(listed), 'the list');
}

// Comes back after the gap; `problems` gets what is wrong, by what was promised.
async function comeBack(follower, problems) {
    const noting = async (list, run) => {
        try {
            await run();
        } catch (error) {
            list.push(`${follower.filter.name} (${follower.relist}): ${error.stack}`);
        }
    };
    await noting(problems.expired, () => follower.expires(api));
    const before = [...follower.copy.values()];
    const stillThere = (object) => {
        const current = alive.get(object.metadata.uid);
        return current && follower.filter.matches(current);
    };
    // What is taken away between pages is told by the watch that follows, or, if the pages began
    // anew, by the list: so much is added to what the list must say.
    const lost = before.filter((object) => !stillThere(object)).map((o) => o.metadata.uid);
    if (!lost.length) problems.told.push(`${follower.filter.name}: nothing was lost`);
    let told;
    await noting(problems.told, async () => {
        told = await follower.list(api);
        const atMost = before.filter((object) => !stillThere(object)).map((o) => o.metadata.uid);
        const missing = lost.filter((uid) => !told.includes(uid));
        const invented = told.filter((uid) => !atMost.includes(uid));
        equal([missing, invented], [[], []], 'missing and invented deletions');
    });
    await noting(problems.copy, async () => {
        const one = random.pick(expected(follower));
        await change(one);
        await follower.follow(api, versionOf(alive.get(one.metadata.uid)));
        await sameAsTrue(follower);
    });
    return told?.length ?? 0;
}

async function catchUp(follower, version, problems) {
    if (follower.cursor < (await api.metric('store_floor_revision'))) await follower.list(api);
    await follower.follow(api, version);
    await sameAsTrue(follower).catch((error) => problems.synced.push(error.stack));
}

async function story() {
    const problems = { synced: [], expired: [], told: [], copy: [] };
    let told = 0;
    const ways = [[], ['SIGTERM'], ['SIGKILL'], ['SIGTERM', 'SIGKILL', 'SIGKILL']];
    await startServer();
    await makeNamespace('stays');
    await makeNamespace('busy');
    for (let i = 0; i < 12; i++) await create('stays');
    for (const follower of followers) await follower.list(api);
    for (const [round, [before, between, after]] of ways.entries()) {
        await prepare(round);
        const version = await now();
        await Promise.all(followers.map((follower) => catchUp(follower, version, problems)));
        const cursors = followers.map(({ cursor }) => cursor);
        if (before) await restart(before);
        await away(round);
        if (between) await restart(between);
        await pass(Math.max(...cursors));
        if (after) await restart(after);
        comingBack = true;
        for (const follower of followers) told += await comeBack(follower, problems);
        comingBack = false;
    }
    return { problems, told };
}

const { problems, told } = await Promise.race([story(), server.death]);
await server.stop('SIGTERM');
tap('clients that follow have what the server has', problems.synced);
tap('a cursor that the window has passed gets one 410', problems.expired);
tap(`a list after it tells of every deletion that was missed (${told})`, problems.told);
tap('what the clients have is what there is, and they follow on', problems.copy);
tapEnd();
