// What the scenarios ask a server with: calls, streams whose events are taken one by one, and
// sentences about what came. Everything has a deadline.
import https from 'node:https';
import tls from 'node:tls';
import { AnswerReader } from './watch_stream.mjs';

const DEADLINE_MS = 60000;

export function fail(what) {
    throw new Error(what);
}

export function equal(got, want, what = '') {
    const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
    if (a !== b) fail(`${what}: got ${a}, wanted ${b}`);
}

export async function until(what, test) {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
        const got = await test();
        if (got) return got;
        if (Date.now() > deadline) fail(`never: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
}

export const versionOf = (object) => Number(object.metadata.resourceVersion);
export const names = (list) => list.items.map(({ metadata }) => metadata.name);

const queryOf = (query) =>
    Object.entries(query)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        .join('&');

// A watch. Its events wait until they are asked for.
export class Stream {
    constructor(door, path, query) {
        this.events = [];
        this.over = null; // how it ended: 'complete' or 'broken'
        this.reader = new AnswerReader((line) => this.events.push(JSON.parse(line)));
        this.socket = tls.connect({ host: '127.0.0.1', port: door.port, ...door.tls }, () => {
            const target = `${path}?${queryOf({ watch: 1, ...query })}`;
            this.socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
        });
        this.socket.on('data', (bytes) => {
            this.reader.take(bytes);
            if (this.reader.complete) this.close('complete');
        });
        this.socket.on('error', () => this.close('broken'));
        this.socket.on('close', () => this.close('broken'));
    }

    close(how = 'closed') {
        this.over ??= how;
        this.socket.destroy();
    }

    async status() {
        await until('the head of a stream', () => this.reader.status || this.over);
        return this.reader.status;
    }

    async next() {
        await until('an event', () => this.events.length || this.over);
        return this.events.shift() ?? fail(`no event: the stream is ${this.over}`);
    }

    // The next event that is no bookmark.
    async change() {
        for (;;) {
            const event = await this.next();
            if (event.type !== 'BOOKMARK') return event;
        }
    }

    // These come next: [type, object as it was answered], or [type, name, version].
    async sees(...wanted) {
        for (const [type, what, version] of wanted) {
            const { type: got, object } = await this.change();
            const name = what.metadata?.name ?? what;
            const at = version ?? what.metadata?.resourceVersion;
            equal([got, object.metadata?.name], [type, name], 'event');
            if (at !== undefined) equal(versionOf(object), Number(at), `version of ${name}`);
            if (what.metadata && type !== 'DELETED') equal(object.data, what.data, 'its data');
        }
    }

    // It ends in order, and nothing more was in it.
    async ends() {
        await until('the end of a stream', () => this.over);
        equal([this.over, this.events], ['complete', []], 'the end');
    }
}

export class Api {
    // door: {port, tls: {ca, cert, key}}
    constructor(door) {
        this.door = door;
        this.agent = new https.Agent({ keepAlive: true, maxSockets: 64, ...door.tls });
        this.streams = [];
    }

    call(method, path, query = {}, body = undefined, type = 'application/json') {
        const text = body === undefined ? '' : JSON.stringify(body);
        const options = {
            method,
            path: `${path}?${queryOf(query)}`,
            host: '127.0.0.1',
            port: this.door.port,
            agent: this.agent,
            headers: { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) },
            timeout: DEADLINE_MS,
        };
        return new Promise((resolve, reject) => {
            const request = https.request(options, (response) => {
                let answer = '';
                response.setEncoding('utf8');
                response.on('data', (piece) => (answer += piece));
                response.on('end', () => {
                    const json = /^application\/json/.test(response.headers['content-type'] ?? '');
                    const object = json ? JSON.parse(answer) : answer;
                    resolve({ status: response.statusCode, headers: response.headers, object });
                });
            });
            request.on('timeout', () => request.destroy(new Error(`no answer: ${method} ${path}`)));
            request.on('error', reject);
            request.end(text);
        });
    }

    async good(...call) {
        const { status, object } = await this.call(...call);
        if (status >= 300) fail(`${call[0]} ${call[1]}: ${JSON.stringify(object)}`);
        return object;
    }

    // Is refused with this code, reason, and text in its message. Returns the Status.
    async refused(code, reason, text, ...call) {
        const { status, headers, object } = await this.call(...call);
        const what = `${call[0]} ${call[1]} ${JSON.stringify(call[2] ?? {})}`;
        const got = [status, object.kind, object.code, object.reason];
        equal(got, [code, 'Status', code, reason], what);
        if (!object.message.includes(text)) fail(`${what}: "${object.message}" lacks "${text}"`);
        return { ...object, headers };
    }

    get = (path, query) => this.good('GET', path, query);
    list = this.get;
    post = (path, body, query) => this.good('POST', path, query, body);
    put = (path, body, query) => this.good('PUT', path, query, body);
    remove = (path, body) => this.good('DELETE', path, {}, body);
    patch = (path, body) =>
        this.good('PATCH', path, {}, body, 'application/merge-patch+json');

    watch(path, query) {
        const stream = new Stream(this.door, path, query);
        this.streams.push(stream);
        return stream;
    }

    closeStreams() {
        for (const stream of this.streams.splice(0)) stream.close();
    }

    // The value of a metric, summed over the lines that have these labels.
    async metric(name, labels = '') {
        const text = await this.get('/metrics');
        return text
            .split('\n')
            .filter((line) => line.startsWith(name) && line.includes(labels))
            .reduce((sum, line) => sum + Number(line.split(' ').pop()), 0);
    }
}

// A namespace of a scenario's own, and ConfigMaps in it.
export class Space {
    constructor(api, name) {
        this.api = api;
        this.name = name;
        this.path = `/api/v1/namespaces/${name}/configmaps`;
    }

    static async make(api, name) {
        await api.post('/api/v1/namespaces', { kind: 'Namespace', metadata: { name } });
        const space = new Space(api, name);
        // What the server itself puts there comes first.
        const own = `${space.path}/kube-root-ca.crt`;
        await until(own, async () => (await api.call('GET', own)).status === 200);
        return space;
    }

    body = (name, v, labels) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, labels },
        data: { v },
    });
    at = (name) => `${this.path}/${name}`;
    create = (name, v = '0', labels = { mine: 'yes' }) =>
        this.api.post(this.path, this.body(name, v, labels));
    set = (name, v) => this.api.patch(this.at(name), { data: { v } });
    label = (name, labels) => this.api.patch(this.at(name), { metadata: { labels } });
    remove = (name, body) => this.api.remove(this.at(name), body);
    get = (name, query) => this.api.get(this.at(name), query);

    // Only what the scenario made: the server's own object has no such label.
    mine = (query = {}) => ({
        ...query,
        labelSelector: ['mine', query.labelSelector].filter(Boolean).join(','),
    });
    list = (query) => this.api.list(this.path, this.mine(query));
    watch = (query) => this.api.watch(this.path, this.mine(query));

    // The newest version of the whole log.
    async now() {
        return versionOf(await this.api.list(this.path, { limit: 1 }));
    }
}
