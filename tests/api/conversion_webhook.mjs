// A conversion webhook for tests, over HTTPS on a free port of 127.0.0.1: v1beta1 has spec.hostPort,
// v1 has spec.host and spec.port. It counts what it is asked, and misbehaves when it is told to.
//
// As a program it writes the definition into FOLDER/crd.json and serves until it is killed:
//
//     node conversion_webhook.mjs FOLDER
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import { pathToFileURL } from 'node:url';

export const SERVICE = { namespace: 'hooks', name: 'converter' };

// An authority and a certificate that it has signed, made by openssl: { ca, cert, key }.
export function certificates(folder) {
    const openssl = (...options) => execFileSync('openssl', options, { stdio: 'pipe' });
    const at = (name) => `${folder}/${name}`;
    const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl('req', '-x509', ...fresh, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2',
        '-subj', '/CN=conversion test authority');
    openssl('req', ...fresh, '-keyout', at('hook.key'), '-out', at('hook.csr'),
        '-subj', '/CN=converter');
    const names = `IP:127.0.0.1,DNS:${SERVICE.name}.${SERVICE.namespace}.svc`;
    fs.writeFileSync(at('hook.ext'), `subjectAltName=${names}\n`);
    openssl('x509', '-req', '-in', at('hook.csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'),
        '-CAcreateserial', '-days', '2', '-extfile', at('hook.ext'), '-out', at('hook.pem'));
    const read = (name) => fs.readFileSync(at(name));
    return { ca: read('ca.pem'), cert: read('hook.pem'), key: read('hook.key') };
}

// The object in the other version.
export function convert(object, desired) {
    const { hostPort, host, port, ...rest } = object.spec ?? {};
    const [one, two] = (hostPort ?? '').split(':');
    const spec = desired.endsWith('/v1')
        ? { host: one || undefined, port: two, ...rest }
        : { hostPort: host === undefined ? undefined : `${host}:${port ?? ''}`, ...rest };
    return { ...object, apiVersion: desired, spec };
}

const good = (request, objects) => ({
    uid: request.uid,
    result: { status: 'Success' },
    convertedObjects: objects,
});

// What it can be told to do with a request, by name: the answer, or nothing when it answers itself.
const modes = {
    good,
    lose: (request, objects) => good(request, objects.slice(1)),
    'wrong uid': (request, objects) => ({ ...good(request, objects), uid: 'another' }),
    rename: (request, objects) =>
        good(request, objects.map((o) => ({ ...o, metadata: { ...o.metadata, name: 'evil' } }))),
    'no version': (request) => good(request, request.objects),
    meddle: (request, objects) =>
        good(request, objects.map((o) => ({
            ...o,
            unknown: 'field',
            metadata: {
                ...o.metadata,
                generation: 77,
                finalizers: ['evil.example.com/f'],
                annotations: { ...o.metadata.annotations, converted: 'yes' },
            },
        }))),
    fail: (request) => ({
        uid: request.uid,
        result: { status: 'Failed', message: 'hostPort could not be parsed' },
        convertedObjects: [],
    }),
    'fail poison': (request, objects) =>
        objects.some((o) => o.metadata.name === 'poison')
            ? modes.fail(request)
            : good(request, objects),
    garbage: (request, objects, response) => void response.end('{"response":{"uid":"'),
    'status 500': (request, objects, response) => void response.writeHead(500).end('no'),
    redirect: (request, objects, response) =>
        void response.writeHead(302, { Location: '/elsewhere' }).end(),
    never: () => undefined,
    huge: (request, objects, response) => {
        const piece = Buffer.alloc(1 << 20, 'x');
        response.write('{"kind":"ConversionReview","filler":"');
        for (let i = 0; i < 20; i++) response.write(piece);
        response.end('"}');
    },
};

export class Webhook {
    constructor(files) {
        this.files = files;
        this.mode = 'good';
        this.delayMs = 0;
        this.gate = null; // a promise that answers wait for; null: they do not
        this.calls = 0;
        this.objects = 0;
        this.largest = 0; // most objects of a call
        this.reviews = []; // the last requests
    }

    async listen(port = 0) {
        this.server = https.createServer(this.files, (request, response) => {
            const pieces = [];
            request.on('data', (piece) => pieces.push(piece));
            request.on('end', () => this.answer(request, Buffer.concat(pieces), response));
        });
        await new Promise((resolve) => this.server.listen(port, '127.0.0.1', resolve));
        this.port = this.server.address().port;
        return this;
    }

    async answer(request, bytes, response) {
        const review = JSON.parse(bytes);
        const asked = review.request;
        this.calls++;
        this.objects += asked.objects.length;
        this.largest = Math.max(this.largest, asked.objects.length);
        this.reviews.push({ review, url: request.url, host: request.headers.host });
        if (this.reviews.length > 100) this.reviews.shift();
        if (this.delayMs) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
        await this.gate;
        const objects = asked.objects.map((o) => convert(o, asked.desiredAPIVersion));
        const answer = modes[this.mode](asked, objects, response);
        if (!answer) return;
        const { kind, apiVersion } = review;
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ kind, apiVersion, response: answer }));
    }

    async close() {
        this.server.closeAllConnections();
        await new Promise((resolve) => this.server.close(resolve));
    }

    // How a definition finds it: by URL, or by a Service.
    clientConfig(service) {
        return {
            caBundle: this.files.ca.toString('base64'),
            ...(service
                ? { service: { ...SERVICE, path: '/convert', port: this.port } }
                : { url: `https://127.0.0.1:${this.port}/convert` }),
        };
    }
}

// A door that takes connections and never says a word: half a TLS handshake.
export async function silentDoor() {
    const sockets = new Set();
    const server = net.createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
        port: server.address().port,
        close: () => {
            for (const socket of sockets) socket.destroy();
            server.close();
        },
    };
}

const text = { type: 'string' };
const number = { type: 'integer' };
const schema = (spec) => ({
    openAPIV3Schema: {
        type: 'object',
        properties: {
            spec: { type: 'object', properties: { ...spec, replicas: number } },
            status: { type: 'object', properties: { replicas: number, phase: text } },
        },
    },
});

// The definition; `storage` is the version that is stored.
export function definition(clientConfig, storage = 'v1beta1') {
    const version = (name, spec, columns) => ({
        name,
        served: true,
        storage: name === storage,
        schema: schema(spec),
        selectableFields: [{ jsonPath: '.spec.replicas' }],
        additionalPrinterColumns: columns.map((field) => ({
            name: field,
            type: 'string',
            jsonPath: `.spec.${field}`,
        })),
        subresources: {
            status: {},
            scale: {
                specReplicasPath: '.spec.replicas',
                statusReplicasPath: '.status.replicas',
            },
        },
    });
    return {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'crontabs.stable.example.com' },
        spec: {
            group: 'stable.example.com',
            scope: 'Namespaced',
            names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab' },
            versions: [
                version('v1beta1', { hostPort: text }, ['hostPort']),
                version('v1', { host: text, port: text }, ['host', 'port']),
            ],
            conversion: {
                strategy: 'Webhook',
                webhook: { conversionReviewVersions: ['v1'], clientConfig },
            },
        },
    };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const folder = process.argv[2];
    const hook = await new Webhook(certificates(folder)).listen();
    fs.writeFileSync(`${folder}/crd.json`, JSON.stringify(definition(hook.clientConfig())));
    fs.writeFileSync(`${folder}/hook.ready`, '');
}
