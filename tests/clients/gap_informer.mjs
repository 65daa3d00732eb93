// An informer of @kubernetes/client-node through a gap: prints TAP. The file `killed` asks
// gap_node_test.sh to kill the server and start it again, `restarted` says that it was done.
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
const body = (name, v) => ({ metadata: { name }, data: { v } });
const create = (name, v) => core.createNamespacedConfigMap({ namespace, body: body(name, v) });
const replace = (name, v) =>
    core.replaceNamespacedConfigMap({ namespace, name, body: body(name, v) });
const remove = (name) => core.deleteNamespacedConfigMap({ namespace, name });

let lists = 0;
const informer = k8s.makeInformer(config, path, () => {
    lists++;
    return core.listNamespacedConfigMap({ namespace });
});
const log = [];
for (const verb of ['add', 'update', 'delete'])
    informer.on(verb, ({ metadata, data }) => log.push(`${verb} ${metadata.name}=${data?.v}`));
const failures = []; // of its streams; it is started again when the test says so
informer.on('error', (error) => failures.push(error));

// Writes until the window has passed a version: an exact list of it is then refused.
async function pass(resourceVersion) {
    const exact = { namespace, resourceVersion, resourceVersionMatch: 'Exact' };
    for (let i = 0; ; i++) {
        try {
            await core.listNamespacedConfigMap(exact);
        } catch (error) {
            if (error.code === 410) return;
            throw error;
        }
        if (i > 2000) throw new Error('the window never passes');
        await replace('filler', `${i}`);
    }
}

let cursor;
await tap('an informer has what there is', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'filler']) await create(name, '1');
    await informer.start();
    await until('the list', () => log.includes('add d=1') && log.includes('add filler=1'));
    await replace('d', '2');
    await until('an update', () => log.includes('update d=2'));
    cursor = informer.get('d', namespace).metadata.resourceVersion;
});
await tap('its server is killed and comes back', async () => {
    fs.writeFileSync('killed', '');
    await until('the restart', () => fs.existsSync('restarted'));
    await until('the end of its stream', () => failures.length > 0);
});
await tap('objects go, and so does its resourceVersion', async () => {
    await remove('a');
    await remove('b');
    await create('b', '3'); // another one of the same name
    await replace('c', '4');
    await create('e', '5');
    await create('f', '6');
    await remove('f');
    await pass(cursor);
});
await tap('it is told of every deletion that it missed', async () => {
    log.length = 0;
    await informer.start();
    await until('a second list', () => lists === 2);
    await until('what has come', () => log.includes('add e=5'));
    equal(log.filter((line) => !/ (filler|kube-root-ca.crt)=/.test(line)).sort(),
        ['add e=5', 'delete a=1', 'update b=3', 'update c=4']);
});
await tap('its copy is the server\'s, and follows on', async () => {
    await remove('c');
    await until('the next deletion', () => log.includes('delete c=4'));
    const { items } = await core.listNamespacedConfigMap({ namespace });
    const names = (list) => list.map(({ metadata: m }) => `${m.name}@${m.uid}`).sort();
    equal(names(informer.list(namespace)), names(items));
    equal(lists, 2);
});
await informer.stop();
finish();
