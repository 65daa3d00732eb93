// A client of the server for tests: JSON in and out, as one identity, on kept connections.
import http from 'node:http';
import https from 'node:https';

export class ApiClient {
    // `door`: {http, https, ca}; `credential`: {token}, {cert, key} or {} for nobody in particular.
    constructor(door, credential) {
        const tls = Boolean(credential.cert);
        this.base = new URL(tls ? door.https : door.http);
        this.module = tls ? https : http;
        this.options = { keepAlive: true, maxSockets: 16, ca: door.ca, ...credential };
        this.agent = new this.module.Agent(this.options);
        this.headers = credential.token ? { authorization: `Bearer ${credential.token}` } : {};
    }

    // {status, text, json}. `body` may be a text, or anything that JSON can say.
    ask(method, path, body, headers = {}) {
        return new Promise((resolve, reject) => {
            const text = typeof body === 'string' ? body : JSON.stringify(body);
            const all = { ...this.headers, ...headers };
            if (text !== undefined) {
                all['content-type'] ??= 'application/json';
                all['content-length'] = Buffer.byteLength(text);
            }
            const request = this.open(method, path, all, (response) => {
                const chunks = [];
                response.on('data', (chunk) => chunks.push(chunk));
                response.on('end', () => resolve(answerOf(response, chunks)));
                response.on('error', reject);
            });
            request.on('error', reject);
            request.end(text);
        });
    }

    // {status, json, stop()} as soon as the answer has begun: of a watch, its events go to
    // `onEvent`, and `ended` is a promise of its end.
    watch(path, onEvent = () => {}) {
        return new Promise((resolve, reject) => {
            const request = this.open('GET', path, this.headers, (response) => {
                if (response.statusCode !== 200) {
                    const chunks = [];
                    response.on('data', (chunk) => chunks.push(chunk));
                    response.on('end', () => resolve(answerOf(response, chunks)));
                    return;
                }
                const ended = readEvents(response, onEvent);
                resolve({ status: 200, ended, stop: () => request.destroy() });
            });
            request.on('error', reject);
            request.end();
        });
    }

    open(method, path, headers, onResponse) {
        const { hostname, port } = this.base;
        const options = { hostname, port, path, method, headers, agent: this.agent };
        return this.module.request(options, onResponse);
    }

    close() {
        this.agent.destroy();
    }
}

function answerOf(response, chunks) {
    const text = Buffer.concat(chunks).toString();
    const type = response.headers['content-type'] ?? '';
    const json = type.startsWith('application/json') && text ? JSON.parse(text) : null;
    return { status: response.statusCode, headers: response.headers, text, json };
}

// Resolves with whether the stream was complete.
function readEvents(response, onEvent) {
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (text) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines) onEvent(JSON.parse(line));
    });
    response.on('error', () => {}); // close follows
    return new Promise((resolve) => response.on('close', () => resolve(response.complete)));
}
