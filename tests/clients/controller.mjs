// Eight controllers on @kubernetes/client-node's informer that share the status of each object, while
// somebody changes the specs. Each owns a condition and a counter, writes status with the version that
// it decided on, and reads nothing but its informer: after a conflict it goes on when the informer has
// come to the version that the conflict names. Prints TAP.
//
// The controllers' rights are those of docs/security.md; TOKEN is their user's, "gauge-controller".
import { createRequire } from 'node:module';

import { equal, finish, tap, until } from './tap.mjs';

const require = createRequire(process.argv[2] + '/package.json');
const k8s = await import(require.resolve('@kubernetes/client-node'));

const WRITERS = 8;
const OBJECTS = 10;
const CHANGES = 5; // of each spec
const [group, version, plural, namespace] = ['example.com', 'v1', 'gauges', 'default'];
const where = { group, version, plural, namespace };
const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;

const admin = new k8s.KubeConfig();
admin.loadFromDefault();
const controller = new k8s.KubeConfig();
controller.loadFromOptions({
    clusters: admin.clusters,
    users: [{ name: 'controller', token: process.env.TOKEN }],
    contexts: [{ name: 'c', user: 'controller', cluster: admin.getCurrentCluster().name }],
    currentContext: 'c',
});
const custom = admin.makeApiClient(k8s.CustomObjectsApi);
const limited = controller.makeApiClient(k8s.CustomObjectsApi);

const map = (properties) => ({ type: 'object', properties });
const condition = map({
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', format: 'int64' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: { type: 'string' },
    message: { type: 'string' },
});
const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
        name: `${plural}.${group}`,
        annotations: {
            'vedette.dev/status-precondition': 'required',
            'vedette.dev/status-boundary': 'strict',
        },
    },
    spec: {
        group,
        scope: 'Namespaced',
        names: { kind: 'Gauge', plural },
        versions: [
            {
                name: version,
                served: true,
                storage: true,
                subresources: { status: {} },
                schema: {
                    openAPIV3Schema: map({
                        spec: map({ target: { type: 'integer' } }),
                        status: map({
                            writes: { type: 'object', additionalProperties: { type: 'integer' } },
                            conditions: {
                                type: 'array',
                                'x-kubernetes-list-type': 'map',
                                'x-kubernetes-list-map-keys': ['type'],
                                items: { ...condition, required: ['type', 'status'] },
                            },
                        }),
                    }),
                },
            },
        ],
    },
};
const rules = [
    { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [group], resources: [`${plural}/status`], verbs: ['update', 'patch'] },
];

const statusOf = (error) =>
    typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
const works = async (run) => {
    try {
        await run();
        return true;
    } catch {
        return false;
    }
};

// ---- a controller ----

const wrong = []; // what no controller should ever see
let conflicts = 0;

class Controller {
    constructor(id) {
        this.type = `Writer${id}`;
        this.wins = new Map(); // name -> writes that were acknowledged
        this.queue = new Set();
        this.busy = false;
        this.informer = k8s.makeInformer(controller, path, () =>
            limited.listNamespacedCustomObject(where));
        for (const verb of ['add', 'update'])
            this.informer.on(verb, (object) => this.add(object.metadata.name));
        this.informer.on('error', () => {
            if (!this.stopped) setTimeout(() => this.informer.start(), 50);
        });
    }

    add(name) {
        this.queue.add(name);
        this.work();
    }

    async work() {
        if (this.busy) return;
        this.busy = true;
        for (const name of this.queue) {
            this.queue.delete(name);
            await this.reconcile(name);
        }
        this.busy = false;
    }

    async reconcile(name) {
        const object = structuredClone(this.informer.get(name, namespace));
        if (!object) return;
        const conditions = object.status?.conditions ?? [];
        const mine = conditions.find(({ type }) => type === this.type);
        if (mine?.observedGeneration === object.metadata.generation) return;
        object.status = {
            writes: {
                ...object.status?.writes,
                [this.type]: (object.status?.writes?.[this.type] ?? 0) + 1,
            },
            conditions: [
                ...conditions.filter(({ type }) => type !== this.type),
                {
                    type: this.type,
                    status: object.spec.target % 2 ? 'True' : 'False',
                    observedGeneration: object.metadata.generation,
                    lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ''),
                    reason: 'Measured',
                    message: `target ${object.spec.target}`,
                },
            ],
        };
        try {
            await limited.replaceNamespacedCustomObjectStatus({ ...where, name, body: object });
            this.wins.set(name, (this.wins.get(name) ?? 0) + 1);
        } catch (error) {
            this.conflict(name, object.metadata.resourceVersion, error);
        }
    }

    // Nothing is read: either the informer has the current version already, or its event, which is
    // on its way, brings the object back into the queue.
    conflict(name, sent, error) {
        const cause = error.code === 409 ? statusOf(error).details.causes[0] : null;
        if (cause?.reason !== 'CurrentResourceVersion' || !(Number(cause.message) > Number(sent)))
            return wrong.push(`${name} at ${sent}: ${error.body ?? error}`);
        conflicts++;
        const held = this.informer.get(name, namespace)?.metadata.resourceVersion;
        if (Number(held) >= Number(cause.message)) this.queue.add(name);
    }
}

// ---- the story ----

const name = (i) => `g${i}`;
const list = async () => (await custom.listNamespacedCustomObject(where)).items;

await tap('a kind, live at once', async () => {
    await admin
        .makeApiClient(k8s.ApiextensionsV1Api)
        .createCustomResourceDefinition({ body: definition });
    await until('the kind', () => works(list));
});
await tap('the role of a controller', async () => {
    const rbac = admin.makeApiClient(k8s.RbacAuthorizationV1Api);
    const metadata = { name: 'gauge-controller' };
    const apiGroup = 'rbac.authorization.k8s.io';
    await rbac.createClusterRole({ body: { metadata, rules } });
    await rbac.createClusterRoleBinding({
        body: {
            metadata,
            roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
            subjects: [{ apiGroup, kind: 'User', name: metadata.name }],
        },
    });
    await until('the right', () => works(() => limited.listNamespacedCustomObject(where)));
});

const controllers = Array.from({ length: WRITERS }, (_, id) => new Controller(id));

await tap('all converge, while specs change', async () => {
    for (let i = 0; i < OBJECTS; i++)
        await custom.createNamespacedCustomObject({
            ...where,
            body: {
                apiVersion: `${group}/${version}`,
                kind: 'Gauge',
                metadata: { name: name(i) },
                spec: { target: 0 },
            },
        });
    await Promise.all(controllers.map(({ informer }) => informer.start()));
    for (let target = 1; target <= CHANGES; target++)
        for (let i = 0; i < OBJECTS; i++)
            await custom.patchNamespacedCustomObject(
                { ...where, name: name(i), body: { spec: { target } } },
                k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch),
            );
    const isDone = ({ metadata, status }) =>
        status?.conditions?.length === WRITERS &&
        status.conditions.every((c) => c.observedGeneration === metadata.generation);
    await until('what was wanted', async () => (await list()).every(isDone), 90);
});
await tap('every writer saw conflicts that named a newer version', async () => {
    equal(wrong, []);
    equal(conflicts > 0, true);
});
await tap('no acknowledged write is lost', async () => {
    for (const { metadata, status } of await list())
        for (const { type, wins } of controllers)
            equal([metadata.name, type, status.writes[type]],
                [metadata.name, type, wins.get(metadata.name)]);
});
await tap('conditions say what the spec says', async () => {
    for (const { spec, status } of await list())
        for (const c of status.conditions)
            equal([c.status, c.message],
                [spec.target % 2 ? 'True' : 'False', `target ${spec.target}`]);
});
await tap('specs and generations are the author\'s', async () => {
    for (const { metadata, spec } of await list())
        equal([metadata.generation, spec], [1 + CHANGES, { target: CHANGES }]);
});
await tap('the informers have what the server has', async () => {
    const versions = (items) =>
        items.map(({ metadata: m }) => `${m.name}@${m.resourceVersion}`).sort();
    const want = JSON.stringify(versions(await list()));
    const same = ({ informer }) => JSON.stringify(versions(informer.list(namespace))) === want;
    await until('the last events', () => controllers.every(same));
});
await tap('a controller cannot write spec', async () => {
    const merge = k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch);
    const body = { spec: { target: 99 } };
    const refused = async (run) => {
        try {
            await run();
        } catch (error) {
            return error.code;
        }
        return 200;
    };
    equal(await refused(() =>
        limited.patchNamespacedCustomObject({ ...where, name: name(0), body }, merge)), 403);
    const [object] = await list();
    equal(await refused(() =>
        limited.replaceNamespacedCustomObjectStatus({
            ...where,
            name: object.metadata.name,
            body: { ...object, ...body },
        })), 422);
});
console.log(`# ${conflicts} conflicts`);
for (const c of controllers) {
    c.stopped = true;
    await c.informer.stop();
}
finish();
