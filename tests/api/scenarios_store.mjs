// Scenarios of store_tests.go, with a window that nothing leaves.
import { Space, equal, fail, names, until, versionOf } from './rest.mjs';

const FUTURE = 1e15;
const tooLarge = (space, query) =>
    space.api.refused(504, 'Timeout', 'Too large resource version', 'GET', space.path, query);
const token = (fields) =>
    Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', ...fields })).toString('base64url');

// All pages of a list; what each is checked for is up to `look`.
async function pages(space, query, look = () => {}) {
    const got = [];
    let next;
    do {
        // What a token was made with is asked again with it; a version would be refused.
        const { resourceVersion, resourceVersionMatch, ...rest } = query;
        const list = await space.list(next ? { ...rest, continue: next } : query);
        look(list);
        got.push(names(list));
        next = list.metadata.continue;
    } while (next);
    return got;
}

// Objects a to e; those with odd places are red.
async function five(space) {
    const made = [];
    for (const [i, name] of [...'abcde'].entries()) {
        const color = i % 2 ? 'blue' : 'red';
        made.push(await space.create(name, `${i}`, { mine: 'yes', color }));
    }
    return made;
}

// Eight writes, and what a list at the version of each must show: name=value.
async function eightWrites(space) {
    const history = [];
    const state = new Map();
    const note = async (name, object) => {
        if (object) state.set(name, object.data.v);
        else state.delete(name);
        const show = [...state].map(([key, v]) => `${key}=${v}`).sort();
        history.push([await space.now(), show]);
    };
    await note('a', await space.create('a', '1'));
    await note('c', await space.create('c', '1'));
    await note('b', await space.create('b', '1'));
    await note('a', await space.set('a', '2'));
    await space.remove('b');
    await note('b', null);
    await note('d', await space.create('d', '1'));
    await note('b', await space.create('b', '2'));
    await space.remove('a');
    await note('a', null);
    return history;
}

async function listIsRejected(api, space) {
    const bad = (code, reason, text, query) =>
        api.refused(code, reason, text, 'GET', space.path, query);
    const invalid = (text, query) => bad(422, 'Invalid', text, query);
    await bad(400, 'BadRequest', 'invalid resource version', { resourceVersion: 'abc' });
    await bad(400, 'BadRequest', 'invalid resource version', { resourceVersion: '-1' });
    const { metadata } = await space.list({ limit: 1 });
    const both = { resourceVersion: metadata.resourceVersion, continue: metadata.continue };
    await bad(400, 'BadRequest', 'specifying resource version is not allowed', both);
    await invalid('forbidden unless resourceVersion is provided',
        { resourceVersionMatch: 'Exact' });
    await invalid('supported values: "Exact", "NotOlderThan", ""',
        { resourceVersion: 1, resourceVersionMatch: 'Foo' });
    await invalid('"exact" is forbidden for resourceVersion "0"',
        { resourceVersion: 0, resourceVersionMatch: 'Exact' });
    await invalid('forbidden when continue is provided',
        { ...both, resourceVersionMatch: 'NotOlderThan' });
    await invalid('sendInitialEvents is forbidden for list', { sendInitialEvents: true });
    const start = `${space.name}/a`;
    for (const fields of [{ start }, { rv: 0, start }, { rv: -2, start }, { rv: 'x', start }])
        await bad(400, 'BadRequest', 'continue', { continue: token(fields) });
    await bad(400, 'BadRequest', 'continue', { continue: 'no token' });
}

async function listOfTheFuture(space) {
    const queries = [
        { resourceVersion: FUTURE },
        { resourceVersion: FUTURE, resourceVersionMatch: 'NotOlderThan' },
        { resourceVersion: FUTURE, resourceVersionMatch: 'Exact' },
        { resourceVersion: FUTURE, limit: 1 },
    ];
    const answers = await Promise.all(queries.map((query) => tooLarge(space, query)));
    for (const { details, headers } of answers) {
        equal(details.causes[0].reason, 'ResourceVersionTooLarge', 'cause');
        equal([details.retryAfterSeconds, headers['retry-after']], [1, '1'], 'when to come back');
    }
}

async function listAtVersions(space, history) {
    const show = (list) => list.items.map(({ metadata: m, data }) => `${m.name}=${data.v}`);
    const newest = history.at(-1)[1];
    for (const [version, want] of history) {
        for (const limit of [undefined, 1, 2]) {
            const query = { resourceVersion: version, resourceVersionMatch: 'Exact', limit };
            const what = JSON.stringify(query);
            const got = [];
            await pages(space, query, (list) => {
                equal(versionOf(list), version, what);
                got.push(...show(list));
            });
            equal(got, want, what);
        }
        // With a limit, a version alone means exactly this one; without, not older than it.
        const page = await space.list({ resourceVersion: version, limit: 1 });
        equal([versionOf(page), show(page)], [version, want.slice(0, 1)], 'legacy exact');
        for (const resourceVersionMatch of [undefined, 'NotOlderThan']) {
            const list = await space.list({ resourceVersion: version, resourceVersionMatch });
            equal(show(list), newest, 'not older than');
            if (versionOf(list) < version) fail(`${versionOf(list)} is older than ${version}`);
        }
    }
}

// They wait until the server gives up waiting for a version, and look at nothing but their
// namespaces.
export const waiting = [
    'RunTestGet',
    'RunTestList: versions that are not there yet',
    'RunTestGetListNonRecursive',
];

export const scenarios = {
    'RunTestCreate': async (api, space) => {
        const a = await space.create('a', '1');
        if (!(versionOf(a) > 0)) fail(`version ${versionOf(a)}`);
        equal(await space.get('a'), a, 'what is there');
        const body = space.body('b', '1');
        body.metadata.resourceVersion = '1';
        const { status, object } = await api.call('POST', space.path, {}, body);
        if (status < 400 || !object.message.includes('resourceVersion'))
            fail(`${status}: ${object.message}`);
        await api.refused(404, 'NotFound', '"b" not found', 'GET', space.at('b'));
    },

    'RunTestCreateWithKeyExist': async (api, space) => {
        const a = await space.create('a', '1');
        const post = ['POST', space.path, {}, space.body('a', '2')];
        await api.refused(409, 'AlreadyExists', 'configmaps "a" already exists', ...post);
        equal(await space.get('a'), a, 'what is there');
    },

    'RunTestGet': async (api, space) => {
        const a = await space.create('a', '1');
        const newest = await space.set('a', '2');
        for (const resourceVersion of [undefined, '', 0, versionOf(a), versionOf(newest)])
            equal(await space.get('a', { resourceVersion }), newest, `at ${resourceVersion}`);
        const get = (name, query) => ['GET', space.at(name), query];
        await api.refused(504, 'Timeout', 'Too large', ...get('a', { resourceVersion: FUTURE }));
        await api.refused(400, 'BadRequest', 'invalid resource version',
            ...get('a', { resourceVersion: 'abc' }));
        await api.refused(404, 'NotFound', 'configmaps "b" not found', ...get('b'));
    },

    'RunTestUnconditionalDelete': async (api, space) => {
        const a = await space.create('a', '1');
        const { status, details } = await space.remove('a');
        equal([status, details.uid], ['Success', a.metadata.uid], 'the answer');
        await api.refused(404, 'NotFound', '"a" not found', 'DELETE', space.at('a'));
    },

    'RunTestConditionalDelete': async (api, space) => {
        const a = await space.create('a', '1');
        const newer = await space.set('a', '2');
        const { uid, resourceVersion } = newer.metadata;
        const remove = (preconditions) => ['DELETE', space.at('a'), {}, { preconditions }];
        await api.refused(409, 'Conflict', 'the UID in the precondition (x) does not match',
            ...remove({ uid: 'x' }));
        await api.refused(409, 'Conflict', 'the ResourceVersion in the precondition',
            ...remove({ resourceVersion: a.metadata.resourceVersion }));
        // Nothing is empty, so an empty one is no leave to delete anything.
        await api.refused(409, 'Conflict', 'the UID in the precondition () does not match',
            ...remove({ uid: '' }));
        await api.refused(409, 'Conflict', 'the ResourceVersion in the precondition () does not',
            ...remove({ resourceVersion: '' }));
        equal(await space.get('a'), newer, 'it is still there');
        await api.good(...remove({ uid, resourceVersion }));
    },

    'RunTestDeleteWithConflict': async (api, space) => {
        // Whoever deletes without a condition wins against any number of writers.
        for (let round = 0; round < 5; round++) {
            await space.create('a');
            const writes = Array.from({ length: 8 }, (unused, i) =>
                api.call('PATCH', space.at('a'), {}, { data: { v: `${i}` } },
                    'application/merge-patch+json'));
            const [deleted, ...written] = await Promise.all([
                api.call('DELETE', space.at('a')),
                ...writes,
            ]);
            equal(deleted.status, 200, 'the deletion');
            for (const { status } of written)
                if (status !== 200 && status !== 404) fail(`a patch: ${status}`);
            await api.refused(404, 'NotFound', '"a" not found', 'GET', space.at('a'));
        }
    },

    'RunTestList: what is rejected': async (api, space) => {
        await five(space);
        await listIsRejected(api, space);
    },

    'RunTestList: versions that are not there yet': async (api, space) => {
        await five(space);
        await listOfTheFuture(space);
    },

    'RunTestList: exact and not older, at each of eight writes': async (api, space) =>
        listAtVersions(space, await eightWrites(space)),

    'RunTestList: limit, continue, remainingItemCount': async (api, space) => {
        await five(space);
        const own = 'kube-root-ca.crt'; // the server's, behind ours
        const list = (query) => api.list(space.path, query); // without a selector
        const one = await list({ limit: 2 });
        equal([names(one), one.metadata.remainingItemCount], [['a', 'b'], 4], 'the first page');
        await space.create('bb');
        await space.remove('c');
        const two = await list({ limit: 2, continue: one.metadata.continue });
        equal([names(two), two.metadata.remainingItemCount], [['c', 'd'], 2], 'the second page');
        equal(versionOf(two), versionOf(one), 'version');
        const three = await list({ limit: 2, continue: two.metadata.continue });
        equal([names(three), three.metadata.continue], [['e', own], undefined], 'the last page');
        equal(three.metadata.remainingItemCount, undefined, 'nothing remains');
        const all = await list({ limit: 2, resourceVersion: 0 });
        equal([names(all), all.metadata.continue],
            [['a', 'b', 'bb', 'd', 'e', own], undefined], 'a limit at version 0');
        const zero = await list({ continue: one.metadata.continue, resourceVersion: 0 });
        equal(names(zero), ['c', 'd', 'e', own], 'version 0 beside a token is ignored');
        equal(names(await list({ limit: -1 })), ['a', 'b', 'bb', 'd', 'e', own], 'no limit');
        // A token of version -1 goes on at the newest state.
        const start = JSON.parse(Buffer.from(one.metadata.continue, 'base64url')).start;
        const latest = await list({ continue: token({ rv: -1, start }) });
        equal(names(latest), ['bb', 'd', 'e', own], 'the newest state behind b');
        if (versionOf(latest) <= versionOf(one)) fail('it is not the newest');
    },

    'RunTestList: filters and page sizes': async (api, space) => {
        await five(space);
        const red = { labelSelector: 'color=red' }; // a c e
        const cases = [
            [red, 5, [['a', 'c', 'e']]],
            [red, 3, [['a', 'c', 'e']]],
            [red, 2, [['a', 'c'], ['e']]],
            [red, 1, [['a'], ['c'], ['e']]],
            [{ labelSelector: 'color=blue' }, 1, [['b'], ['d']]],
            [{ fieldSelector: 'metadata.name!=c' }, 2, [['a', 'b'], ['d', 'e']]],
            [{ fieldSelector: 'metadata.name=e' }, 1, [['e']]],
            [{ labelSelector: 'color=none' }, 2, [[]]],
        ];
        for (const [query, limit, want] of cases) {
            const what = JSON.stringify({ ...query, limit });
            const got = await pages(space, { ...query, limit }, (list) => {
                equal(list.metadata.remainingItemCount, undefined, `${what} counts nothing`);
                if (list.items.length > limit) fail(`${what}: ${list.items.length} items`);
            });
            // Only a last page may be empty: the server has to look on to know that.
            if (got.length > 1 && got.at(-1).length === 0) got.pop();
            equal(got, want, what);
        }
    },

    'RunTestConsistentList': async (api, space) => {
        const other = await Space.make(api, `${space.name}-other`);
        for (let i = 0; i < 10; i++) {
            const written = versionOf(await other.create(`o${i}`));
            for (const query of [{}, { resourceVersion: 0 }, { limit: 1 }]) {
                const version = versionOf(await space.list(query));
                if (version < written) fail(`a list of ${version} behind a write of ${written}`);
            }
        }
    },

    'RunTestGetListNonRecursive': async (api, space) => {
        const before = await space.now();
        const a = await space.create('a', '1');
        await space.create('ab', '1');
        const newest = await space.set('a', '2');
        const list = async (query, name = 'a') => {
            const fieldSelector = `metadata.name=${name}`;
            const { items } = await space.list({ ...query, fieldSelector });
            return items.map(({ data }) => data.v);
        };
        const exact = (resourceVersion) => ({ resourceVersion, resourceVersionMatch: 'Exact' });
        const least = (resourceVersion) =>
            ({ resourceVersion, resourceVersionMatch: 'NotOlderThan' });
        const newestState = [{}, { resourceVersion: 0 }, least(0), least(before),
            least(versionOf(a)), { resourceVersion: versionOf(a) }, exact(versionOf(newest))];
        for (const query of newestState)
            equal(await list(query), ['2'], JSON.stringify(query));
        equal(await list(exact(versionOf(a))), ['1'], 'exact');
        equal(await list(exact(before)), [], 'before it was made');
        equal(await list({}, 'none'), [], 'an object that is not there');
        equal(await list({ resourceVersion: 0 }, 'none'), [], 'nor at version 0');
        await tooLarge(space, { fieldSelector: 'metadata.name=a', resourceVersion: FUTURE });
    },

    'RunTestGetListRecursivePrefix': async (api, space) => {
        const longer = await Space.make(api, `${space.name}b`);
        await space.create('a');
        await longer.create('b');
        equal(names(await space.list()), ['a'], 'one namespace');
        equal(names(await longer.list()), ['b'], 'another whose name begins with the same');
        const stream = space.watch({ resourceVersion: await space.now() });
        await longer.create('c');
        await stream.sees(['ADDED', await space.create('d')]);
    },

    'RunTestNamespaceScopedList': async (api, space) => {
        const other = await Space.make(api, `${space.name}-other`);
        await five(space);
        await other.create('a');
        const all = async (fieldSelector) => {
            const list = await api.list('/api/v1/configmaps', space.mine({ fieldSelector }));
            const ours = ({ metadata }) => metadata.namespace.startsWith(space.name);
            return list.items.filter(ours).map(({ metadata: m }) => `${m.namespace}/${m.name}`);
        };
        const here = [...'abcde'].map((name) => `${space.name}/${name}`);
        const there = `${other.name}/a`;
        equal(await all('metadata.name=a'), [here[0], there].sort(), 'a name');
        equal(await all(`metadata.namespace=${space.name}`), here, 'a namespace');
        equal(await all(`metadata.namespace=${space.name},metadata.name=a`), [here[0]], 'both');
        equal(await all(`metadata.namespace=${other.name},metadata.name!=a`), [], 'none');
        equal(names(await space.list({ fieldSelector: `metadata.namespace=${other.name}` })), [],
            'another namespace than that of the path');
    },

    'RunTestListContinuation': async (api, space) => {
        await five(space);
        const versions = new Set();
        const got = await pages(space, { limit: 2 }, (list) => versions.add(versionOf(list)));
        equal([got.flat().join(''), versions.size], ['abcde', 1], 'pages of one version');
    },

    'RunTestListPaginationRareObject': async (api, space) => {
        for (let i = 0; i < 120; i++) await space.create(`o${1000 + i}`);
        await space.create('p', '1', { mine: 'yes', rare: 'yes' });
        const one = await space.list({ limit: 1, labelSelector: 'rare' });
        equal(names(one), ['p'], 'one page has it');
        const name = await space.list({ limit: 1, fieldSelector: 'metadata.name=o1119' });
        equal(names(name), ['o1119'], 'by name');
    },

    'RunTestListResourceVersionMatch': async (api, space) => {
        const a = await space.create('a');
        await space.create('b');
        const at = { resourceVersion: versionOf(a) };
        const list = async (resourceVersionMatch) =>
            names(await space.list({ ...at, resourceVersionMatch }));
        equal(await list('Exact'), ['a'], 'Exact');
        equal(await list('NotOlderThan'), ['a', 'b'], 'NotOlderThan');
    },

    'RunTestGuaranteedUpdate': async (api, space) => {
        const body = (v, metadata = {}) => {
            const object = space.body('a', v);
            return { ...object, metadata: { ...object.metadata, ...metadata } };
        };
        const put = (object) => ['PUT', space.at('a'), {}, object];
        await api.refused(404, 'NotFound', 'configmaps "a" not found', ...put(body('1')));
        const a = await space.create('a', '1');
        const { uid, resourceVersion } = a.metadata;
        await api.refused(409, 'Conflict', 'UID', ...put(body('2', { uid: 'x' })));
        const two = await api.good(...put(body('2', { uid, resourceVersion })));
        equal(two.data, { v: '2' }, 'with the right version');
        await api.refused(409, 'Conflict', 'the object has been modified',
            ...put(body('3', { resourceVersion })));
        equal((await api.good(...put(body('3')))).data, { v: '3' }, 'without one');
    },

    'RunTestGuaranteedUpdateNoop': async (api, space) => {
        const a = await space.create('a', '1');
        const stream = space.watch({ resourceVersion: versionOf(a) });
        equal(await api.put(space.at('a'), a), a, 'a PUT of the same');
        equal(await space.set('a', '1'), a, 'a merge patch of the same');
        const test = [{ op: 'replace', path: '/data/v', value: '1' }];
        equal(await api.good('PATCH', space.at('a'), {}, test, 'application/json-patch+json'), a,
            'a JSON patch of the same');
        await stream.sees(['MODIFIED', await space.set('a', '2')]);
    },

    'RunTestGuaranteedUpdateWithConflict': async (api, space) => {
        const a = await space.create('a', '0');
        const stream = space.watch({ resourceVersion: versionOf(a) });
        // Patches without a version never conflict: the server tries again with fresh data.
        const fields = Array.from({ length: 16 }, (unused, i) => `f${i}`);
        const done = await Promise.all(
            fields.map((field) => api.patch(space.at('a'), { data: { [field]: 'x' } })));
        const { data } = await space.get('a');
        equal(Object.keys(data).sort(), [...fields, 'v'].sort(), 'none is lost');
        const versions = done.map(versionOf).sort((x, y) => x - y);
        for (const version of versions) await stream.sees(['MODIFIED', 'a', version]);
    },

    'RunTestStats': async (api, space) => {
        const objects = () => api.metric('store_objects');
        const before = await objects();
        for (const name of ['a', 'b', 'c']) await space.create(name);
        await until('three more objects', async () => (await objects()) === before + 3);
        await space.remove('b');
        await until('one less', async () => (await objects()) === before + 2);
    },

    'RunTestKeySchema': async (api, space) => {
        for (const name of ['..', '.', 'a/b', '', 'a..b', '-a', 'A']) {
            const post = ['POST', space.path, {}, space.body(name, '1')];
            await api.refused(422, 'Invalid', 'metadata.name', ...post);
        }
        const inside = `/api/v1/namespaces/${space.name}x/../${space.name}/configmaps`;
        for (const path of [`${space.path}/..`, `${space.path}/%2e%2e`, inside]) {
            const { status } = await api.call('GET', path);
            if (status !== 404 && status !== 400) fail(`${path}: ${status}`);
        }
    },
};
