// Bytes to the server and bytes back, on a connection of its own: for requests that no HTTP client
// would send. Nothing here mends what is sent.
import net from 'node:net';
import tls from 'node:tls';

// A body as text; one that is not UTF-8 is shown so that no test takes it for a good one.
function textOf(body) {
    try {
        return new TextDecoder('utf-8', { fatal: true }).decode(body);
    } catch {
        return `not UTF-8: ${body.toString('latin1')}`;
    }
}

export const bytes = (text) => Buffer.from(text, 'latin1');

// The answers in what was received: [{status, headers, body}], and how far they reach.
export function answersIn(received, methods) {
    const answers = [];
    let at = 0;
    for (;;) {
        const end = received.indexOf('\r\n\r\n', at);
        if (end < 0) break;
        const [line, ...fields] = received.toString('latin1', at, end).split('\r\n');
        const headers = Object.fromEntries(
            fields.map((field) => [
                field.slice(0, field.indexOf(':')).toLowerCase(),
                field.slice(field.indexOf(':') + 1).trim(),
            ]),
        );
        const answer = { line, status: Number(line.split(' ')[1]), headers };
        const bodyless = answer.status === 100 || methods?.[answers.length] === 'HEAD';
        const body = bodyless ? { body: '', end: end + 4 } : bodyAt(received, end + 4, headers);
        if (!body) break;
        answer.body = body.body;
        at = body.end;
        if (answer.status !== 100) answers.push(answer);
    }
    return { answers, rest: received.subarray(at) };
}

// The body that begins there; null if it is not complete.
function bodyAt(received, at, headers) {
    if (headers['transfer-encoding'] === 'chunked') return chunksAt(received, at);
    const length = Number(headers['content-length']);
    if (Number.isNaN(length)) return null;
    if (received.length < at + length) return null;
    return { body: textOf(received.subarray(at, at + length)), end: at + length };
}

function chunksAt(received, at) {
    const parts = [];
    for (;;) {
        const end = received.indexOf('\r\n', at);
        if (end < 0) return null;
        const length = parseInt(received.toString('latin1', at, end), 16);
        if (received.length < end + 2 + length + 2) return null;
        if (length === 0) return { body: textOf(Buffer.concat(parts)), end: end + 4 };
        parts.push(received.subarray(end + 2, end + 2 + length));
        at = end + 2 + length + 2;
    }
}

export class RawConnection {
    // `door`: {port, tls}, where tls has the options of tls.connect, if it is that.
    constructor(door) {
        this.received = Buffer.alloc(0);
        this.ended = false; // the server has said its last word
        this.waiting = [];
        const options = { port: door.port, host: '127.0.0.1', allowHalfOpen: true };
        this.socket = door.tls ? tls.connect({ ...options, ...door.tls }) : net.connect(options);
        this.socket.setNoDelay(true);
        this.socket.on('data', (data) => {
            this.received = Buffer.concat([this.received, data]);
            this.look();
        });
        for (const event of ['end', 'close', 'error'])
            this.socket.on(event, () => {
                this.ended = true;
                this.look();
            });
    }

    send(data) {
        this.socket.write(typeof data === 'string' ? bytes(data) : data);
        return this;
    }

    finish() {
        this.socket.end();
        return this;
    }

    close() {
        this.socket.destroy();
    }

    look() {
        this.waiting = this.waiting.filter(({ test, resolve }) => {
            if (!test()) return true;
            resolve(true);
            return false;
        });
    }

    // Whether it came true within the time.
    until(test, seconds = 20) {
        if (test()) return Promise.resolve(true);
        return new Promise((resolve) => {
            const timer = setTimeout(() => resolve(false), seconds * 1000);
            this.waiting.push({ test, resolve: (value) => (clearTimeout(timer), resolve(value)) });
        });
    }

    answers(methods) {
        return answersIn(this.received, methods).answers;
    }
}

// Sends, and waits for so many answers, or, if `closes`, for the server's end of the connection.
export async function converse(door, data, { count = 1, closes = false, methods } = {}) {
    const connection = new RawConnection(door).send(data);
    const done = () => connection.ended || (!closes && connection.answers(methods).length >= count);
    const inTime = await connection.until(done);
    const { answers, rest } = answersIn(connection.received, methods);
    connection.close();
    return { answers, rest, ended: connection.ended, inTime };
}
