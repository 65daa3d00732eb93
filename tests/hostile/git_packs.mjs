// Packs and requests that no git client would make.
import crypto from 'node:crypto';
import net from 'node:net';
import zlib from 'node:zlib';

export const ZERO = '0'.repeat(40);
const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4, delta: 7 };

export function idOf(type, content) {
    return crypto.createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
}

// A number in pieces of seven bits.
function varint(n) {
    const out = [];
    let rest = n;
    while (rest > 127) {
        out.push((rest % 128) | 128);
        rest = Math.floor(rest / 128);
    }
    return Buffer.from([...out, rest]);
}

function entryHead(type, len) {
    const out = [(TYPES[type] << 4) | (len & 15)];
    let rest = Math.floor(len / 16);
    while (rest) {
        out[out.length - 1] |= 128;
        out.push(rest & 127);
        rest = Math.floor(rest / 128);
    }
    return Buffer.from(out);
}

// A delta that is `times` copies of the whole base; no copy is above 16 MiB.
export function multiply(baseLen, times) {
    const copies = [];
    for (let i = 0; i < times; i++) {
        for (let at = 0; at < baseLen; at += 0xffffff) {
            const n = Math.min(0xffffff, baseLen - at);
            const bytes = [0xff, at & 255, (at >> 8) & 255, (at >> 16) & 255, (at >>> 24) & 255,
                n & 255, (n >> 8) & 255, (n >> 16) & 255];
            copies.push(Buffer.from(bytes));
        }
    }
    return Buffer.concat([varint(baseLen), varint(baseLen * times), ...copies]);
}

// pack([{type, content}, {type: 'delta', base: id, content}]); level 0 stores without compression.
export function pack(entries, level = 6) {
    const parts = [Buffer.from('PACK\0\0\0\x02'), Buffer.alloc(4)];
    parts[1].writeUInt32BE(entries.length);
    for (const { type, content, base } of entries) {
        parts.push(entryHead(type, content.length));
        if (base) parts.push(Buffer.from(base, 'hex'));
        parts.push(zlib.deflateSync(content, { level }));
    }
    const body = Buffer.concat(parts);
    return Buffer.concat([body, crypto.createHash('sha1').update(body).digest()]);
}

// A tree from [mode, name (text or bytes), id].
export function tree(entries) {
    return Buffer.concat(entries.map(([mode, name, id]) => Buffer.concat([
        Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(id, 'hex'),
    ])));
}

export function commitOf(treeId, parents = [], message = 'm') {
    const who = 'Ann <ann@example.com> 1700000000 +0000';
    return Buffer.from(`tree ${treeId}\n${parents.map((p) => `parent ${p}\n`).join('')}`
        + `author ${who}\ncommitter ${who}\n\n${message}\n`);
}

// The objects of a commit with one tree and these blobs, and its id.
export function history(files, parents = []) {
    const blobs = files.map(([, name, content]) => ({ type: 'blob', content: Buffer.from(content), name }));
    const root = tree(files.map(([mode, name], i) => [mode, name, idOf('blob', blobs[i].content)]));
    const commit = commitOf(idOf('tree', root), parents);
    return {
        id: idOf('commit', commit),
        entries: [...blobs.map(({ type, content }) => ({ type, content })),
            { type: 'tree', content: root }, { type: 'commit', content: commit }],
    };
}

export const line = (text) => {
    const bytes = Buffer.from(text);
    return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
};

// The body of a push: commands [[old, new, ref]] and a pack.
export function pushBody(commands, bytes, capabilities = 'report-status side-band-64k') {
    const lines = commands.map(([before, after, ref], i) => line(Buffer.concat([
        Buffer.from(`${before} ${after} `), Buffer.from(ref),
        Buffer.from(i ? '' : `\0${capabilities}`),
    ])));
    return Buffer.concat([...lines, Buffer.from('0000'), bytes ?? Buffer.alloc(0)]);
}

// The body of an answer, without its chunks.
function bodyOf(answer) {
    const end = answer.indexOf('\r\n\r\n') + 4;
    if (!/^transfer-encoding: chunked/im.test(answer.subarray(0, end))) return answer.subarray(end);
    const out = [];
    for (let at = end; at < answer.length;) {
        const start = answer.indexOf('\r\n', at) + 2;
        const n = parseInt(answer.subarray(at, start).toString(), 16);
        if (!n) break;
        out.push(answer.subarray(start, start + n));
        at = start + n + 2;
    }
    return Buffer.concat(out);
}

// What a git server has said: the texts of all bands, and of the report.
export function said(answer) {
    const out = [];
    const text = bodyOf(answer);
    let at = 0;
    while (at + 4 <= text.length) {
        const n = parseInt(text.subarray(at, at + 4).toString(), 16);
        if (Number.isNaN(n)) break;
        if (n > 4) out.push(text.subarray(at + 5, at + n));
        at += Math.max(n, 4);
    }
    return out.length ? Buffer.concat(out).toString('latin1') : text.toString('latin1');
}

// Sends bytes, or a list of them, and gives what comes back until the other side closes, or
// `seconds` have passed; `cut` closes without waiting for anything.
export function raw(port, bytes, { seconds = 30, cut = false, half = false } = {}) {
    return new Promise((resolve) => {
        const pieces = [];
        const socket = net.connect({ port, host: '127.0.0.1' });
        const end = () => {
            socket.destroy();
            resolve(Buffer.concat(pieces));
        };
        const timer = setTimeout(end, seconds * 1000);
        socket.on('error', () => {});
        socket.on('data', (piece) => pieces.push(piece));
        socket.on('close', () => {
            clearTimeout(timer);
            resolve(Buffer.concat(pieces));
        });
        socket.on('connect', () => socket.write(bytes, () => {
            if (cut) end();
            else if (half) socket.end();
        }));
    });
}

export function requestHead(method, path, token, fields = {}) {
    const lines = Object.entries({
        host: 'h',
        connection: 'close',
        ...(token ? { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` } : {}),
        ...fields,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
}
