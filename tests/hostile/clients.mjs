// Clients that mean no good: they do not read, or a byte at a time, do not finish, or vanish. What
// an attack opens stands in one list, and is gone when the attack is over.
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { door, port, tlsPort, tokens } from '../api/fair_setting.mjs';
import { bytes } from '../api/raw_client.mjs';

const open = [];

// A connection that nothing is read from; what is to be sent goes when the socket takes it.
export function socket({ secure = false, alpn } = {}) {
    const to = { port: secure ? tlsPort : port, host: '127.0.0.1' };
    const one = secure
        ? tls.connect({ ...to, ca: door.ca, ALPNProtocols: alpn })
        : net.connect(to);
    one.on('error', () => {});
    open.push(() => one.destroy());
    return one;
}

// A TCP connection to the door of TLS, without TLS.
export function halfShaken(data) {
    const one = net.connect({ port: tlsPort, host: '127.0.0.1' });
    one.on('error', () => {});
    one.write(data);
    open.push(() => one.destroy());
    return one;
}

export const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));

// The text of a request; `token` null: nobody's.
export function request(method, path, { token = tokens.ann, headers = {}, body } = {}) {
    const fields = { host: 'h', ...headers };
    if (token) fields.authorization = `Bearer ${token}`;
    if (body !== undefined) fields['content-length'] ??= Buffer.byteLength(body);
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

// So many connections, each of which asks this so often and reads nothing.
export function unread(connections, text, { pipelined = 1, secure = false } = {}) {
    const data = bytes(text.repeat(pipelined));
    return times(connections, () => socket({ secure }).write(data));
}

// The same, that read a byte at a time.
export function dribbling(connections, text) {
    for (const one of times(connections, () => socket())) {
        one.write(bytes(text));
        const timer = setInterval(() => one.read(1), 5);
        open.push(() => clearInterval(timer));
    }
}

// One connection of HTTP/2 whose window is closed, with so many requests of ann's.
export function windowless(streams, path, headers = {}, body, ends = true) {
    const session = http2.connect(door.https, {
        ca: door.ca,
        settings: { initialWindowSize: 0 },
        peerMaxConcurrentStreams: 250,
    });
    session.on('error', () => {});
    open.push(() => session.destroy());
    return times(streams, () => {
        const stream = session.request(
            { ':path': path, authorization: `Bearer ${tokens.ann}`, ...headers },
            { endStream: body === undefined },
        );
        stream.on('error', () => {});
        if (body !== undefined) ends ? stream.end(body) : stream.write(body);
        return stream;
    });
}

// Something that is done again and again until the attack is over.
export function again(ms, act) {
    const timer = setInterval(act, ms);
    open.push(() => clearInterval(timer));
}

export function closeAll() {
    for (const close of open.splice(0)) close();
}
