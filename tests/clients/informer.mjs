// @kubernetes/client-node against a server: prints TAP. What needs the server to die is between
// this and node_test.sh: the file `killed` asks for it, `restarted` says that it was done.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { equal, finish, tap, until } from './tap.mjs';

const require = createRequire(process.argv[2] + '/package.json');
const k8s = await import(require.resolve('@kubernetes/client-node'));

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const body = (name, v, extra = {}) => ({ metadata: { name, ...extra }, data: { v } });

async function refused(code, reason, run) {
    try {
        await run();
    } catch (error) {
        equal(error instanceof k8s.ApiException, true);
        const status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
        return equal([error.code, status.kind, status.reason], [code, 'Status', reason]);
    }
    throw new Error(`it was not refused; wanted ${code} ${reason}`);
}

const create = (name, v) => core.createNamespacedConfigMap({ namespace, body: body(name, v) });
const replace = (name, v) =>
    core.replaceNamespacedConfigMap({ namespace, name, body: body(name, v) });
const remove = (name) => core.deleteNamespacedConfigMap({ namespace, name });

await tap('create and read', async () => {
    await create('a', '1');
    const got = await core.readNamespacedConfigMap({ namespace, name: 'a' });
    equal([got.data, got.metadata.creationTimestamp instanceof Date], [{ v: '1' }, true]);
});
await tap('list with limit and continue', async () => {
    await create('b', '1');
    const one = await core.listNamespacedConfigMap({ namespace, limit: 1 });
    equal(one.items.length, 1);
    const next = { namespace, limit: 1, _continue: one.metadata._continue };
    const two = await core.listNamespacedConfigMap(next);
    equal(two.items.length === 1 && two.items[0].metadata.name > one.items[0].metadata.name, true);
});
await tap('404 NotFound', () =>
    refused(404, 'NotFound', () => core.readNamespacedConfigMap({ namespace, name: 'none' })));
await tap('409 AlreadyExists', () => refused(409, 'AlreadyExists', () => create('a', '1')));
await tap('409 Conflict', () =>
    refused(409, 'Conflict', () =>
        core.replaceNamespacedConfigMap({
            namespace,
            name: 'a',
            body: body('a', '2', { resourceVersion: '1' }),
        })));
await tap('422 Invalid', () => refused(422, 'Invalid', () => create('A_B', '1')));

// ---- a watch, and an informer that outlives its server ----

await tap('a watch sees what others do', async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const seen = [];
    const query = { resourceVersion: metadata.resourceVersion };
    const request = await new k8s.Watch(config).watch(
        path,
        query,
        (type, object) => seen.push(`${type} ${object.metadata.name}`),
        () => {},
    );
    await create('w', '1');
    await replace('w', '2');
    await remove('w');
    await until('three events', () => seen.length >= 3);
    equal(seen, ['ADDED w', 'MODIFIED w', 'DELETED w']);
    request.abort();
});

let lists = 0;
const informer = k8s.makeInformer(config, path, () => {
    lists++;
    return core.listNamespacedConfigMap({ namespace });
});
const log = [];
for (const verb of ['add', 'update', 'delete'])
    informer.on(verb, ({ metadata, data }) => log.push(`${verb} ${metadata.name}=${data?.v}`));
let stopping = false;
informer.on('error', () => {
    if (!stopping) setTimeout(() => informer.start(), 50);
});

await tap('an informer: add, update, delete', async () => {
    await informer.start();
    await until('the list', () => log.includes('add a=1') && log.includes('add b=1'));
    log.length = 0;
    await create('c', '1');
    await replace('c', '2');
    await remove('c');
    await until('three calls', () => log.length >= 3);
    equal(log, ['add c=1', 'update c=2', 'delete c=2']);
});
await tap('it goes on after kill -9 and a restart, without a list', async () => {
    log.length = 0;
    await replace('a', '2');
    await until('the last update before', () => log.length === 1);
    fs.writeFileSync('killed', '');
    await until('the restart', () => fs.existsSync('restarted'));
    await replace('a', '3');
    await remove('b');
    await until('what follows', () => log.length >= 3);
    equal([log, lists], [['update a=2', 'update a=3', 'delete b=1'], 1]);
});
await tap('its copy is the server\'s', async () => {
    const { items } = await core.listNamespacedConfigMap({ namespace });
    const names = (list) => list.map(({ metadata: m }) => `${m.name}@${m.resourceVersion}`).sort();
    equal(names(informer.list(namespace)), names(items));
});
stopping = true;
await informer.stop();
finish();
