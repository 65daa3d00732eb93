// @kubernetes/client-node and server-side apply: prints TAP.
import { createRequire } from 'node:module';
import { equal, finish, tap } from './tap.mjs';

const require = createRequire(process.argv[2] + '/package.json');
const k8s = await import(require.resolve('@kubernetes/client-node'));

const config = new k8s.KubeConfig();
config.loadFromDefault();
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const core = config.makeApiClient(k8s.CoreV1Api);
const namespace = 'default';
const object = (data) => ({
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace }, data,
});
const apply = (manager, data, force) =>
    objects.patch(object(data), undefined, undefined, manager, force,
        k8s.PatchStrategy.ServerSideApply);
const managers = (o) => o.metadata.managedFields.map((e) => [e.manager, e.operation, e.fieldsV1]);

await tap('apply creates, and owns what it applied', async () => {
    const made = await apply('one', { color: 'red', size: 'big' });
    equal(managers(made), [['one', 'Apply', { 'f:data': { 'f:color': {}, 'f:size': {} } }]]);
    equal(made.metadata.managedFields[0].time instanceof Date, true);
});
await tap('a conflict says with whom', async () => {
    try {
        await apply('two', { color: 'blue' });
    } catch (error) {
        const status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
        return equal([error.code, status.details.causes], [409, [{
            reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.color',
        }]]);
    }
    throw new Error('it was not refused');
});
await tap('force takes over', async () => {
    const taken = await apply('two', { color: 'blue' }, true);
    equal(managers(taken), [['one', 'Apply', { 'f:data': { 'f:size': {} } }],
        ['two', 'Apply', { 'f:data': { 'f:color': {} } }]]);
});
await tap('what is no longer applied goes', async () => {
    const left = await apply('one', {});
    equal(left.data, { color: 'blue' });
});
await tap('a typed update is recorded by its agent, and sends the record back', async () => {
    const got = await core.readNamespacedConfigMap({ namespace, name: 'c' });
    got.data.shape = 'round';
    const put = await core.replaceNamespacedConfigMap({ namespace, name: 'c', body: got });
    const entry = put.metadata.managedFields.find((e) => e.operation === 'Update');
    equal(entry.fieldsV1, { 'f:data': { 'f:shape': {} } });
    const again = await core.replaceNamespacedConfigMap({ namespace, name: 'c', body: put });
    equal(again.metadata.resourceVersion, put.metadata.resourceVersion);
});
finish();
