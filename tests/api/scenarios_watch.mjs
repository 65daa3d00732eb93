// Scenarios of watcher_tests.go. The server sends bookmarks about once a second.
import { Space, equal, fail, names, until, versionOf } from './rest.mjs';

const BOTH = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
const NONE = { sendInitialEvents: false, resourceVersionMatch: 'NotOlderThan' };
const isEnd = ({ type, object }) =>
    type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';

// create -> ADDED, into the filter -> ADDED, change -> MODIFIED, out of it -> DELETED.
async function throughFilter(space, query) {
    const stream = space.watch({ ...query, resourceVersion: await space.now() });
    const other = await Space.make(space.api, `${space.name}-${query.fieldSelector ? 'b' : 'a'}`);
    await other.create('a', 'elsewhere', { mine: 'yes', color: 'red' });
    await space.create('a', '1', { mine: 'yes', color: 'blue' });
    const into = await space.label('a', { color: 'red' });
    const changed = await space.set('a', '2');
    const out = await space.label('a', { color: 'blue' });
    const again = await space.label('a', { color: 'red' });
    await space.remove('a');
    const last = await space.create('a', '3', { mine: 'yes', color: 'red' });
    await stream.sees(['ADDED', into], ['MODIFIED', changed]);
    const left = await stream.change();
    equal([left.type, left.object.data, left.object.metadata.labels.color],
        ['DELETED', { v: '2' }, 'red'], 'it leaves as it last matched');
    equal(versionOf(left.object), versionOf(out), 'with the version of what ended it');
    await stream.sees(['ADDED', again], ['DELETED', 'a'], ['ADDED', last]);
    stream.close();
}

async function writeBig(space, n, bytes) {
    const all = [];
    for (let i = 0; i < n; i++) all.push(await space.set('a', `${i}-${'x'.repeat(bytes)}`));
    return all;
}

const openWatches = (api) => api.metric('apiserver_longrunning_requests', 'verb="WATCH"');

// Kinds, paths and selectors of the scoped watches: which of the writes below each must see.
async function scoped(api, write, cases) {
    const streams = [];
    for (const [path, query, want] of cases) {
        const stream = api.watch(path, query);
        equal(await stream.status(), 200, path);
        streams.push([stream, `${path} ${query.fieldSelector ?? ''}`, want]);
    }
    await write();
    for (const [stream, what, want] of streams) {
        const got = [];
        // The last write of all concerns every stream, and says that nothing else came.
        for (let more = true; more; ) {
            const { type, object } = await stream.change();
            more = object.metadata.labels?.last !== 'yes';
            const { namespace = '', name } = object.metadata;
            if (more) got.push(`${type} ${namespace}/${name}`);
        }
        equal(got, want, what);
        stream.close();
    }
}

// One row of RunWatchSemantics: what a stream begins with.
async function semantics(space, query, { initial, end, later }) {
    const what = JSON.stringify(query);
    const stream = space.watch(query);
    const got = [];
    for (const name of initial) got.push([(await stream.next()).object.metadata.name, name]);
    for (const [name, want] of got) equal(name, want, what);
    if (end) {
        const event = await stream.next();
        if (!isEnd(event)) fail(`${what}: no end of the initial events: ${JSON.stringify(event)}`);
    }
    equal(await stream.status(), 200, what);
    for (const name of later ?? []) equal((await stream.change()).object.metadata.name, name, what);
    // Nothing else comes before what is written now.
    const next = query.allowWatchBookmarks ? () => stream.change() : () => stream.next();
    const mark = await space.create('mark');
    await space.remove('mark');
    let event = await next();
    const isEarlier = ({ object }) =>
        object.metadata.name === 'mark' && versionOf(object) < versionOf(mark);
    while (query.resourceVersion > 0 && isEarlier(event)) event = await next(); // of other rows
    equal([event.type, versionOf(event.object)], ['ADDED', versionOf(mark)], what);
    stream.close();
}

// They wait for bookmarks and for the ends of streams, and look at nothing but their namespaces.
export const waiting = [
    'RunOptionalTestProgressNotify',
    'RunTestWatchDispatchBookmarkEvents',
    'RunTestWatchDispatchBookmarkEvents: the last one costs no time',
    'RunTestOptionalWatchBookmarksWithCorrectResourceVersion',
];

export const scenarios = {
    'RunTestWatch: recursive': (api, space) => throughFilter(space, { labelSelector: 'color=red' }),

    'RunTestWatch: a single key': (api, space) =>
        throughFilter(space, { labelSelector: 'color=red', fieldSelector: 'metadata.name=a' }),

    'RunTestWatchFromZero': async (api, space) => {
        const a = await space.create('a', '1');
        const stream = space.watch({ resourceVersion: 0 });
        await stream.sees(['ADDED', a]);
        await stream.sees(['MODIFIED', await space.set('a', '2')]);
        const late = space.watch({ resourceVersion: 0 });
        await late.sees(['ADDED', await space.get('a')]);
    },

    'RunTestDeleteTriggerWatch': async (api, space) => {
        const a = await space.create('a', '1');
        const stream = space.watch({ resourceVersion: versionOf(a) });
        await space.remove('a');
        await stream.sees(['DELETED', 'a']);
    },

    'RunTestWatchFromNonZero': async (api, space) => {
        const a = await space.create('a', '1');
        const changed = await space.set('a', '2');
        const stream = space.watch({ resourceVersion: versionOf(a) });
        await stream.sees(['MODIFIED', changed]);
        await stream.sees(['MODIFIED', await space.set('a', '3')]);
    },

    'RunTestWatchDeleteEventObjectHaveLatestRV': async (api, space) => {
        const a = await space.create('a', '1');
        const stream = space.watch({ resourceVersion: versionOf(a) });
        const before = await space.now();
        await space.remove('a');
        const after = await space.now();
        const { type, object } = await stream.change();
        equal([type, object.data], ['DELETED', a.data], 'the last object');
        const version = versionOf(object);
        if (!(version > before && version <= after && version !== versionOf(a)))
            fail(`version ${version} of a deletion between ${before} and ${after}`);
    },

    'RunTestDelayedWatchDelivery': async (api, space) => {
        await space.create('a', '1');
        await until('no other watch', async () => (await openWatches(api)) === 0);
        let n = 0;
        for (let timeoutSeconds = 1; ; timeoutSeconds *= 2) {
            const stream = space.watch({ resourceVersion: await space.now(), timeoutSeconds });
            await stream.status();
            stream.socket.pause();
            const wanted = []; // what was written before the server ended it, or just then
            while (await openWatches(api))
                wanted.push(versionOf(await space.set('a', `v${n++}`)));
            stream.socket.resume();
            await until('the end', () => stream.over);
            equal(stream.over, 'complete', 'the end');
            const got = stream.events.map(({ object }) => versionOf(object));
            equal(got, wanted.slice(0, got.length), 'what had been written, in order');
            if (got.length >= 11) break; // else this machine is slow: give it more time
        }
    },

    'RunTestWatcherTimeout': async (api, space) => {
        const a = await space.create('a', '1');
        const query = { resourceVersion: versionOf(a) };
        const idle = Array.from({ length: 50 }, () => space.watch(query));
        for (const stream of idle) {
            await stream.status();
            stream.socket.pause();
        }
        const reading = space.watch(query);
        const all = await writeBig(space, 22, 64 * 1024);
        await reading.sees(...all.map((object) => ['MODIFIED', object]));
        // Who did not read has lost nothing but time.
        idle[7].socket.resume();
        await idle[7].sees(...all.map((object) => ['MODIFIED', object]));
    },

    'RunTestWatchContextCancel': async (api, space) => {
        const a = await space.create('a', '1');
        await until('no other watch', async () => (await openWatches(api)) === 0);
        const stream = space.watch({ resourceVersion: versionOf(a) });
        await until('it is counted', async () => (await openWatches(api)) === 1);
        stream.close();
        await until('it is forgotten', async () => (await openWatches(api)) === 0);
        equal(stream.events, [], 'no error');
    },

    'RunTestWatchInitializationSignal': async (api, space) => {
        const stream = space.watch({ resourceVersion: await space.now() });
        equal(await stream.status(), 200, 'the head comes before any event');
        equal(stream.events, [], 'events');
    },

    'RunOptionalTestProgressNotify': async (api, space) => {
        const a = await space.create('a', '1');
        const query = { resourceVersion: versionOf(a), allowWatchBookmarks: true };
        const { type, object } = await space.watch(query).next();
        equal([type, object.kind, object.apiVersion], ['BOOKMARK', 'ConfigMap', 'v1'], 'bookmark');
        const { resourceVersion, creationTimestamp, ...rest } = object.metadata;
        equal([creationTimestamp, rest], [null, {}], 'nothing but a version');
        equal(Object.keys(object).sort(), ['apiVersion', 'kind', 'metadata'], 'fields');
        if (Number(resourceVersion) < versionOf(a)) fail(`it is older than ${versionOf(a)}`);
    },

    'RunTestClusterScopedWatch': async (api, space) => {
        const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
        const name = (n) => `${space.name}-${n}`;
        const from = { resourceVersion: await space.now() };
        const field = (fieldSelector) => ({ ...from, fieldSelector });
        const [a, b] = [name('a'), name('b')];
        const [addA, addB] = [`ADDED /${a}`, `ADDED /${b}`];
        const rest = [`MODIFIED /${a}`, `DELETED /${b}`];
        const make = (n, labels) => ({ kind: 'ClusterRole', metadata: { name: n, labels } });
        const last = `metadata.name=${name('last')}`;
        await scoped(
            api,
            async () => {
                await api.post(path, make(a, { color: 'red' }));
                await api.post(path, make(b, { color: 'blue' }));
                await api.patch(`${path}/${a}`, { metadata: { annotations: { x: 'y' } } });
                await api.remove(`${path}/${b}`);
                await api.post(path, make(name('last'), { last: 'yes', color: 'red' }));
            },
            [
                [path, from, [addA, addB, ...rest]],
                [path, { ...from, labelSelector: 'color=red' }, [addA, rest[0]]],
                [path, field(`metadata.name!=${b}`), [addA, rest[0]]],
                [path, field(`metadata.name!=${a}`), [addB, rest[1]]],
                [path, field(last), []],
                [path, { ...field(`metadata.name!=${b}`), labelSelector: 'color=red' },
                    [addA, rest[0]]],
            ],
        );
    },

    // What spec.nodeName is there, the type of a Secret is here.
    'RunTestNamespaceScopedWatch': async (api, space) => {
        const other = await Space.make(api, `${space.name}-other`);
        const from = { resourceVersion: await space.now() };
        const path = (s) => `/api/v1/namespaces/${s.name}/secrets`;
        const all = '/api/v1/secrets';
        const make = (name, type, labels) => ({ kind: 'Secret', metadata: { name, labels }, type });
        const one = (s, name) => `ADDED ${s.name}/${name}`;
        const [a1, b1, a2] = [one(space, 'a'), one(space, 'b'), one(other, 'a')];
        const f = (fieldSelector) => ({ ...from, fieldSelector });
        const here = path(space);
        const t = 'type=t/last'; // what the last write matches
        await scoped(
            api,
            async () => {
                await api.post(here, make('a', 't/1'));
                await api.post(here, make('b', 't/2'));
                await api.post(path(other), make('a', 't/1'));
                for (const s of [space, other])
                    for (const name of ['last', 'a-last'])
                        await api.post(path(s), make(name, 't/last', { last: 'yes' }));
            },
            [
                [here, from, [a1, b1]],
                [path(other), from, [a2]],
                [all, from, [a1, b1, a2]],
                [all, f('metadata.namespace!=nowhere'), [a1, b1, a2]],
                [all, f(`metadata.namespace=${space.name}`), [a1, b1]],
                [all, f(`metadata.namespace=${other.name}`), [a2]],
                [all, f(`metadata.namespace!=${other.name}`), [a1, b1]],
                [all, f('metadata.name!=b'), [a1, a2]],
                [here, f('metadata.name!=b'), [a1]],
                [here, f('metadata.name!=a'), [b1]],
                [here, f('metadata.name=last'), []],
                [all, f('metadata.name=last'), []],
                [all, f('type!=t/1'), [b1]],
                [here, f('type!=t/2'), [a1]],
                [here, f(t), []],
                [all, f('metadata.name!=b,type!=t/2'), [a1, a2]],
                [here, f(`metadata.name!=a,type!=t/2,metadata.namespace=${space.name}`), []],
            ],
        );
    },

    'RunTestWatchDispatchBookmarkEvents': async (api, space) => {
        const other = await Space.make(api, `${space.name}-other`);
        const at = await space.now();
        const query = { resourceVersion: at, timeoutSeconds: 5 };
        const silent = space.watch(query);
        const told = space.watch({ ...query, allowWatchBookmarks: true });
        await told.status();
        const changed = await other.create('elsewhere');
        const { type, object } = await told.next();
        equal(type, 'BOOKMARK', 'though only another namespace has changed');
        if (versionOf(object) < at) fail(`${versionOf(object)} is older than ${at}`);
        let last = object;
        await until('the end', () => told.over);
        for (const event of told.events) {
            equal(event.type, 'BOOKMARK', 'all that comes');
            last = event.object;
        }
        if (versionOf(last) < versionOf(changed)) fail('the last bookmark is too old');
        await silent.ends();
    },

    // Of two streams the one whose time is up first ends first, bookmarks or not.
    'RunTestWatchDispatchBookmarkEvents: the last one costs no time': async (api, space) => {
        const order = [];
        const open = async (timeoutSeconds, allowWatchBookmarks) => {
            const resourceVersion = await space.now();
            const stream = space.watch({ resourceVersion, timeoutSeconds, allowWatchBookmarks });
            stream.socket.on('close', () => order.push(timeoutSeconds));
            await stream.status();
            return stream;
        };
        const streams = [await open(1, true), await open(2)];
        await until('both end', () => order.length === 2);
        equal(order, [1, 2], 'timeouts');
        equal(streams[0].events.at(-1)?.type, 'BOOKMARK', 'what a stream ends with');
        equal(streams.map(({ over }) => over), ['complete', 'complete'], 'ends');
    },

    'RunTestOptionalWatchBookmarksWithCorrectResourceVersion': async (api, space) => {
        const a = await space.create('a', '0');
        const query = { resourceVersion: versionOf(a), allowWatchBookmarks: true };
        const stream = space.watch(query);
        let bookmarks = 0;
        let wanted = versionOf(await space.set('a', '1'));
        let last = versionOf(a);
        for (let n = 2; bookmarks < 3; ) {
            const { type, object } = await stream.next();
            const version = versionOf(object);
            if (type === 'BOOKMARK') {
                if (version < last) fail(`the bookmark ${version} is behind ${last}`);
                bookmarks++;
            } else {
                if (version <= last) fail(`${version} came behind ${last}`);
                equal(version, wanted, 'none left out');
                if (bookmarks < 3) wanted = versionOf(await space.set('a', `${n++}`));
            }
            last = version;
        }
    },

    'RunSendInitialEventsBackwardCompatibility': async (api, space) => {
        const a = await space.create('a');
        const stream = space.watch({ resourceVersion: 0 });
        await stream.sees(['ADDED', a]);
        await stream.sees(['ADDED', await space.create('b')]);
        equal(stream.events, [], 'no bookmark that nobody asked for');
    },

    // Four versions, with and without bookmarks, with initial events, without, and unsaid.
    'RunWatchSemantics': async (api, space) => {
        for (const name of ['b', 'a']) await space.create(name);
        const first = await space.now();
        await space.create('c');
        await space.set('a', '2');
        const all = ['a', 'b', 'c'];
        const since = ['c', 'a']; // since `first`
        for (const allowWatchBookmarks of [true, undefined]) {
            const end = allowWatchBookmarks;
            for (const resourceVersion of [undefined, 0, 1, first, await space.now()]) {
                const query = { allowWatchBookmarks, resourceVersion };
                await semantics(space, { ...query, ...BOTH }, { initial: all, end });
                const later = { undefined: [], 0: [], 1: ['b', 'a', ...since], [first]: since };
                const without = { initial: [], later: later[resourceVersion] ?? [] };
                await semantics(space, { ...query, ...NONE }, without);
                const unsaid = resourceVersion ? without : { initial: all, end };
                await semantics(space, query, unsaid);
            }
        }
    },

    'RunWatchSemanticInitialEventsExtended': async (api, space) => {
        const other = await Space.make(api, `${space.name}-other`);
        await space.create('a');
        const far = await other.create('elsewhere');
        for (const query of [{}, { labelSelector: 'no=body' }]) {
            const stream = space.watch({ ...query, ...BOTH, allowWatchBookmarks: true });
            if (!query.labelSelector) await stream.sees(['ADDED', 'a']);
            const event = await stream.next();
            if (!isEnd(event)) fail(`no end: ${JSON.stringify(event)}`);
            if (versionOf(event.object) < versionOf(far)) fail('it has not the global version');
        }
    },

    'RunWatchListMatchSingle': async (api, space) => {
        for (const name of ['a', 'b', 'c']) await space.create(name);
        const b = await space.get('b');
        const fieldSelector = 'metadata.name=b';
        const stream = space.watch({ fieldSelector, ...BOTH, allowWatchBookmarks: true });
        const first = await stream.next();
        equal([first.type, first.object], ['ADDED', b], 'the one');
        if (!isEnd(await stream.next())) fail('no end of the initial events');
        await space.set('a', '1');
        await stream.sees(['MODIFIED', await space.set('b', '1')]);
        equal(names(await space.list({ fieldSelector })), ['b'], 'the list');
    },
};
