// Streams and rights: a watch of every kind that discovery lists, and watches whose right comes in
// each of the ways in which rights come. Each right is then taken away, and its watch must end with
// 403 in Kubernetes' words within 5 s; who has another right stays, and gets what is written
// afterwards. (recheck_test.sh has the plain cases, and credentials that end.)
//
//   node stream_rights.mjs FOLDER HTTP HTTPS    FOLDER has ca.crt, tokens.json, cora.crt, cora.key
import fs from 'node:fs';
import { ApiClient } from './api_client.mjs';
import { binding, role, subjectOf } from './matrix_policy.mjs';
import { refusalOf } from './rbac_model.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const [folder, httpUrl, httpsUrl] = process.argv.slice(2);
const file = (name) => fs.readFileSync(`${folder}/${name}`, 'utf8');
const door = { http: httpUrl, https: httpsUrl, ca: file('ca.crt') };
const tokens = JSON.parse(file('tokens.json'));
const root = new ApiClient(door, { token: tokens.root });
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const space = 'default';
const ends_s = 5;

function pathOf({ kind, metadata }) {
    const where = metadata.namespace ? `/namespaces/${metadata.namespace}` : '';
    return `${rbac}${where}/${kind.toLowerCase()}s`;
}

async function must(status, method, path, body, headers) {
    const answer = await root.ask(method, path, body, headers);
    if (answer.status !== status)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
}
const make = (object) => must(201, 'POST', pathOf(object), object);
const remove = (object) => must(200, 'DELETE', `${pathOf(object)}/${object.metadata.name}`);
const mend = (object, patch) =>
    must(200, 'PATCH', `${pathOf(object)}/${object.metadata.name}`, patch, {
        'content-type': 'application/merge-patch+json',
    });

const watchRule = (more) => ({
    verbs: ['watch'],
    apiGroups: [''],
    resources: ['configmaps'],
    ...more,
});
const here = { group: '', resource: 'configmaps', subresource: '', name: '', namespace: space };
const everywhere = { ...here, namespace: '' };

// ---- ways to have a right, and to lose it ----

// Each: a name, the objects that give the right, what is watched, how it is lost.
const user = (name) => subjectOf('User', name);
function ways() {
    const list = [];
    const add = (name, objects, lose, more = {}) =>
        list.push({
            name,
            objects,
            lose,
            watched: here,
            user: { name },
            credential: { token: tokens[name] },
            ...more,
        });

    const edited = role('edited', [watchRule()], space);
    add('edited', [edited, binding('edited', user('edited'), 'edited', space, 'Role')], () =>
        mend(edited, { rules: [watchRule({ verbs: ['get', 'list'] })] }),
    );

    const wide = role('wide', [watchRule()]);
    add('wide', [wide, binding('wide', user('wide'), 'wide')], () => mend(wide, { rules: [] }), {
        watched: everywhere,
    });

    const narrow = role('narrow', [watchRule({ resourceNames: ['a', 'b'] })], space);
    add(
        'narrow',
        [narrow, binding('narrow', user('narrow'), 'narrow', space, 'Role')],
        () => mend(narrow, { rules: [watchRule({ resourceNames: ['b'] })] }),
        { watched: { ...here, name: 'a' } },
    );

    const through = role('through', [watchRule()]);
    add(
        'through',
        [through, binding('through', user('through'), 'through', space)],
        () => remove(through),
        {
            because: ': RBAC: clusterrole.rbac.authorization.k8s.io "through" not found',
        },
    );

    const global = binding('global', user('global'), 'all-configmaps');
    add('global', [global], () => remove(global), { watched: everywhere });

    const dropped = binding('dropped', user('dropped'), 'all-configmaps', space);
    add('dropped', [dropped], () => mend(dropped, { subjects: [user('somebody-else')] }));

    const club = binding('club', subjectOf('Group', 'club'), 'all-configmaps', space);
    add('member', [club], () => remove(club));

    const crew = binding('crew', subjectOf('Group', 'crew'), 'all-configmaps', space);
    add('cora', [crew], () => remove(crew), {
        credential: { cert: file('cora.crt'), key: file('cora.key') },
    });

    const robots = binding(
        'robots',
        subjectOf('ServiceAccount', 'robot', space),
        'all-configmaps',
        space,
    );
    add('robot', [robots], () => remove(robots), {
        user: { name: `system:serviceaccount:${space}:robot` },
        account: 'robot',
    });

    const olds = binding('olds', user('olds'), 'all-configmaps', space);
    add('olds', [olds], () => remove(olds), { old: true });

    const table = binding('table', user('table'), 'all-configmaps', space);
    add('table', [table], () => remove(table), {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });

    const some = binding('some', user('some'), 'all-configmaps', space);
    add('some', [some], () => remove(some), {
        query: '&labelSelector=app&allowWatchBookmarks=true',
    });
    return list;
}

function watchPath({ namespace, name }, { old, query = '' }) {
    const where = namespace ? `/namespaces/${namespace}` : '';
    if (old) return `/api/v1/watch${where}/configmaps`;
    const only = name ? `&fieldSelector=metadata.name%3D${name}` : '';
    return `/api/v1${where}/configmaps?watch=1${only}${query}`;
}

// A watch that has begun: {events, open, ended}.
async function begin(client, path) {
    const stream = { events: [], open: true };
    const answer = await client.watch(path, (event) => stream.events.push(event));
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    answer.ended.then((complete) => {
        stream.open = false;
        stream.complete = complete;
    });
    return stream;
}

async function credentialOf(way) {
    if (!way.account) return way.credential;
    const json = await must(
        201,
        'POST',
        `/api/v1/namespaces/${space}/serviceaccounts/${way.account}/token`,
        { spec: {} },
    );
    return { token: json.status.token };
}

async function beginWay(way) {
    for (const object of way.objects) await make(object);
    const client = new ApiClient(door, await credentialOf(way));
    await untilTrue(async () => (await client.ask('GET', '/api')).status === 200);
    if (way.accept) client.headers.accept = way.accept;
    return begin(client, watchPath(way.watched, way));
}

// What is wrong with the end of a stream that lost its right.
async function endOf(stream, code, message) {
    if (!(await untilTrue(() => !stream.open, ends_s))) return [`still open after ${ends_s} s`];
    const last = stream.events.at(-1);
    const problems = [];
    if (!stream.complete) problems.push('it was cut off');
    if (last?.type !== 'ERROR' || last.object.code !== code || last.object.kind !== 'Status')
        problems.push(`the last event is ${JSON.stringify(last)}`);
    else if (message && last.object.message !== message)
        problems.push(`${last.object.message}, not ${message}`);
    return problems;
}

// ---- the test ----

await untilTrue(async () => (await root.ask('GET', '/api')).status === 200);
const all = role('all-configmaps', [watchRule()]);
await make(all);
await must(201, 'POST', `/api/v1/namespaces/${space}/serviceaccounts`, {
    metadata: { name: 'robot' },
});
const put = (name) =>
    must(201, 'POST', `/api/v1/namespaces/${space}/configmaps`, {
        metadata: { name, labels: { app: name } },
    });
await put('a');
const has = (stream, name) =>
    stream.events.some(
        ({ object }) =>
            object.metadata?.name === name || JSON.stringify(object).includes(`"${name}"`),
    );

// Somebody with two rights to the same, who loses one of them.
const [twice, again] = ['twice', 'again'].map((name) =>
    binding(name, user('twice'), 'all-configmaps', space),
);
await make(twice);
await make(again);
const keeper = new ApiClient(door, { token: tokens.twice });
await untilTrue(async () => (await keeper.ask('GET', '/api')).status === 200);
const kept = await begin(keeper, watchPath(here, {}));
await remove(again);

async function loseWay({ way, stream }) {
    await way.lose();
    const message = refusalOf(way.user, { verb: 'watch', ...way.watched }) + (way.because ?? '');
    return endOf(stream, 403, message);
}

async function tryAgain({ way }) {
    const client = new ApiClient(door, await credentialOf(way));
    const answer = await client.watch(watchPath(way.watched, way));
    client.close();
    return answer.status === 403 ? [] : [`${answer.status}`];
}

const begun = [];
for (const way of ways()) {
    const stream = await beginWay(way);
    begun.push({ way, stream });
    tap(
        `${way.name}: the watch begins`,
        (await untilTrue(() => has(stream, 'a'))) ? [] : ['it shows nothing'],
    );
}
const losses = await Promise.all(begun.map(loseWay));
for (const [i, { way }] of begun.entries()) {
    tap(`${way.name}: 403 ends it`, losses[i]);
    tap(`${way.name}: it does not begin again`, await tryAgain(begun[i]));
}

// A watch of every kind, by one rule, which goes.
const { json: groups } = await root.ask('GET', '/apis');
const versions = [
    '/api/v1',
    ...groups.groups.flatMap((g) => g.versions.map((v) => `/apis/${v.groupVersion}`)),
];
const every = role('every', [watchRule({ apiGroups: ['*'], resources: ['*'] })]);
await make(every);
await make(binding('every', user('every'), 'every'));
const watcher = new ApiClient(door, { token: tokens.every });
watcher.agent.maxSockets = Infinity;
const streams = [];
for (const prefix of versions) {
    const { resources } = await must(200, 'GET', prefix);
    const group = prefix.startsWith('/apis/') ? prefix.split('/')[2] : '';
    for (const { name, verbs } of resources) {
        if (!verbs.includes('watch')) continue;
        const stream = await begin(watcher, `${prefix}/${name}?watch=1`);
        streams.push({ stream, q: { ...everywhere, verb: 'watch', group, resource: name } });
    }
}
tap('every kind can be watched', streams.length > 8 ? [] : [`${streams.length} streams`]);
await mend(every, { rules: [watchRule({ verbs: ['list'], apiGroups: ['*'], resources: ['*'] })] });
const ends = await Promise.all(
    streams.map(async ({ stream, q }) => [
        q,
        await endOf(stream, 403, refusalOf({ name: 'every' }, q)),
    ]),
);
for (const [q, problems] of ends) tap(`${q.group} ${q.resource}: 403 ends its watch`, problems);

// What has still a right has missed nothing.
tap('one right of two is enough', kept.open ? [] : ['it ended']);
await put('after');
tap(
    'and what comes is delivered',
    (await untilTrue(() => has(kept, 'after'))) ? [] : ['nothing came'],
);
await remove(twice);
tap(
    'without the second it ends',
    await endOf(kept, 403, refusalOf({ name: 'twice' }, { verb: 'watch', ...here })),
);
tapEnd();
