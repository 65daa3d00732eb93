// A writer of the resume torture: creates, changes and deletes the ConfigMaps that are its own, one
// after the other, and notes what the server answered to each. Nobody else writes them, so what it
// noted is what every watcher must have seen of them, in this order.
import http from 'node:http';

const COLORS = ['red', 'blue', 'green', null];

export const keyOf = (object) => `${object.metadata.namespace}/${object.metadata.name}`;

// An answer that did not come: the server was killed or is stopping.
class Lost extends Error {}

export class Writer {
    constructor({ name, server, token, random, keys, pace }) {
        this.name = name;
        this.server = server;
        this.token = token;
        this.random = random;
        this.keys = keys;
        this.pace = pace; // waits while watchers are too far behind
        this.serial = 0;
        this.objects = new Map(); // by key: what is there, as the server last showed it
        this.history = new Map(keys.map((key) => [key, []])); // {type, version, n} of each change
        this.stopping = false;
        this.counts = { writes: 0, unanswered: 0, idle: 0 };
        this.newest = 0;
    }

    call(method, path, body, type = 'application/json') {
        return new Promise((resolve, reject) => {
            const request = http.request(
                {
                    method,
                    path,
                    port: this.server.http.port,
                    host: '127.0.0.1',
                    agent: this.agent,
                    headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': type },
                    timeout: 60000,
                },
                (response) => {
                    let text = '';
                    response.setEncoding('utf8');
                    response.on('data', (piece) => (text += piece));
                    response.on('error', () => reject(new Lost()));
                    response.on('close', () => {
                        if (!response.complete) return reject(new Lost());
                        resolve({ status: response.statusCode, object: JSON.parse(text) });
                    });
                },
            );
            request.on('timeout', () => reject(new Error(`no answer to ${method} ${path}`)));
            request.on('error', () => reject(new Lost()));
            request.end(body === undefined ? undefined : JSON.stringify(body));
        });
    }

    async run() {
        this.agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        while (!this.stopping) {
            await this.server.up();
            await this.pace();
            const key = this.random.pick(this.keys);
            const wish = this.objects.has(key) ? this.change(key) : this.create(key);
            this.counts.writes++;
            try {
                this.note(key, wish, await this.call(...wish.call));
            } catch (error) {
                if (!(error instanceof Lost)) throw error;
                await this.findOut(key, wish);
            }
        }
        this.agent.destroy();
    }

    labels() {
        const labels = { color: this.random.pick(COLORS) };
        if (this.random.percent(20)) labels.hidden = this.random.percent(50) ? 'yes' : null;
        return labels;
    }

    data() {
        this.serial++;
        const data = { n: `${this.name}.${this.serial}`, text: 'é\n"' };
        if (this.random.percent(4)) data.pad = 'x'.repeat(this.random.between(1, 12000));
        else if (this.random.percent(20)) data.pad = null;
        return data;
    }

    // What the server is to be asked for, and what must come of it.
    create(key) {
        const [namespace, name] = key.split('/');
        const some = (map) => Object.fromEntries(Object.entries(map).filter(([, v]) => v !== null));
        const body = {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name, labels: some(this.labels()) },
            data: some(this.data()),
        };
        return {
            type: 'ADDED',
            n: body.data.n,
            call: ['POST', `/api/v1/namespaces/${namespace}/configmaps`, body],
        };
    }

    change(key) {
        const old = this.objects.get(key);
        const [namespace, name] = key.split('/');
        const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
        const dice = this.random.below(100);
        if (dice < 20) return { type: 'DELETED', n: old.data.n, call: ['DELETE', path] };
        if (dice < 25) { // nothing changes, so nobody hears of it
            const body = { data: { n: old.data.n } };
            return { type: 'NONE', call: ['PATCH', path, body, 'application/merge-patch+json'] };
        }
        const data = this.data();
        if (dice < 35) {
            const { resourceVersion } = old.metadata;
            const body = [
                { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
                { op: 'add', path: '/data/n', value: data.n },
            ];
            const call = ['PATCH', path, body, 'application/json-patch+json'];
            return { type: 'MODIFIED', n: data.n, call };
        }
        if (dice < 50) {
            const body = { ...old, data: { ...old.data, n: data.n } };
            return { type: 'MODIFIED', n: data.n, call: ['PUT', path, body] };
        }
        const body = { metadata: { labels: this.labels() }, data };
        const call = ['PATCH', path, body, 'application/merge-patch+json'];
        return { type: 'MODIFIED', n: data.n, call };
    }

    note(key, wish, { status, object }) {
        if (status !== (wish.type === 'ADDED' ? 201 : 200))
            throw new Error(`${wish.call[0]} ${wish.call[1]}: ${JSON.stringify(object)}`);
        if (wish.type === 'DELETED') return this.noteDeleted(key, wish);
        const version = Number(object.metadata.resourceVersion);
        if (wish.type === 'NONE') {
            const old = this.objects.get(key).metadata.resourceVersion;
            if (object.metadata.resourceVersion !== old)
                throw new Error(`a patch that changes nothing made ${old} ${version}: ${key}`);
            this.counts.idle++;
            return;
        }
        if (object.data.n !== wish.n) throw new Error(`another object came back: ${key}`);
        this.noteWritten(key, wish, object);
    }

    noteWritten(key, wish, object) {
        const version = Number(object.metadata.resourceVersion);
        this.history.get(key).push({ type: wish.type, version, n: wish.n });
        this.objects.set(key, object);
        this.newest = Math.max(this.newest, version);
    }

    // The answer to a deletion does not say its version.
    noteDeleted(key, wish) {
        this.history.get(key).push({ type: 'DELETED', n: wish.n });
        this.objects.delete(key);
    }

    // No answer came. The next server says whether it happened; it cannot happen later any more.
    async findOut(key, wish) {
        this.counts.unanswered++;
        const [namespace, name] = key.split('/');
        const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
        for (;;) {
            await this.server.up();
            try {
                const { status, object } = await this.call('GET', path);
                if (status === 404 && wish.type === 'DELETED') this.noteDeleted(key, wish);
                else if (status === 200 && wish.n === object.data.n && wish.type !== 'DELETED')
                    this.noteWritten(key, wish, object);
                else if ((status === 404) === this.objects.has(key) || status >= 500)
                    throw new Error(`${key} after a restart: ${status} ${JSON.stringify(object)}`);
                return;
            } catch (error) {
                if (!(error instanceof Lost)) throw error;
            }
        }
    }
}
