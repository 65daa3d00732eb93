// What hostile clients do to a server's memory, by name. Each attack opens connections that stay
// until it is over (clients.mjs). `large` of the setting is an object of about a megabyte, of which
// there are `setting.objects`; `scale` says how many connections there are of everything.
import { maps } from '../api/fair_setting.mjs';
import { again, dribbling, halfShaken, request, socket, times, unread, windowless } from './clients.mjs';

export const large = `${maps}/large-0`;

// A kind whose objects are larger than what a turn decodes, and older than the default in their
// schema: each time they are shown, a worker has to decode them.
const definition = (properties) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.hostile.example.com' },
    spec: {
        group: 'hostile.example.com',
        scope: 'Namespaced',
        names: { kind: 'Thing', plural: 'things' },
        versions: [
            {
                name: 'v1',
                served: true,
                storage: true,
                additionalPrinterColumns: [{ name: 'n', type: 'string', jsonPath: '.spec.n' }],
                schema: {
                    openAPIV3Schema: {
                        type: 'object',
                        properties: {
                            spec: {
                                type: 'object',
                                'x-kubernetes-preserve-unknown-fields': true,
                                properties,
                            },
                        },
                    },
                },
            },
        ],
    },
});

// The writes that make such objects: [method, path, body, status].
export function olderThings(n, length) {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const thing = (i) => ({
        apiVersion: 'hostile.example.com/v1',
        kind: 'Thing',
        metadata: { name: `thing-${i}` },
        spec: { list: times(length / 20, (j) => `value number ${j % 10}`) },
    });
    const { spec } = definition({ late: { type: 'string', default: 'yes' } });
    const rbac = 'rbac.authorization.k8s.io';
    const role = {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRole',
        metadata: { name: 'things' },
        rules: [{ apiGroups: ['hostile.example.com'], resources: ['things'], verbs: ['*'] }],
    };
    const binding = {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'things' },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'things' },
        subjects: [{ apiGroup: rbac, kind: 'Group', name: 'crew' }],
    };
    return [
        ['POST', definitions, definition({}), 201],
        ['POST', `/apis/${rbac}/v1/clusterroles`, role, 201],
        ['POST', `/apis/${rbac}/v1/clusterrolebindings`, binding, 201],
        ...times(n, (i) => ['POST', things, thing(i), 201]),
        ['PATCH', `${definitions}/things.hostile.example.com`, { spec }, 200],
    ];
}
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const things = '/apis/hostile.example.com/v1/namespaces/default/things';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const partials = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const discovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const get = (path, headers) => request('GET', path, { headers });
const watch = (query) => `${maps}?watch=1&${query}`;
const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const post = { ':method': 'POST', 'content-type': 'application/json' };
const wrong = `Bearer vdt_${'A'.repeat(43)}`;
const BODY = 2_900_000;

function patch(type, body, query = '') {
    const headers = { 'content-type': `application/${type}` };
    return request('PATCH', `${large}${query}`, { headers, body });
}

const configMap = (text) =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'new-' }, data: { text } });

// The head of a request with a body that is still to come.
function head({ token, length = BODY, chunked = false } = {}) {
    const framing = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
    return request('POST', maps, { token, headers: { 'content-type': 'application/json', ...framing } });
}

// So many uploads of which all but the last byte comes.
function bodies(n, options) {
    const part = Buffer.alloc(BODY - 1, 0x20);
    for (const one of times(n, () => socket())) {
        one.write(head(options));
        one.write(part);
    }
}

const selector = encodeURIComponent(`x in (${times(600, (i) => `v${i}`).join(',')})`);

// What of the worst case an attack can make use of; see the terms in worst_case.mjs.
export function usesOf(name) {
    const uses = {
        list: /list|table|watch|deletion|vanish|byte at a time/,
        work: /patch|appl|creation|table|watch|older/,
        body: /bod|creation|vanish/,
        strangers: /stranger|head|handshake/,
    };
    return Object.keys(uses).filter((use) => uses[use].test(name));
}

export const attacks = {
    'lists': (n) => unread(n, get(maps)),
    'lists over TLS': (n) => unread(n, get(maps), { secure: true }),
    'lists over HTTP/2 with window 0': () => windowless(100, maps),
    'lists that are pipelined': (n) => unread(n, get(maps), { pipelined: 20 }),
    'compressed lists': () => unread(5, get(maps, { 'accept-encoding': 'gzip' }), { pipelined: 4 }),
    'tables with whole objects': (n) =>
        unread(n, get(`${maps}?includeObject=Object`, { accept: table }), { pipelined: 4 }),
    'lists of metadata': (n) => unread(n, get(maps, { accept: partials }), { pipelined: 50 }),
    'huge selectors': (n) => unread(n, get(`${maps}?labelSelector=${selector}`), { pipelined: 20 }),
    'gets': (n) => unread(3 * n, get(large), { pipelined: 10 }),
    'gets over TLS': (n) => unread(n, get(large), { pipelined: 10, secure: true }),
    'gets over HTTP/2 with window 0': () => times(3, () => windowless(200, large)),
    'watches from a revision': (n, { revision }) =>
        unread(2 * n, get(watch(`resourceVersion=${revision}`))),
    'watches with a snapshot': (n) => unread(2 * n, get(watch('resourceVersion=0'))),
    'watches with a snapshot over TLS': (n) =>
        unread(n, get(watch('resourceVersion=0')), { secure: true }),
    'watches with a snapshot over HTTP/2 with window 0': () =>
        windowless(200, watch('resourceVersion=0')),
    'watches with initial events': (n) => unread(2 * n, get(watch(initial))),
    'watches as tables': (n) =>
        unread(2 * n, get(watch('resourceVersion=0&includeObject=Object'), { accept: table })),
    'watches of metadata': (n) => unread(2 * n, get(watch('resourceVersion=0'), { accept: partial })),
    'watches with huge selectors': (n, { revision }) =>
        unread(2 * n, get(watch(`resourceVersion=${revision}&labelSelector=${selector}`))),
    'tables of custom objects': (n) => unread(4 * n, get(things, { accept: table })),
    'tables of custom objects over HTTP/2 with window 0': () =>
        windowless(200, things, { accept: table }),
    'lists of objects that are older than their schema': () => windowless(200, things),
    'gets of objects that are older than their schema': () => windowless(200, `${things}/thing-0`),
    'watches of objects that are older than their schema': () =>
        windowless(200, `${things}?watch=1&resourceVersion=0`),
    'OpenAPI v2': (n) => unread(n, get('/openapi/v2'), { pipelined: 20 }),
    'OpenAPI v3': (n) => unread(n, get('/openapi/v3/api/v1'), { pipelined: 20 }),
    'aggregated discovery': (n) => unread(n, get('/apis', { accept: discovery }), { pipelined: 200 }),
    'JSON patches': (n) =>
        unread(n, patch('json-patch+json', '[{"op":"add","path":"/data/a","value":"1"}]'), {
            pipelined: 5,
        }),
    'merge patches': (n) => unread(n, patch('merge-patch+json', '{"data":{"a":"2"}}'), { pipelined: 5 }),
    'strategic patches': (n) =>
        unread(n, patch('strategic-merge-patch+json', '{"data":{"a":"3"}}'), { pipelined: 5 }),
    'applies': (n) =>
        unread(
            n,
            patch(
                'apply-patch+yaml',
                '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large-0"},"data":{"b":"1"}}',
                '?fieldManager=hostile&force=true',
            ),
            { pipelined: 5 },
        ),
    'creations of large objects': (n) =>
        unread(
            n,
            request('POST', `${maps}?dryRun=All`, {
                headers: { 'content-type': 'application/json' },
                body: configMap('x'.repeat(900_000)),
            }),
        ),
    'creations over HTTP/2 with window 0': () =>
        windowless(
            100,
            `${maps}?dryRun=All`,
            post,
            configMap('x'.repeat(900_000)),
        ),
    'deletions of a collection': () =>
        unread(20, request('DELETE', `${maps}?dryRun=All`, { body: '' })),
    'readers of a byte at a time': (n) => dribbling(n, get(maps)),
    'clients that vanish in the middle': (n) => {
        let batch = [];
        again(20, () => {
            for (const one of batch) one.resetAndDestroy();
            batch = unread(n, get(maps)) && times(5, () => socket());
            for (const one of batch) one.write(get(maps) + head() + ' '.repeat(100_000));
        });
    },
    'slow bodies': (n) => {
        const all = times(4 * n, () => socket());
        for (const one of all) one.write(head());
        again(20, () => all.forEach((one) => one.write(' '.repeat(1000))));
    },
    'bodies that are never whole': (n) => bodies(3 * n),
    'bodies that are longer than they say': (n) =>
        times(4 * n, () => socket().write(head({ length: 100 }) + 'x'.repeat(500_000))),
    'chunked bodies that never end': (n) => {
        const all = times(4 * n, () => socket());
        for (const one of all) one.write(head({ chunked: true }));
        again(10, () => all.forEach((one) => one.write(`4000\r\n${' '.repeat(0x4000)}\r\n`)));
    },
    'heads that never end': (n) => {
        const all = times(4 * n, () => socket());
        for (const one of all) one.write('GET /api HTTP/1.1\r\nhost: h\r\n');
        let line = 0;
        again(10, () => {
            if (line++ < 8)
                for (const one of all) one.write(`x-${line}: ${'y'.repeat(7500)}\r\n`);
        });
    },
    'handshakes of TLS that stop half-way': (n) => {
        const hello = Buffer.from('1603010200010001fc0303', 'hex');
        times(8 * n, () => halfShaken(hello));
    },
    'bodies over HTTP/2 that are never whole': () =>
        times(4, () => windowless(250, maps, post, ' '.repeat(1_000_000), false)),
    'bodies of strangers over HTTP/2': () =>
        times(4, () => windowless(250, maps, { ...post, authorization: wrong }, ' '.repeat(500_000))),
    'bodies of strangers': () => bodies(300, { token: null }),
    'bodies of strangers with a wrong token': () => bodies(300, { token: wrong.split(' ')[1] }),
    'requests of strangers who read nothing': (n) =>
        unread(8 * n, request('GET', '/api', { token: null }), { pipelined: 1000 }),
};
