// Hundreds of requests on one connection before the first answer is read: through either door, in
// one piece, in pieces that fit nothing, and in hundreds of TLS records. All are answered, in
// order, though nothing else happens at the server that would wake it.
import fs from 'node:fs';
import { RawConnection } from './raw_client.mjs';
import { tap, tapEnd } from './tap.mjs';

const [folder, http, https] = process.argv.slice(2);
const { root } = JSON.parse(fs.readFileSync(`${folder}/tokens.json`));
const ca = fs.readFileSync(`${folder}/ca.crt`);
const path = '/api/v1/namespaces/default/configmaps';
const REQUESTS = 300;

const doors = {
    plain: { port: new URL(http).port },
    TLS: { port: new URL(https).port, tls: { ca } },
    'TLS 1.2': { port: new URL(https).port, tls: { ca, maxVersion: 'TLSv1.2' } },
};
const pieces = { 'one piece': 1 << 20, 'pieces of 1,000 bytes': 1000, 'pieces of 61 bytes': 61 };

const headers = `Host: x\r\nAuthorization: Bearer ${root}\r\n`;

function request(method, target, object) {
    const body = object ? JSON.stringify(object) : '';
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const framing = body ? `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n` : '';
    return `${method} ${target} HTTP/1.1\r\n${headers}${framing}\r\n${body}`;
}

// Creates, changes and reads, one after the other: each needs what the one before it has done.
function* requests(name) {
    for (let i = 0; i < REQUESTS / 3; i++) {
        const metadata = { name: `${name}-${i}` };
        yield [request('POST', path, { metadata, data: { at: '0' } }), 201, '0'];
        yield [request('PATCH', `${path}/${metadata.name}`, { data: { at: `${i}` } }), 200, `${i}`];
        yield [request('GET', `${path}/${metadata.name}`), 200, `${i}`];
    }
}

async function tryOut(name, door, size) {
    const wanted = [...requests(name)];
    const text = wanted.map(([bytes]) => bytes).join('');
    const connection = new RawConnection(door);
    for (let at = 0; at < text.length; at += size) connection.send(text.slice(at, at + size));
    await connection.until(
        () => connection.ended || connection.answers().length === wanted.length,
        60,
    );
    const answers = connection.answers();
    connection.close();
    const problems = answers.length === wanted.length ? [] : [`${answers.length} answers`];
    answers.forEach(({ status, body }, i) => {
        const [, code, at] = wanted[i];
        if (status !== code) problems.push(`answer ${i}: ${status} instead of ${code}: ${body}`);
        else if (JSON.parse(body).data.at !== at) problems.push(`answer ${i} is another's: ${body}`);
    });
    return problems;
}

let n = 0;
for (const [door, where] of Object.entries(doors))
    for (const [how, size] of Object.entries(pieces))
        tap(`${REQUESTS} requests ahead, ${door}, in ${how}`, await tryOut(`p${n++}`, where, size));
tapEnd();
