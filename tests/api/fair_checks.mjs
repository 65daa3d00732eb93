// Heavy definitions of one user do not make another's wait until all of them are checked. It is the
// order that counts: ann's are all there before bob sends his one.
//
//   node fair_checks.mjs FOLDER HTTP HTTPS PID
import { clientOf, must, root, usageOf, wrong } from './fair_setting.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const flood_n = 60;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

// A definition that takes its time: each pattern has to be compiled.
function definition(name, patterns) {
    const properties = {};
    for (let i = 0; i < patterns; i++)
        properties[`p${i}`] = { type: 'string', pattern: `[ab]*a[ab]{${700 + i}}c` };
    return {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${name}.example.com` },
        spec: {
            group: 'example.com',
            scope: 'Cluster',
            names: { plural: name, kind: name },
            versions: [
                {
                    name: 'v1',
                    served: true,
                    storage: true,
                    schema: { openAPIV3Schema: { type: 'object', properties } },
                },
            ],
        },
    };
}

async function bindDefiners() {
    const group = 'rbac.authorization.k8s.io';
    const meta = { apiVersion: `${group}/v1`, metadata: { name: 'definers' } };
    await must(root, 201, 'POST', `/apis/${group}/v1/clusterroles`, {
        ...meta,
        kind: 'ClusterRole',
        rules: [
            {
                apiGroups: ['apiextensions.k8s.io'],
                resources: ['customresourcedefinitions'],
                verbs: ['get', 'create'],
            },
        ],
    });
    await must(root, 201, 'POST', `/apis/${group}/v1/clusterrolebindings`, {
        ...meta,
        kind: 'ClusterRoleBinding',
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'definers' },
        subjects: [{ apiGroup: group, kind: 'Group', name: 'crew' }],
    });
}

await bindDefiners();
const [ann, bob] = [clientOf('ann', flood_n), clientOf('bob')];
const mayDefine = async (client) =>
    (await client.ask('GET', `${definitions}/none.example.com`)).status === 404;
await untilTrue(async () => (await mayDefine(ann)) && (await mayDefine(bob)));

let answered = 0;
const statuses = {};
const flood = Array.from({ length: flood_n }, async (_, i) => {
    const { status } = await ann.ask('POST', `${definitions}?dryRun=All`, definition(`a${i}`, 150));
    answered++;
    statuses[status] = (statuses[status] ?? 0) + 1;
});
await untilTrue(async () => (await usageOf('ann'))?.requests + answered >= flood_n);
const before = flood_n - answered;
const { status } = await bob.ask('POST', `${definitions}?dryRun=All`, definition('bobs', 1));
const after = flood_n - answered;
tap('the checks of one user wait', wrong(before > flood_n / 2, before));
tap('those of another are done meanwhile', wrong(status === 201 && after > 10, { status, after }));
await Promise.all(flood);
tap('and all in the end', wrong(statuses[201] === flood_n, statuses));
for (const client of [ann, bob, root]) client.close();
tapEnd();
