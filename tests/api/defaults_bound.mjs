// Defaults that multiply, on the way in and on the way out, while another user is served.
//
//   node defaults_bound.mjs SERVER DATA [limited]    SERVER is a `vedette`; limited: in memory
import fs from 'node:fs';
import { Worker } from 'node:worker_threads';
import zlib from 'node:zlib';
import { ApiClient } from './api_client.mjs';
import { ServerProcess } from './server_process.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const [binary, data, limited] = process.argv.slice(2);
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const kinds = '/apis/example.com/v1';
const mergePatch = { 'content-type': 'application/merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };
const applyPatch = { 'content-type': 'application/apply-patch+yaml' };
const yaml = { 'content-type': 'application/yaml' };
const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
const megabyte = 'x'.repeat(1000000);
const wait_max_ms = limited ? 500 : 5000; // without a limit it is a slow, sanitized build

const wrong = (good, found) => (good ? [] : [(JSON.stringify(found) ?? 'it is not').slice(0, 500)]);
const text = { type: 'string' };
const object = (properties, more = {}) => ({ type: 'object', properties, ...more });
const list = (items, more = {}) => ({ type: 'array', items, ...more });
// Lists in lists, each with a default of a hundred empty objects.
const nest = (depth) =>
    depth
        ? object({ a: list(nest(depth - 1), { default: Array(100).fill({}) }) })
        : object({ x: { ...text, default: 'y' } });

const definition = (plural, spec, version = {}) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural, kind: plural },
        versions: [
            {
                name: 'v1',
                served: true,
                storage: true,
                subresources: { status: {} },
                schema: { openAPIV3Schema: object({ spec, status: object({ s: text }) }) },
                ...version,
            },
        ],
    },
});

// An object whose spec.list has so many items, as text: JSON.stringify would take its time.
const things = (kind, name, n, item = '{}', metadata = '') =>
    `{"apiVersion":"example.com/v1","kind":"${kind}","metadata":{"name":"${name}"${metadata}},` +
    `"spec":{"list":[${Array(n).fill(item).join(',')}]}}`;

// Another user, who reads one small thing after the other on a thread of his own.
class Neighbour {
    constructor(port, token) {
        const code = `
            const { parentPort, workerData } = require('node:worker_threads');
            const http = require('node:http');
            const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
            const headers = { authorization: 'Bearer ' + workerData.token };
            const options = { port: workerData.port, path: '/api/v1/namespaces', agent, headers };
            let [served, longest, failed] = [0, 0, 0];
            parentPort.on('message', () => {
                parentPort.postMessage({ served, longest, failed });
                [served, longest, failed] = [0, 0, 0];
            });
            (function next() {
                const start = performance.now();
                const over = (good) => {
                    good ? served++ : failed++;
                    longest = Math.max(longest, performance.now() - start);
                    setTimeout(next, 1);
                };
                const request = http.get(options, (response) => {
                    response.resume();
                    response.on('end', () => over(response.statusCode === 200));
                });
                request.on('error', () => over(false));
            })();`;
        this.worker = new Worker(code, { eval: true, workerData: { port, token } });
    }

    // How he has fared since the last time.
    fared() {
        return new Promise((resolve) => {
            this.worker.once('message', resolve);
            this.worker.postMessage('');
        });
    }

    async leave() {
        await this.worker.terminate();
    }
}

fs.mkdirSync(data);
const server = new ServerProcess(binary, data, ['--threads', '1']);
const tokens = {
    root: server.token('root', 'system:masters'),
    bob: server.token('bob', 'system:masters'),
};
let client, neighbour;

async function start() {
    await server.start();
    const door = { http: `http://127.0.0.1:${server.http.port}` };
    client = new ApiClient(door, { token: tokens.root });
    neighbour = new Neighbour(server.http.port, tokens.bob);
    await untilTrue(async () => (await neighbour.fared()).served > 0);
}

async function stop() {
    await neighbour.leave();
    client.close();
    await server.stop('SIGTERM');
}

// The answer to a request must have this status and name these; the neighbour is served meanwhile.
async function expect(name, status, words, ...request) {
    await neighbour.fared();
    const answer = await Promise.race([client.ask(...request), server.death]);
    const { longest, failed } = await neighbour.fared();
    const said = words.every((word) => answer.text.includes(word));
    tap(name, [
        ...wrong(answer.status === status && said, [answer.status, answer.text.slice(0, 300)]),
        ...wrong(longest < wait_max_ms && !failed, { longest, failed }),
    ]);
    return answer;
}

async function define(document) {
    const { status, text: said } = await client.ask('POST', definitions, document);
    if (status !== 201) throw new Error(said.slice(0, 500));
}

// The events of a watch until it ends.
async function watched(path) {
    const events = [];
    const watch = await client.watch(path, (event) => events.push(event));
    await watch.ended;
    return events;
}

const defaultOf = (field, value) =>
    JSON.stringify([
        {
            op: 'add',
            path:
                '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/list/items/' +
                `properties/${field}/default`,
            value,
        },
    ]);

// What is asked of an object whose defaults have become too much, and of its neighbours.
async function checkStored(when) {
    const words = ['lives.example.com', 'big', '3145728'];
    const lives = `${kinds}/lives`;
    await expect(`${when}: get says which object it is`, 500, words, 'GET', `${lives}/big`);
    await expect(`${when}: so does a list`, 500, words, 'GET', lives);
    await expect(`${when}: and a page`, 500, words, 'GET', `${lives}?limit=500`);
    await expect(`${when}: and a table`, 500, words, 'GET', lives, undefined, table);
    await expect(`${when}: and a list as YAML`, 500, words, 'GET', lives, undefined, {
        accept: 'application/yaml',
    });
    const label = '{"metadata":{"labels":{"a":"b"}}}';
    await expect(`${when}: and a patch`, 413, words, 'PATCH', `${lives}/big`, label, mergePatch);
    const status = '{"status":{"s":"t"}}';
    const at = `${lives}/big/status`;
    await expect(`${when}: and one of status`, 413, words, 'PATCH', at, status, mergePatch);
    const config = things('lives', 'big', 20000);
    const apply = `${lives}/big?fieldManager=f&force=true`;
    await expect(`${when}: and an apply`, 413, words, 'PATCH', apply, config, applyPatch);
    await expect(`${when}: and a dry run`, 413, words, 'POST', `${lives}?dryRun=All`, config);
    const events = await watched(`${lives}?watch=1&resourceVersion=0`);
    const last = events.at(-1);
    tap(
        `${when}: a watch ends with an error that names it`,
        wrong(
            last?.type === 'ERROR' && words.every((word) => last.object.message.includes(word)),
            last,
        ),
    );
    await expect(`${when}: others of its kind are read`, 200, ['xxx'], 'GET', `${lives}/fine`);
    await expect(`${when}: and watched`, 200, [],
        'GET', `${lives}?fieldSelector=metadata.name%3Dfine`);
    await expect(`${when}: and other kinds`, 200, ['plain'], 'GET', `${kinds}/plains/plain`);
}

await start();

// ---- on the way in ----
const bomb = object({ t: { ...text, default: megabyte } });
await define(definition('bombs', object({ list: list(bomb) })));
await expect('a default of 1 MB for each of 20,000 items is refused', 413,
    ['the defaults of bombs.example.com', '\\"bomb\\"', '3145728'],
    'POST', `${kinds}/bombs`, things('bombs', 'bomb', 20000));
await expect('also by an apply', 413, ['the defaults of bombs.example.com'],
    'PATCH', `${kinds}/bombs/bomb?fieldManager=f`, things('bombs', 'bomb', 20000), applyPatch);
await expect('also in YAML', 413, ['the defaults of bombs.example.com'],
    'POST', `${kinds}/bombs`, things('bombs', 'bomb', 20000), yaml);
await expect('four are too many', 413, ['3145728'],
    'POST', `${kinds}/bombs`, things('bombs', 'bomb', 4));
await expect('three fit', 201, [megabyte], 'POST', `${kinds}/bombs`, things('bombs', 'bomb', 3));
await expect('nested defaults that multiply are refused with their definition', 422,
    ['properties[a].default', '3145728'],
    'POST', definitions, definition('nests', object({ n: nest(4) })));
await expect('fewer of them are good', 201, [],
    'POST', definitions, definition('nests', object({ n: nest(2) })));

// ---- ordinary schemas and 2.7 MB of empty objects ----
const ordinary = object({
    name: { ...text, default: 'x' },
    protocol: { ...text, enum: ['TCP', 'UDP'], default: 'TCP' },
    port: { type: 'integer', minimum: 1, default: 80 },
    on: { type: 'boolean', default: true },
    more: object({ e: { ...text, default: 'q' } }, { default: {} }),
});
const plain = object({ name: text, port: { type: 'integer' } });
const picky = object({ a: text, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] });
await define(definition('ordinaries', object({ list: list(ordinary) })));
await define(definition('plains', object({ list: list(plain) })));
await define(definition('pickies', object({ list: list(picky) })));
await define(definition('keyed', object({
    list: list(object({ name: text }, { required: ['name'] }), {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
    }),
})));
const n = 900000;
await expect('what defaults make too large is refused soon', 413, ['3145728'],
    'POST', `${kinds}/ordinaries`, things('ordinaries', 'o', n));
await expect('2.7 MB without defaults are stored', 201, [],
    'POST', `${kinds}/plains`, things('plains', 'large', n));
await expect('and patched', 200, [],
    'PATCH', `${kinds}/plains/large`, '{"metadata":{"labels":{"a":"b"}}}', mergePatch);
await expect('and applied', 200, [], 'PATCH', `${kinds}/plains/large?fieldManager=f&force=true`,
    things('plains', 'large', n), applyPatch);
await expect('and shown as YAML', 200, [],
    'GET', `${kinds}/plains/large`, undefined, { accept: 'application/yaml' });
await expect('and deleted', 200, [], 'DELETE', `${kinds}/plains/large`);
await expect('900,000 reasons to refuse an object are told', 422, ['anyOf'],
    'POST', `${kinds}/pickies`, things('pickies', 'p', n));
await expect('keys that are missing, too', 422, ['Required value'],
    'POST', `${kinds}/keyed`, things('keyed', 'k', n));

// ---- watches of large objects that each version shows in its own way ----
const two = definition('twos', object({ list: list(plain), more: { ...text, default: 'm' } }));
const [one] = two.spec.versions;
const later = object({ spec: object({ list: list(plain), later: text }) });
two.spec.versions.push({ ...one, name: 'v2', storage: false, schema: { openAPIV3Schema: later } });
await define(two);
const second = '/apis/example.com/v2/twos';
const watchers = [];
for (let i = 0; i < 10; i++) {
    const events = [];
    const watch = await client.watch(`${second}?watch=1`, (event) => events.push(event));
    watchers.push({ events, watch });
}
const order = ['large1', 'small1', 'large2', 'small2', 'large3'];
for (const name of order) {
    const items = name.startsWith('large') ? 300000 : 1;
    const body = things('twos', name, items);
    await expect(`${name} is created, and watched`, 201, [], 'POST', `${kinds}/twos`, body);
}
await untilTrue(async () => watchers.every(({ events }) => events.length >= order.length));
const shown = watchers.map(({ events }) =>
    events.map(({ type, object: { metadata, spec } }) => `${type} ${metadata.name} ${spec.more}`),
);
const wanted = order.map((name) => `ADDED ${name} undefined`);
tap('every watch sees them all, in order, without what its version does not know',
    shown.flatMap((events) => wrong(`${events}` === `${wanted}`, events)));
for (const { watch } of watchers) watch.stop();
const initial = [];
const query =
    'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
await neighbour.fared();
const first = await client.watch(`${second}?${query}`, (event) => initial.push(event));
await untilTrue(async () => initial.some(({ type }) => type === 'BOOKMARK'));
first.stop();
const { longest: initialWait } = await neighbour.fared();
tap('the bookmark of the initial events comes behind them', wrong(
    `${initial.map(({ type }) => type)}` === 'ADDED,ADDED,ADDED,ADDED,ADDED,BOOKMARK' &&
    initialWait < wait_max_ms, [initial.map(({ type }) => type), initialWait]));

// ---- writes whose answers a worker has to show ----
const large4 = things('twos', 'large4', 300000).replace('example.com/v1', 'example.com/v2');
await expect('a dry run through the other version', 201, ['large4'],
    'POST', `${second}?dryRun=All`, large4);
const made = await expect('a large object through it, once', 201, ['large4'],
    'POST', second, large4);
const same = large4.replace('"name":"large4"',
    `"name":"large4","labels":{"a":"b"},"resourceVersion":"${made.json.metadata.resourceVersion}"`);
await expect('it is put, once', 200, ['"a":"b"'], 'PUT', `${second}/large4`, same);
await expect('and not again', 409, [], 'PUT', `${second}/large4`, same);
const account = '/api/v1/namespaces/default/serviceaccounts';
await expect('a large account', 201, [], 'POST', account, JSON.stringify({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'large', annotations: { a: 'x'.repeat(200000) } },
}));
await expect('gets a token', 201, ['token'], 'POST', `${account}/large/token`,
    '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":[]}}');

// ---- lists of which a worker makes the pieces ----
const all = [...order, 'large4'].sort();
const names = [];
let next = '';
do {
    const { json: page } = await client.ask('GET', `${second}?limit=2&continue=${next}`);
    names.push(...page.items.map(({ metadata }) => metadata.name));
    next = page.metadata.continue ?? '';
} while (next);
tap('pages have each object once', wrong(`${names}` === `${all}`, names));
const plainly = async (path) => (await client.ask('GET', path)).json;
const zipped = (path) =>
    new Promise((resolve, reject) => {
        const headers = { ...client.headers, 'accept-encoding': 'gzip' };
        const request = client.open('GET', path, headers, (response) => {
            const chunks = [];
            const unzip = response.pipe(zlib.createGunzip());
            unzip.on('data', (chunk) => chunks.push(chunk));
            unzip.on('end', () => resolve(JSON.parse(Buffer.concat(chunks))));
            unzip.on('error', reject);
        });
        request.on('error', reject);
        request.end();
    });
for (const read of [plainly, zipped]) {
    const { items } = await read(second);
    const listed = items.map(({ metadata, spec }) => `${metadata.name} ${spec.more}`);
    tap('a list has each object once, without what its version does not know',
        wrong(`${listed}` === `${all.map((name) => `${name} undefined`)}`, listed));
}

// ---- columns ----
const columns = (length, jsonPath) =>
    Array.from({ length }, (unused, i) => ({ name: `c${i}`, type: 'string', jsonPath }));
await define(definition('wides', object({ list: list(plain) }), {
    additionalPrinterColumns: [
        ...columns(100, '.spec'),
        ...columns(100, '.spec.list[?(@.name=="x")].port'),
    ],
}));
await expect('an object with many columns is stored', 201, [],
    'POST', `${kinds}/wides`, things('wides', 'w', n));
for (const path of [`${kinds}/wides`, `${kinds}/wides/w`]) {
    const answer = await expect('a table of large cells is cut', 200, ['...'],
        'GET', path, undefined, table);
    tap('and small', wrong(answer.text.length < 1000000, answer.text.length));
}

// ---- on the way out ----
await define(definition('lives', object({ list: list(object({ a: text })) })));
await client.ask('POST', `${kinds}/lives`, things('lives', 'big', 20000));
await client.ask('POST', `${kinds}/lives`, things('lives', 'fine', 1));
const held = things('lives', 'held', 20000, '{}', ',"finalizers":["a.b/c"]');
await client.ask('POST', `${kinds}/lives`, held);
await client.ask('POST', `${kinds}/plains`, things('plains', 'plain', 1));
await expect('a default is patched into a live definition', 200, [],
    'PATCH', `${definitions}/lives.example.com`, defaultOf('a', megabyte), jsonPatch);
await checkStored('at once');
await stop();
await start();
await checkStored('after a restart');

// ---- small objects that a default has made large, told together ----
await define(definition('grown', object({ list: list(object({ a: text })) })));
const many = Array.from({ length: 40 }, (unused, i) => `g${100 + i}`);
for (const name of many) await client.ask('POST', `${kinds}/grown`, things('grown', name, 90));
await expect('and so do small ones', 200, [],
    'PATCH', `${definitions}/grown.example.com`, defaultOf('a', 'x'.repeat(10000)), jsonPatch);
const grown = [];
const late = await client.watch(`${kinds}/grown?${query}`, ({ type, object: { metadata, spec } }) =>
    grown.push(`${type} ${metadata.name} ${spec?.list[89].a.length}`));
await untilTrue(async () => grown.some((event) => event.startsWith('BOOKMARK')));
late.stop();
const { longest: grownWait } = await neighbour.fared();
tap('a watch is told of small objects that have grown', wrong(
    `${grown.slice(0, -1)}` === `${many.map((name) => `ADDED ${name} 10000`)}` &&
    grownWait < wait_max_ms, [grown, grownWait]));

// ---- the way out of it ----
const live = await client.ask('GET', `${definitions}/lives.example.com`);
const before = live.json.metadata.resourceVersion;
await expect('such an object can be deleted', 200, [], 'DELETE', `${kinds}/lives/big`);
await expect('or be marked as deleted', 200, ['deletionTimestamp'],
    'DELETE', `${kinds}/lives/held`);
await expect('then the list is complete', 200, ['fine', 'held'], 'GET', `${kinds}/lives`);
const told = [];
const since = `${kinds}/lives?watch=1&resourceVersion=${before}`;
const watch = await client.watch(since, (event) => told.push(event));
await untilTrue(async () => told.length >= 2);
watch.stop();
const seen = told.map(({ type, object: { metadata } }) => `${type} ${metadata?.name}`);
tap('a watch tells of both', wrong(`${seen}` === 'DELETED big,MODIFIED held', seen));
await stop();
tapEnd();
