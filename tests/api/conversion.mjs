// Conversion by webhook (docs/crds.md): a real server asks a real webhook over HTTPS, on reads,
// writes and watches, in both directions; and the webhook is slow, fails, lies and goes away.
//
//     node conversion.mjs VEDETTE FOLDER
import fs from 'node:fs';
import { Webhook, certificates, definition, silentDoor, SERVICE } from './conversion_webhook.mjs';
import { Api, equal, fail, until } from './rest.mjs';
import { ServerProcess } from './server_process.mjs';
import { tap, tapEnd } from './tap.mjs';

const [binary, folder] = process.argv.slice(2);
const files = certificates(folder);
const hook = await new Webhook(files).listen();
// A server that is stopped does not wait long for a webhook that never answers.
const options = ['--threads', '2', '--drain-timeout', '1s'];
const server = new ServerProcess(binary, `${folder}/data`, options);
await server.start();
let api = new Api(server.tls);

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const crd = `${crds}/crontabs.stable.example.com`;
const at = (version, name = '') =>
    `/apis/stable.example.com/${version}/namespaces/default/crontabs${name && `/${name}`}`;
const old = (name) => at('v1beta1', name);
const now = (name) => at('v1', name);
const failed = 'conversion webhook for stable.example.com/v1beta1, Kind=CronTab';

const tab = (version, name, spec, more = {}) => ({
    apiVersion: `stable.example.com/${version}`,
    kind: 'CronTab',
    metadata: { name, ...more },
    spec,
});

const only = process.env.ONLY;
async function test(name, run) {
    if (only && !name.includes(only)) return;
    hook.mode = 'good';
    hook.delayMs = 0;
    hook.gate = null;
    try {
        await run();
        tap(name, []);
    } catch (error) {
        tap(name, [String(error.stack).slice(0, 2000)]);
    }
    api.closeStreams();
}

// Points the definition at another place, or at what it stores.
async function redefine(config, storage, at = api) {
    const { metadata } = await at.get(crd);
    const fresh = definition(config, storage);
    fresh.metadata.resourceVersion = metadata.resourceVersion;
    await at.put(crd, fresh);
}

// A webhook that is asked and never answers, and one that never ends its handshake. A server of
// their own waits for them while the other tests go on.
async function waitForSilence() {
    const mute = await new Webhook(files).listen();
    mute.mode = 'never';
    const door = await silentDoor();
    const patient = new ServerProcess(binary, `${folder}/patient`, options);
    await patient.start();
    const asked = new Api(patient.tls);
    await asked.post(crds, definition(mute.clientConfig()));
    await asked.post(old(), tab('v1beta1', 'slow', { hostPort: 's:1' }));
    await asked.post(old(), tab('v1beta1', 'slower', { hostPort: 's:2' }));
    const start = Date.now();
    let answered = 0;
    const get = (name) => asked.call('GET', now(name)).finally(() => answered++);
    const first = get('slow');
    await until('it is asked', () => mute.calls > 0);
    await redefine({ ...mute.clientConfig(), url: `https://127.0.0.1:${door.port}/` }, undefined,
        asked);
    const second = get('slower');
    for (let i = 0; i < 50; i++) {
        await asked.get('/readyz');
        await asked.get(old('slow'));
    }
    equal(answered, 0, 'answers before others were served');
    for (const answer of [await first, await second])
        equal([answer.status, answer.object.message.includes('did not answer in time')],
            [500, true], JSON.stringify(answer.object));
    const took = Date.now() - start;
    if (took < 29000) fail(`it took ${took} ms`);
    door.close();
    await mute.close();
    await patient.stop('SIGTERM');
}
const silence = waitForSilence();
silence.catch(() => {}); // the test that waits for it tells

await api.post(crds, definition(hook.clientConfig()));

await test('what is written in the stored version needs no webhook', async () => {
    await api.post(old(), tab('v1beta1', 'a', { hostPort: 'h:80' }));
    equal((await api.get(old('a'))).spec, { hostPort: 'h:80' });
    equal(hook.calls, 0, 'calls');
});

await test('get in another version', async () => {
    const got = await api.get(now('a'));
    equal([got.apiVersion, got.spec], ['stable.example.com/v1', { host: 'h', port: '80' }]);
    const stored = await api.get(old('a'));
    equal(got.metadata, stored.metadata, 'metadata');
});

await test('the review is as Kubernetes sends it', async () => {
    await api.patch(old('a'), { metadata: { labels: { x: '1' } } });
    await api.get(now('a'));
    const { review, url } = hook.reviews.at(-1);
    equal([review.kind, review.apiVersion], ['ConversionReview', 'apiextensions.k8s.io/v1']);
    equal(review.request.desiredAPIVersion, 'stable.example.com/v1');
    equal(review.request.objects[0].apiVersion, 'stable.example.com/v1beta1');
    equal(url, '/convert?timeout=30s');
});

await test('what has been converted is kept for the next', async () => {
    const before = hook.calls;
    for (let i = 0; i < 5; i++) await api.get(now('a'));
    equal(hook.calls, before, 'calls');
});

await test('create in another version: stored in the stored one, answered in the asked', async () => {
    const made = await api.post(now(), tab('v1', 'b', { host: 'g', port: '443' }));
    equal(made.spec, { host: 'g', port: '443' });
    equal(made.apiVersion, 'stable.example.com/v1');
    const stored = await api.get(old('b'));
    equal(stored.spec, { hostPort: 'g:443' });
    equal(stored.metadata.resourceVersion, made.metadata.resourceVersion);
    equal((await api.get(now('b'))).spec, made.spec);
});

await test('a dry run converts and writes nothing', async () => {
    const made = await api.post(now(), tab('v1', 'dry', { host: 'g', port: '1' }), {
        dryRun: 'All',
    });
    equal(made.spec, { host: 'g', port: '1' });
    await api.refused(404, 'NotFound', '', 'GET', old('dry'));
});

await test('update in another version, and one that changes nothing', async () => {
    const got = await api.get(now('b'));
    got.spec.port = '444';
    const put = await api.put(now('b'), got);
    equal([put.spec, put.metadata.generation], [{ host: 'g', port: '444' }, 2]);
    equal((await api.get(old('b'))).spec, { hostPort: 'g:444' });
    const same = await api.put(now('b'), put);
    equal(same, put, 'the same again');
});

await test('a stale update in another version is a conflict', async () => {
    const got = await api.get(now('b'));
    await api.patch(old('b'), { metadata: { labels: { y: '1' } } });
    await api.refused(409, 'Conflict', '', 'PUT', now('b'), {}, { ...got, spec: { host: 'z' } });
});

await test('patches in another version', async () => {
    const merged = await api.patch(now('b'), { spec: { port: '445' } });
    equal(merged.spec, { host: 'g', port: '445' });
    const patched = await api.good(
        'PATCH', now('b'), {}, [{ op: 'replace', path: '/spec/host', value: 'k' }],
        'application/json-patch+json');
    equal(patched.spec, { host: 'k', port: '445' });
    equal((await api.get(old('b'))).spec, { hostPort: 'k:445' });
});

await test('apply in another version; managedFields keep their versions', async () => {
    const apply = (version, name, spec) =>
        api.good('PATCH', at(version, name), { fieldManager: version, force: 'true' },
            tab(version, name, spec), 'application/apply-patch+yaml');
    const made = await apply('v1', 'applied', { host: 'm', port: '1' });
    equal(made.spec, { host: 'm', port: '1' });
    const again = await apply('v1', 'applied', { host: 'm', port: '2' });
    equal(again.spec, { host: 'm', port: '2' });
    const other = await apply('v1beta1', 'applied', { replicas: 3 });
    equal(other.spec, { hostPort: 'm:2', replicas: 3 });
    const versions = other.metadata.managedFields.map((e) => [e.manager, e.apiVersion]);
    equal(versions.sort(), [
        ['v1', 'stable.example.com/v1'], ['v1beta1', 'stable.example.com/v1beta1']]);
});

await test('status and scale in another version', async () => {
    const { metadata } = await api.get(now('b'));
    const status = await api.put(`${now('b')}/status`, {
        ...tab('v1', 'b', {}, { resourceVersion: metadata.resourceVersion }),
        status: { phase: 'up', replicas: 1 },
    });
    equal([status.spec, status.status], [{ host: 'k', port: '445' }, { phase: 'up', replicas: 1 }]);
    equal((await api.get(old('b'))).status, { phase: 'up', replicas: 1 });
    const scale = await api.patch(`${now('b')}/scale`, { spec: { replicas: 5 } });
    equal([scale.kind, scale.spec], ['Scale', { replicas: 5 }]);
    equal((await api.get(`${now('b')}/scale`)).spec, { replicas: 5 });
    equal((await api.get(old('b'))).spec, { hostPort: 'k:445', replicas: 5 });
});

await test('lists, pages and tables in another version', async () => {
    const made = [];
    for (let i = 0; i < 300; i++)
        made.push(api.post(old(), tab('v1beta1', `l${i}`, { hostPort: `h${i}:${i}` },
            { labels: { list: 'y' } })));
    await Promise.all(made);
    const before = hook.calls;
    const list = await api.get(now(), { labelSelector: 'list=y' });
    equal([list.kind, list.items.length], ['CronTabList', 300]);
    for (const { apiVersion, metadata, spec } of list.items)
        equal([apiVersion, spec.host], ['stable.example.com/v1', metadata.name.replace('l', 'h')]);
    if (hook.calls - before > 10) fail(`${hook.calls - before} calls for 300 objects`);
    if (hook.largest > 128) fail(`${hook.largest} objects in a call`);
    const page = await api.get(now(), { labelSelector: 'list=y', limit: 7 });
    equal([page.items.length, page.items[0].spec.host], [7, 'h0']);
    const next = await api.get(now(), {
        labelSelector: 'list=y', limit: 300, continue: page.metadata.continue });
    equal(next.items.length, 293);
});

await test('watches see every event in their version, in order', async () => {
    const from = (await api.get(old())).metadata.resourceVersion;
    const one = api.watch(now(), { resourceVersion: from });
    const other = api.watch(old(), { resourceVersion: from });
    await api.post(old(), tab('v1beta1', 'w', { hostPort: 'w:0' }));
    for (let i = 1; i <= 50; i++) await api.patch(old('w'), { spec: { hostPort: `w:${i}` } });
    await api.remove(now('w'));
    for (const [stream, spec] of [
        [one, (i) => ({ host: 'w', port: `${i}` })], [other, (i) => ({ hostPort: `w:${i}` })]]) {
        for (let i = 0; i <= 51; i++) {
            const event = await stream.change();
            const type = i === 0 ? 'ADDED' : i === 51 ? 'DELETED' : 'MODIFIED';
            equal([event.type, event.object.spec], [type, spec(Math.min(i, 50))], `event ${i}`);
        }
    }
});

await test('a watch that begins with all there is, its initial end, and one that leaves a filter',
    async () => {
        const stream = api.watch(now(), {
            labelSelector: 'list=y', sendInitialEvents: 'true', allowWatchBookmarks: 'true',
            resourceVersionMatch: 'NotOlderThan' });
        const seen = [];
        for (let i = 0; i < 300; i++) seen.push(await stream.next());
        equal(seen.every((e) => e.type === 'ADDED' && e.object.spec.host), true);
        const end = await stream.next();
        equal([end.type, end.object.metadata.annotations['k8s.io/initial-events-end']],
            ['BOOKMARK', 'true']);
        await api.patch(old('l7'), { metadata: { labels: { list: 'n' } }, spec: { hostPort: 'q:1' } });
        const left = await stream.change();
        equal([left.type, left.object.metadata.name, left.object.spec],
            ['DELETED', 'l7', { host: 'h7', port: '7' }]);
        equal((await api.get(now('l7'))).spec, { host: 'q', port: '1' });
    });

await test('many watches share one conversion', async () => {
    const from = (await api.get(old())).metadata.resourceVersion;
    const streams = [];
    while (streams.length < 200) { // some handshakes at a time
        const more = [];
        for (let i = 0; i < 50; i++) more.push(api.watch(now(), { resourceVersion: from }));
        await Promise.all(more.map((stream) => stream.status()));
        streams.push(...more);
    }
    const before = hook.objects;
    await api.patch(old('a'), { spec: { hostPort: 'many:1' } });
    for (const stream of streams)
        equal((await stream.change()).object.spec, { host: 'many', port: '1' });
    equal(hook.objects - before, 1, 'objects converted');
});

await test('labels and annotations are the webhook\'s, other metadata is not', async () => {
    await api.post(old(), tab('v1beta1', 'meta', { hostPort: 'x:1' }));
    hook.mode = 'meddle';
    const got = await api.get(now('meta'));
    equal(got.metadata.annotations, { converted: 'yes' });
    equal([got.metadata.generation, got.metadata.finalizers, got.unknown], [1, undefined, undefined]);
});

const lies = [
    ['lose', `${failed} returned 0 objects, expected 1`],
    ['wrong uid', `${failed} failed: expected response.uid=`],
    ['rename', 'must have the same name: lie-rename != evil'],
    ['no version',
        'invalid groupVersion (expected stable.example.com/v1, received stable.example.com/v1beta1)'],
    ['fail', `${failed} failed: hostPort could not be parsed`],
    ['garbage', `${failed} failed:`],
    ['status 500', 'the webhook answered with status 500'],
    ['redirect', 'the webhook answered with status 302'],
    ['huge', 'the server\'s answer is malformed or too long'],
];
for (const [mode, text] of lies)
    await test(`a webhook that lies or fails: ${mode}`, async () => {
        const name = `lie-${mode.replace(' ', '-')}`;
        await api.post(old(), tab('v1beta1', name, { hostPort: 'x:1' }, { labels: { lie: name } }));
        hook.mode = mode;
        await api.refused(500, undefined, text, 'GET', now(name));
        await api.refused(500, undefined, failed, 'GET', now(), { labelSelector: `lie=${name}` });
        const from = (await api.get(old())).metadata.resourceVersion;
        const before = (await api.get(old())).items.length;
        const made = await api.call('POST', now(), {}, tab('v1', `${name}-new`, { host: 'a' }));
        equal([made.status, made.object.code], [500, 500], 'create');
        equal((await api.get(old())).items.length, before, 'objects after a create that failed');
        const stream = api.watch(now(), { resourceVersion: from });
        await api.patch(old(name), { spec: { hostPort: 'y:1' } });
        const { type, object } = await stream.next();
        equal([type, object.code, object.reason], ['ERROR', 500, 'InternalError']);
        await stream.ends();
        equal((await api.get(old(name))).spec, { hostPort: 'y:1' });
        hook.mode = 'good';
        equal((await api.get(now(name))).spec, { host: 'y', port: '1' });
        await api.remove(old(name));
    });

await test('an object that cannot be converted does not spoil those of others', async () => {
    await api.post(old(), tab('v1beta1', 'poison', { hostPort: 'p:1' }, { labels: { p: 'y' } }));
    await api.post(old(), tab('v1beta1', 'pure', { hostPort: 'p:2' }, { labels: { p: 'y' } }));
    let open;
    hook.mode = 'fail poison';
    hook.gate = new Promise((resolve) => (open = resolve));
    const calls = hook.calls;
    const list = api.call('GET', now(), { labelSelector: 'p=y' });
    await until('the list asks', () => hook.calls > calls);
    const pure = api.call('GET', now('pure'));
    for (let i = 0; i < 20; i++) await api.get('/readyz'); // it has come meanwhile
    hook.gate = null;
    open();
    equal((await list).status, 500);
    equal((await pure).object.spec, { host: 'p', port: '2' });
    await api.remove(old('poison'));
});

await test('deleting needs no webhook, with finalizers neither', async () => {
    const finalizers = ['example.com/f'];
    await api.post(old(), tab('v1beta1', 'd1', { hostPort: 'd:1' }));
    await api.post(old(), tab('v1beta1', 'd2', { hostPort: 'd:2' }, { finalizers }));
    await api.post(old(), tab('v1beta1', 'd3', { hostPort: 'd:3' }, { finalizers }));
    const marked = await api.remove(now('d3'));
    equal([marked.apiVersion, marked.spec], ['stable.example.com/v1', { host: 'd', port: '3' }]);
    hook.mode = 'fail';
    equal((await api.remove(now('d1'))).status, 'Success');
    equal((await api.remove(now('d2'))).status, 'Success');
    const stored = await api.get(old('d2'));
    equal([stored.spec, !!stored.metadata.deletionTimestamp], [{ hostPort: 'd:2' }, true]);
    hook.mode = 'good';
    for (const name of ['d2', 'd3']) await api.patch(now(name), { metadata: { finalizers: [] } });
    for (const name of ['d1', 'd2', 'd3'])
        await api.refused(404, 'NotFound', '', 'GET', now(name));
});

await test('deleting many in another version', async () => {
    for (const name of ['m1', 'm2'])
        await api.post(old(), tab('v1beta1', name, { hostPort: 'm:1' }, { labels: { many: 'y' } }));
    hook.mode = 'fail';
    const query = { labelSelector: 'many=y' };
    equal((await api.good('DELETE', now(), query)).status, 'Success');
    equal((await api.get(old(), query)).items.length, 0);
});

await test('field selectors in a version that is not the stored one are refused', async () => {
    await api.refused(400, 'BadRequest', 'field label not supported: spec.replicas', 'GET', now(), {
        fieldSelector: 'spec.replicas=5' });
    equal((await api.get(old(), { fieldSelector: 'spec.replicas=5' })).items.length, 1);
    const named = await api.get(now(), { fieldSelector: 'metadata.name=a' });
    equal(named.items.map((item) => item.spec.host), ['many']);
});

await test('by a Service that has an address; without one the answer says so', async () => {
    await api.post('/api/v1/namespaces', { kind: 'Namespace', metadata: { name: SERVICE.namespace } });
    const services = `/api/v1/namespaces/${SERVICE.namespace}/services`;
    await redefine(hook.clientConfig(true));
    await api.refused(500, undefined, 'service "converter" not found', 'GET', now('a'));
    const service = {
        apiVersion: 'v1', kind: 'Service', metadata: { name: SERVICE.name },
        spec: { ports: [{ port: 443 }] },
    };
    await api.post(services, service);
    await api.refused(500, undefined, 'has no address', 'GET', now('a'));
    await api.patch(`${services}/converter`, { spec: { externalIPs: ['127.0.0.1'] } });
    equal((await api.get(now('a'))).spec, { host: 'many', port: '1' });
    equal(hook.reviews.at(-1).host, `converter.hooks.svc:${hook.port}`);
    await api.patch(`${services}/converter`, {
        spec: { type: 'ExternalName', externalName: '127.0.0.1', externalIPs: null } });
    await api.patch(old('a'), { spec: { hostPort: 'many:2' } });
    equal((await api.get(now('a'))).spec, { host: 'many', port: '2' });
});

await test('an authority that is not the webhook\'s is not trusted', async () => {
    const elsewhere = `${folder}/elsewhere`;
    fs.mkdirSync(elsewhere);
    const caBundle = certificates(elsewhere).ca.toString('base64');
    await redefine({ ...hook.clientConfig(), caBundle });
    await api.refused(500, undefined, 'no TLS with the server', 'GET', now('a'));
    await redefine(hook.clientConfig());
    equal((await api.get(now('a'))).spec, { host: 'many', port: '2' });
});

await test('the metrics count', async () => {
    const name = 'apiserver_conversion_webhook_request_total';
    if (!(await api.metric(name, 'result="success"'))) fail('no success');
    const wrong = 'failure_type="conversion_webhook_partial_response_failure"';
    if (!(await api.metric(name, wrong))) fail('no failure');
});

await api.post(old(), tab('v1beta1', 'slow', { hostPort: 's:1' }));

await test('another version becomes the stored one; old objects are converted from theirs', async () => {
    await redefine(hook.clientConfig(), 'v1');
    await until('both versions are recorded', async () =>
        (await api.get(crd)).status.storedVersions.join() === 'v1beta1,v1');
    const before = hook.calls;
    equal((await api.get(old('slow'))).spec, { hostPort: 's:1' });
    equal(hook.calls, before, 'calls for one that is stored in the version that is asked for');
    equal((await api.get(now('slow'))).spec, { host: 's', port: '1' });
    const same = await api.get(now('slow'));
    const put = await api.put(now('slow'), same);
    const calls = hook.calls;
    equal((await api.get(now('slow'))).spec, { host: 's', port: '1' });
    equal(hook.calls, calls, 'calls for one that was rewritten');
    equal(put.metadata.resourceVersion === same.metadata.resourceVersion, false, 'rewritten');
    const made = await api.post(old(), tab('v1beta1', 'late', { hostPort: 'l:1' }));
    equal(made.spec, { hostPort: 'l:1' });
    equal((await api.get(now('late'))).spec, { host: 'l', port: '1' });
});

await test('a restart, and a webhook that is down', async () => {
    await server.stop('SIGTERM');
    await server.start();
    api = new Api(server.tls);
    equal((await api.get(old('late'))).spec, { hostPort: 'l:1' });
    const { port } = hook;
    await hook.close();
    equal((await api.get(now('late'))).spec, { host: 'l', port: '1' });
    await api.refused(500, undefined, 'the server could not be reached', 'GET', now('a'));
    await hook.listen(port);
    equal((await api.get(now('a'))).spec, { host: 'many', port: '2' });
});

await test('a server that is stopped while a webhook thinks', async () => {
    await api.patch(old('late'), { spec: { hostPort: 'l:9' } });
    hook.mode = 'never';
    const calls = hook.calls;
    api.call('GET', old('late')).catch(() => {});
    api.call('POST', old(), {}, tab('v1beta1', 'never', { hostPort: 'l:1' })).catch(() => {});
    api.watch(old(), {});
    await until('it is asked', () => hook.calls > calls + 1);
    await server.stop('SIGTERM');
});

await test('never an answer, half a handshake: others are served, and it ends after 30 s',
    () => silence);
await server.stop('SIGKILL').catch(() => {});
tapEnd();
