// Scenarios about history that is gone. The server's window is of few events.
import { equal, fail, names, until, versionOf } from './rest.mjs';

const floor = (api) => api.metric('store_floor_revision');

// compact(VERSION): writes until the window has passed it.
async function compact(space, version) {
    await space.create('filler').catch(() => {});
    for (let i = 0; (await floor(space.api)) <= version; i++) {
        if (i > 2000) fail(`the window never passes ${version}`);
        await space.set('filler', `${i}`);
    }
}

// A stream at a version that is gone: one error, and the end.
async function expired(space, resourceVersion) {
    const stream = space.watch({ resourceVersion });
    equal(await stream.status(), 200, 'it is told inside the stream');
    const { type, object } = await stream.next();
    equal([type, object.kind, object.code, object.reason], ['ERROR', 'Status', 410, 'Expired']);
    if (!object.message.startsWith(`too old resource version: ${resourceVersion} (`))
        fail(object.message);
    await stream.ends();
}

export const scenarios = {
    'RunTestWatchFromZero: after compaction': async (api, space) => {
        const a = await space.create('a', '1');
        const two = await space.set('a', '2');
        await compact(space, versionOf(two));
        await expired(space, versionOf(a));
        await expired(space, 1);
        const stream = space.watch({ resourceVersion: 0, fieldSelector: 'metadata.name=a' });
        await stream.sees(['ADDED', two]);
        await stream.sees(['MODIFIED', await space.set('a', '3')]);
    },

    'RunWatchErrorIsBlockingFurtherEvents': async (api, space) => {
        const a = await space.create('a', '1');
        await compact(space, versionOf(a));
        const writes = [];
        for (let i = 0; i < 20; i++) writes.push(space.set('a', `${i}`));
        await expired(space, versionOf(a));
        await Promise.all(writes);
        await expired(space, versionOf(a));
    },

    'RunTestList: compacted versions': async (api, space) => {
        const a = await space.create('a', '1');
        await compact(space, versionOf(a));
        const get = (query) => ['GET', space.path, { resourceVersion: versionOf(a), ...query }];
        const text = 'The resourceVersion for the provided list is too old.';
        await api.refused(410, 'Expired', text, ...get({ resourceVersionMatch: 'Exact' }));
        await api.refused(410, 'Expired', text, ...get({ limit: 1 }));
        for (const query of [{}, { resourceVersionMatch: 'NotOlderThan' }]) {
            const list = await space.list({ resourceVersion: versionOf(a), ...query });
            equal(names(list), ['a', 'filler'], 'the newest state is not older');
        }
        equal((await space.get('a', { resourceVersion: versionOf(a) })).data, { v: '1' }, 'get');
    },

    'RunTestListInconsistentContinuation': async (api, space) => {
        for (const name of ['a', 'b', 'c', 'd']) await space.create(name);
        const one = await space.list({ limit: 2 });
        equal(names(one), ['a', 'b'], 'the first page');
        await compact(space, versionOf(one));
        await space.remove('c');
        const next = { limit: 1, continue: one.metadata.continue };
        const { metadata } = await api.refused(410, 'Expired',
            'The provided continue parameter is too old', 'GET', space.path, space.mine(next));
        const two = await space.list({ limit: 1, continue: metadata.continue });
        equal(names(two), ['d'], 'it goes on in the newest state');
        if (versionOf(two) <= versionOf(one)) fail('which has a newer version');
        const three = await space.list({ continue: two.metadata.continue });
        equal([names(three), versionOf(three)], [['filler'], versionOf(two)], 'and keeps it');
    },

    'RunTestCompactRevision': async (api, space) => {
        const before = await floor(api);
        const a = await space.create('a');
        await compact(space, versionOf(a));
        const after = await floor(api);
        if (!(after > before && after >= versionOf(a))) fail(`from ${before} to ${after}`);
        // Whoever has just listed can always watch from there.
        const list = await space.list();
        const stream = space.watch({ resourceVersion: versionOf(list) });
        await stream.sees(['MODIFIED', await space.set('a', '1')]);
        await until('floor', async () => (await floor(api)) >= after);
    },
};
