// Every verb x kind x identity, over the running server.
//
// The kinds, their subresources and verbs are those that discovery lists. For each of them there
// are questions - a verb, in a namespace with rights, in one without, in all, with and without a
// name - which are put three times: as the request itself, as a SelfSubjectAccessReview, and to the
// rules that a SelfSubjectRulesReview shows. rbac_model.mjs says what the answers must be. The
// requests that pass have no effect: they are trials, or bodies that nobody can read.
//
//   node matrix.mjs FOLDER HTTP HTTPS     FOLDER has ca.crt, tokens.json, cora.crt, cora.key
import fs from 'node:fs';
import { ApiClient } from './api_client.mjs';
import {
    away,
    defaults,
    definitions,
    home,
    identities,
    made,
    resourceVerbs,
} from './matrix_policy.mjs';
import { allows, refusalOf, ruleAllows } from './rbac_model.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const [folder, httpUrl, httpsUrl] = process.argv.slice(2);
const file = (name) => fs.readFileSync(`${folder}/${name}`, 'utf8');
const door = { http: httpUrl, https: httpsUrl, ca: file('ca.crt') };
const tokens = JSON.parse(file('tokens.json'));
const policy = [...defaults, ...made];
const root = new ApiClient(door, { token: tokens.root });

// ---- what there is ----

async function kindsOf(groupVersion) {
    const prefix = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
    const group = groupVersion === 'v1' ? '' : groupVersion.split('/')[0];
    const { json } = await root.ask('GET', prefix);
    return json.resources.map(({ name, namespaced, verbs }) => {
        const [resource, subresource = ''] = name.split('/');
        return { prefix, group, resource, subresource, namespaced, verbs };
    });
}

async function discover() {
    const { json } = await root.ask('GET', '/apis');
    const versions = json.groups.flatMap((group) => group.versions.map((v) => v.groupVersion));
    return (await Promise.all(['v1', ...versions].map(kindsOf))).flat();
}

// ---- questions ----

const methods = {
    get: 'GET',
    list: 'GET',
    watch: 'GET',
    create: 'POST',
    update: 'PUT',
    patch: 'PATCH',
};
const methodOf = (verb) => methods[verb] ?? 'DELETE';

// How a question is put as a request.
function pathOf(kind, { verb, namespace, name }, old) {
    const space = kind.namespaced && namespace ? `/namespaces/${namespace}` : '';
    const inPath = name && (old || !['list', 'watch'].includes(verb));
    const path = [
        kind.prefix,
        old ? '/watch' : '',
        space,
        `/${kind.resource}`,
        inPath ? `/${name}` : '',
    ];
    const query = [];
    if (verb === 'watch' && !old) query.push('watch=1');
    if (name && !inPath) query.push(`fieldSelector=metadata.name%3D${name}`);
    if (methodOf(verb) !== 'GET') query.push('dryRun=All');
    if (verb === 'deletecollection') query.push('labelSelector=no%3Dsuch');
    const sub = kind.subresource ? `/${kind.subresource}` : '';
    return path.join('') + sub + (query.length ? `?${query.join('&')}` : '');
}

const named = ['get', 'update', 'patch', 'delete'];
const codes = {
    get: [200, 404],
    list: [200],
    watch: [200],
    create: [400],
    update: [400, 404],
    patch: [400, 404],
    delete: [200, 404],
    deletecollection: [200],
};

// Groups whose kinds behave as those of definitions.
const custom = ['matrix.example.com', 'catalog.gitstore.dev', 'git.vedette.dev'];

// The statuses of a request that may be made.
function codesOf(kind, { verb, namespace, name }, old) {
    const nowhere = kind.namespaced && !namespace;
    if (nowhere && name && (old || kind.subresource || named.includes(verb))) return [404];
    if (!kind.verbs.includes(verb)) return [405];
    if (nowhere && ['create', 'deletecollection'].includes(verb))
        return [custom.includes(kind.group) ? 404 : 405]; // as Kubernetes says of each
    return kind.subresource ? [...codes[verb], 404] : codes[verb];
}

function questionsAt(kind, place) {
    const names = kind.resource === 'namespaces' ? [home, away] : ['a', 'b'];
    const { group, resource, subresource } = kind;
    const questions = [];
    const add = (verb, name, old = false) => {
        const namespace =
            resource === 'namespaces' ? (old || named.includes(verb) ? name : '') : place;
        const q = { verb, group, resource, subresource, namespace, name };
        const ask = { path: pathOf(kind, q, old), codes: codesOf(kind, q, old) };
        if (resource === 'namespaces' && subresource) q.namespace = name;
        questions.push({ ...ask, q });
    };
    for (const verb of resourceVerbs) {
        if (subresource) {
            if (['list', 'watch', 'deletecollection'].includes(verb)) continue; // no path says so
            for (const name of names) add(verb, name);
        } else if (named.includes(verb)) {
            for (const name of names) add(verb, name);
        } else {
            add(verb, '');
            if (['list', 'watch'].includes(verb)) for (const name of names) add(verb, name);
            if (verb === 'watch') for (const name of ['', names[0]]) add(verb, name, true);
        }
    }
    return questions;
}

const questionsOf = (kind) =>
    (kind.namespaced ? [home, away, ''] : ['']).flatMap((place) => questionsAt(kind, place));

// ---- asking ----

function bodyOf(verb) {
    if (verb === 'create' || verb === 'update') return ['{', 'application/json'];
    return verb === 'patch' ? ['{', 'application/merge-patch+json'] : [];
}

async function request(client, { path, q }) {
    if (q.verb === 'watch') {
        const stream = await client.watch(path);
        stream.stop?.();
        return stream;
    }
    const [body, type] = bodyOf(q.verb);
    return client.ask(methodOf(q.verb), path, body, type && { 'content-type': type });
}

function judge(user, question, allowed, answer) {
    const { q } = question;
    const said = `${answer.status} ${answer.json?.message ?? answer.text ?? ''}`;
    if (user.by === 'nothing')
        return answer.status === 401 ? [] : [`without a credential: ${said}`];
    if (allowed)
        return question.codes.includes(answer.status)
            ? []
            : [`${question.codes.join(' or ')}, not ${said}`];
    const { message, reason, code, details = {} } = answer.json ?? {};
    const ok =
        answer.status === 403 &&
        code === 403 &&
        reason === 'Forbidden' &&
        message === refusalOf(user, q) &&
        (details.name ?? '') === q.name &&
        (details.group ?? '') === q.group &&
        details.kind === q.resource;
    return ok ? [] : [`403 ${refusalOf(user, q)}, not ${said}`];
}

async function review(client, user, q, allowed) {
    const spec = q.path === undefined ? { resourceAttributes: q } : { nonResourceAttributes: q };
    const { status, json } = await client.ask(
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec,
        },
    );
    if (user.by === 'nothing')
        return status === 401 ? [] : [`a review without a credential: ${status}`];
    const said = status === 201 && json.status.allowed;
    return said === allowed ? [] : [`a review says ${status} ${said}, not ${allowed}`];
}

async function rulesIn(client, namespace) {
    const { json } = await client.ask(
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
        {
            spec: { namespace },
        },
    );
    return [...json.status.resourceRules, ...json.status.nonResourceRules];
}

// Runs `work` for each item, some at a time.
async function each(items, work) {
    const rest = items.values();
    const run = async () => {
        for (const item of rest) await work(item);
    };
    await Promise.all(Array.from({ length: 16 }, run));
}

async function askOne(client, user, question, rules) {
    const { q } = question;
    const allowed = allows(policy, user, q);
    const found = judge(user, question, allowed, await request(client, question));
    found.push(...(await review(client, user, q, allowed)));
    const shown = rules[q.namespace]?.some((rule) => ruleAllows(rule, q)) ?? allowed;
    if (shown !== allowed) found.push(`the rules review says ${shown}`);
    return found.map((text) => `${q.verb} ${question.path}: ${text}`);
}

// The problems of each kind.
async function askAll(client, user, kinds, rules) {
    const problems = new Map(kinds.map((kind) => [kind, []]));
    const questions = kinds.flatMap((kind) =>
        questionsOf(kind).map((question) => ({ kind, ...question })),
    );
    await each(questions, async (question) => {
        problems.get(question.kind).push(...(await askOne(client, user, question, rules)));
    });
    return problems;
}

// ---- paths ----

const paths = [
    '/api',
    '/apis',
    '/api/v1',
    '/apis/apps',
    '/openapi/v3',
    '/version',
    '/metrics',
    '/metrics/slis',
    '/nothing',
    '/nothing/else',
    '/odd',
    '/oddity',
    '/api/v1/a/b/c/d/e',
    '/readyz/nothing',
];

async function askPaths(client, user) {
    const problems = [];
    const requests = paths.flatMap((path) =>
        ['GET', 'POST', 'DELETE'].map((method) => ({ path, method })),
    );
    await each(requests, async ({ path, method }) => {
        const q = { verb: method.toLowerCase(), path };
        const allowed = allows(policy, user, q);
        const answer = await client.ask(method, path);
        const codes = [200, 404, 405];
        const asked = { codes, q: { ...q, name: '', group: '', resource: undefined } };
        const found = judge(user, asked, allowed, answer);
        found.push(...(await review(client, user, q, allowed)));
        problems.push(...found.map((text) => `${method} ${path}: ${text}`));
    });
    return problems;
}

// ---- ways around ----

const rbacPath = '/apis/rbac.authorization.k8s.io/v1';
const evil = { metadata: { name: 'evil' } };
const byName = 'fieldSelector=metadata.name%3Da';
// A door that is open is no way through another: an apply that would create, at the main door or
// at a subresource; a write through another subresource, or of another object.
const gears = `/apis/matrix.example.com/v1/namespaces/${home}/gears`;
const gearOf = (name) => ({
    apiVersion: 'matrix.example.com/v1',
    kind: 'Gear',
    metadata: { name },
});
const gear = gearOf('a');
const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' } };
const applied = { 'content-type': 'application/apply-patch+yaml' };
const merged = { 'content-type': 'application/merge-patch+json' };
const asManager = 'fieldManager=m&force=true';
const gearWays = [
    ['only-patch', 'PATCH', `${gears}/new?${asManager}`, 403, gearOf('new'), applied],
    ['only-update', 'PUT', `${gears}/new`, 404, gearOf('new')],
    ['gear-status', 'PATCH', `${gears}/new/status?${asManager}`, 404, gearOf('new'), applied],
    ['gear-status', 'PATCH', `${gears}/a?${asManager}`, 403, gear, applied],
    ['gear-status', 'PATCH', `${gears}/a/status`, 200, { status: { size: 2 } }, merged],
    ['gear-status', 'PATCH', `${gears}/a/scale`, 403, { spec: { replicas: 2 } }, merged],
    ['gear-scale', 'PATCH', `${gears}/a/scale`, 200, { spec: { replicas: 2 } }, merged],
    ['gear-scale', 'PATCH', `${gears}/b/scale`, 403, { spec: { replicas: 2 } }, merged],
    ['gear-scale', 'PATCH', `${gears}/a/scale?${asManager}`, 200, scale, applied],
    ['gear-scale', 'PATCH', `${gears}/a/status`, 403, { status: {} }, merged],
    ['gear-owner', 'PATCH', `${gears}/a/status`, 403, { status: {} }, merged],
    ['gear-owner', 'PATCH', `${gears}/a/scale`, 403, { spec: { replicas: 3 } }, merged],
    ['gear-owner', 'PATCH', `${gears}/a`, 200, { spec: { color: 'red' } }, merged],
    ['gear-owner', 'GET', '/apis/matrix.example.com/v1/gears', 403],
    ['no-gears', 'GET', `${gears}/a`, 403],
];
// Who, what, the status: rights in a namespace, or to a name, that must not reach further.
const ways = [
    ['star', 'GET', `${rbacPath}/namespaces/${home}/clusterroles`, 404],
    ['star', 'POST', `${rbacPath}/namespaces/${home}/clusterroles`, 404, { ...evil, rules: [] }],
    ['star', 'DELETE', `${rbacPath}/namespaces/${home}/clusterroles/view`, 404],
    ['star', 'GET', `/api/v1/namespaces/${home}/namespaces`, 404],
    ['star', 'POST', `/api/v1/namespaces/${home}/namespaces`, 404, evil],
    ['star', 'GET', `/api/v1/namespaces/${home}/namespaces/${home}`, 404],
    ['star', 'GET', `/api/v1/namespaces/${home}/namespaces/${away}`, 403],
    ['star', 'GET', `/api/v1/watch/namespaces/${home}/namespaces`, 404],
    ['star', 'GET', `/api/v1/namespaces/${home}/../${away}/configmaps`, 400],
    ['star', 'GET', `/api/v1/namespaces/${home}/%2e%2e/${away}/configmaps`, 400],
    ['star', 'GET', `/api/v1/namespaces/${home}%2f..%2f${away}/configmaps`, 400],
    ['star', 'GET', `/api/v1/namespaces/${home}//configmaps`, 400],
    [
        'star',
        'POST',
        `/api/v1/namespaces/${home}/configmaps`,
        400,
        { metadata: { name: 'evil', namespace: away } },
    ],
    [
        'star',
        'POST',
        `/apis/authentication.k8s.io/v1/namespaces/${home}/tokenrequests`,
        404,
        { spec: {} },
    ],
    [
        'star',
        'POST',
        `/apis/authorization.k8s.io/v1/namespaces/${home}/localsubjectaccessreviews`,
        400,
        {
            spec: {
                user: 'root',
                resourceAttributes: { verb: 'get', resource: 'secrets', namespace: away },
            },
        },
    ],
    [
        'star',
        'POST',
        `/apis/authorization.k8s.io/v1/namespaces/${home}/localsubjectaccessreviews`,
        201,
        {
            spec: {
                user: 'root',
                resourceAttributes: { verb: 'get', resource: 'secrets', namespace: home },
            },
        },
    ],
    ['named', 'POST', `/api/v1/namespaces/${home}/configmaps?${byName}`, 403, evil],
    ['named', 'POST', `/api/v1/namespaces/${home}/configmaps/a`, 405, evil],
    ['named', 'POST', `/api/v1/watch/namespaces/${home}/configmaps/a`, 405, evil],
    ['named', 'PUT', `/api/v1/namespaces/${home}/configmaps/a`, 400, evil],
    ['named', 'DELETE', `/api/v1/namespaces/${home}/configmaps?${byName}`, 403],
    ['named', 'GET', `/api/v1/namespaces/${home}/configmaps?${byName}&fieldSelector=`, 200],
    ['named', 'GET', `/api/v1/namespaces/${home}/configmaps?fieldSelector=&${byName}`, 403],
    ['named', 'GET', `/api/v1/namespaces/${home}/configmaps?fieldSelector=metadata.name!%3Da`, 403],
    ['named', 'GET', `/api/v1/namespaces/${home}/configmaps?${byName}%2Cmetadata.name%3Db`, 200],
    ...gearWays,
    ['below', 'DELETE', '/api/v1/namespaces/default/services/kubernetes/status', 405],
    ['below', 'POST', '/api/v1/namespaces/default/services/kubernetes/status', 405, evil],
];

async function goAround([who, method, path, status, body, fields]) {
    const client = new ApiClient(door, { token: tokens[who] });
    const answer = await client.ask(method, path, body, fields);
    client.close();
    const items = answer.json?.items?.filter(({ metadata }) => metadata.name !== 'a') ?? [];
    if (items.length) return [`it shows ${items.map(({ metadata }) => metadata.name)}`];
    return answer.status === status ? [] : [`${answer.status} ${answer.text}`];
}

// ---- the test ----

const plural = (kind) => `${kind.toLowerCase()}s`;

async function prepare() {
    const problems = [];
    const post = async (path, body) => {
        const { status, text } = await root.ask('POST', path, body);
        if (status !== 201) problems.push(`POST ${path}: ${status} ${text}`);
    };
    for (const name of [home, away]) await post('/api/v1/namespaces', { metadata: { name } });
    await post(`/api/v1/namespaces/${home}/serviceaccounts`, { metadata: { name: 'robot' } });
    for (const object of definitions)
        await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', object);
    for (const object of made) {
        const space = object.metadata.namespace ? `/namespaces/${object.metadata.namespace}` : '';
        await post(`/apis/rbac.authorization.k8s.io/v1${space}/${plural(object.kind)}`, object);
    }
    return problems;
}

async function credentialOf(user) {
    if (user.by === 'nothing') return {};
    if (user.by === 'token') return { token: tokens[user.name] };
    if (user.by === 'certificate') return { cert: file('cora.crt'), key: file('cora.key') };
    const path = `/api/v1/namespaces/${home}/serviceaccounts/robot/token`;
    const { json } = await root.ask('POST', path, { spec: {} });
    return { token: json.status.token };
}

// The server takes new tokens up by itself.
async function clientOf(user) {
    const client = new ApiClient(door, await credentialOf(user));
    const who = () => client.ask('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    if (user.by === 'nothing') return { client, problems: [] };
    await untilTrue(async () => (await who()).status === 201);
    const { json } = await who();
    const { username, groups } = json.status?.userInfo ?? {};
    const ok = username === user.name && user.groups.every((group) => groups.includes(group));
    return { client, problems: ok ? [] : [JSON.stringify(json)] };
}

await untilTrue(async () => (await root.ask('GET', '/api')).status === 200);
tap('roles and bindings', await prepare());
const kinds = await discover();
tap(
    'discovery lists kinds and subresources',
    kinds.length > 15 &&
        ['gears', 'gears/status', 'gears/scale', 'axles'].every((name) =>
            kinds.some((k) => [k.resource, k.subresource].filter(Boolean).join('/') === name),
        )
        ? []
        : ['too few'],
);
for (const user of identities) {
    const { client, problems } = await clientOf(user);
    tap(`${user.name} is known`, problems);
    const rules = {};
    if (user.by !== 'nothing')
        for (const space of [home, away]) rules[space] = await rulesIn(client, space);
    for (const [{ group, resource, subresource }, found] of await askAll(
        client,
        user,
        kinds,
        rules,
    )) {
        const what = [group, resource, subresource].filter(Boolean).join('/');
        tap(`${user.name}: ${what}`, found);
    }
    tap(`${user.name}: paths`, await askPaths(client, user));
    client.close();
}
await root.ask('POST', `/api/v1/namespaces/${home}/configmaps`, { metadata: { name: 'a' } });
await root.ask('POST', `/api/v1/namespaces/${home}/configmaps`, { metadata: { name: 'b' } });
await root.ask('POST', gears, gear);
await root.ask('POST', gears, gearOf('b'));
for (const way of ways) tap(`around: ${way.slice(0, 3).join(' ')}`, await goAround(way));
tapEnd();
