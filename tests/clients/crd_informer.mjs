// Custom kinds with @kubernetes/client-node: prints TAP. The file `killed` asks crd_node_test.sh to
// kill the server and start it again, `restarted` says that it was done.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { equal, finish, tap, until } from './tap.mjs';

const require = createRequire(process.argv[2] + '/package.json');
const k8s = await import(require.resolve('@kubernetes/client-node'));

const config = new k8s.KubeConfig();
config.loadFromDefault();
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const where = { group: 'example.org', version: 'v1', namespace: 'default', plural: 'robots' };
const path = '/apis/example.org/v1/namespaces/default/robots';
const name = 'robots.example.org';

const version = (extra = {}) => ({
    name: 'v1',
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: {
        openAPIV3Schema: {
            type: 'object',
            properties: {
                spec: {
                    type: 'object',
                    required: ['arms'],
                    properties: { arms: { type: 'integer', minimum: 0 }, ...extra },
                },
                status: { type: 'object', properties: { moving: { type: 'boolean' } } },
            },
        },
    },
});
const definition = {
    metadata: { name },
    spec: {
        group: where.group,
        scope: 'Namespaced',
        names: { plural: 'robots', kind: 'Robot' },
        versions: [version()],
    },
};
const robot = (metadata, spec) => ({
    apiVersion: 'example.org/v1',
    kind: 'Robot',
    metadata: typeof metadata === 'string' ? { name: metadata } : metadata,
    spec,
});
const create = (robotName, spec) =>
    custom.createNamespacedCustomObject({ ...where, body: robot(robotName, spec) });
const read = (robotName) => custom.getNamespacedCustomObject({ ...where, name: robotName });
async function replace(robotName, spec) {
    const { metadata } = await read(robotName);
    const body = robot(metadata, spec);
    return custom.replaceNamespacedCustomObject({ ...where, name: robotName, body });
}

await tap('a definition is created, and its kind is there', async () => {
    await definitions.createCustomResourceDefinition({ body: definition });
    const made = await create('a', { arms: 2 });
    equal([made.kind, made.metadata.generation], ['Robot', 1]);
});
await tap('it is established', () =>
    until('Established', async () => {
        const { status } = await definitions.readCustomResourceDefinition({ name });
        return status.conditions.some((c) => c.type === 'Established' && c.status === 'True');
    }));
await tap('a bad object is refused, with its causes', async () => {
    try {
        await create('bad', { arms: -1 });
    } catch (error) {
        const status = JSON.parse(error.body);
        return equal([error.code, status.details.causes[0].field], [422, 'spec.arms']);
    }
    throw new Error('it was not refused');
});

let lists = 0;
const log = [];
const informer = k8s.makeInformer(config, path, async () => {
    lists++;
    return custom.listNamespacedCustomObject(where);
});
for (const verb of ['add', 'update', 'delete'])
    informer.on(verb, (o) => log.push(`${verb} ${o.metadata.name}=${o.spec.arms},${o.status?.moving}`));
let stopping = false;
informer.on('error', () => {
    if (!stopping) setTimeout(() => informer.start(), 50);
});

await tap('an informer: add, update, delete', async () => {
    await informer.start();
    await until('the list', () => log.includes('add a=2,undefined'));
    log.length = 0;
    await create('b', { arms: 1 });
    await replace('b', { arms: 3 });
    await custom.deleteNamespacedCustomObject({ ...where, name: 'b' });
    await until('three calls', () => log.length >= 3);
    equal(log, ['add b=1,undefined', 'update b=3,undefined', 'delete b=3,undefined']);
});
await tap('a status is an update', async () => {
    log.length = 0;
    const body = { ...(await read('a')), status: { moving: true } };
    await custom.replaceNamespacedCustomObjectStatus({ ...where, name: 'a', body });
    await until('the update', () => log.length >= 1);
    equal(log, ['update a=2,true']);
});
await tap('the definition gets a field, and the informer goes on', async () => {
    log.length = 0;
    const body = await definitions.readCustomResourceDefinition({ name });
    body.spec.versions = [version({ legs: { type: 'integer', _default: 4 } })];
    await definitions.replaceCustomResourceDefinition({ name, body });
    const made = await create('c', { arms: 0 });
    equal(made.spec, { arms: 0, legs: 4 });
    await until('the new robot', () => log.length >= 1);
    equal([log, lists], [['add c=0,undefined'], 1]);
});
await tap('so it does after kill -9 and a restart', async () => {
    log.length = 0;
    fs.writeFileSync('killed', '');
    await until('the restart', () => fs.existsSync('restarted'));
    await replace('c', { arms: 5 });
    await until('what follows', () => log.length >= 1);
    equal([log, lists], [['update c=5,undefined'], 1]);
});
await tap('it is told of every deletion when the definition goes', async () => {
    log.length = 0;
    await definitions.deleteCustomResourceDefinition({ name });
    await until('the deletions', () => log.length >= 2);
    equal(log.sort(), ['delete a=2,true', 'delete c=5,undefined']);
});
stopping = true;
await informer.stop();
finish();
