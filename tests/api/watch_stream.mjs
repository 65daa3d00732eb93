// A watch over a bare socket: the bytes of the answer can be cut anywhere, and what had come whole
// until then is all that its owner gets. Shares no code with the server.
import net from 'node:net';
import tls from 'node:tls';

const FIRST_BYTE_MS = 60000; // a server that takes longer than this to answer is broken

// Takes the bytes of one HTTP/1.1 answer as they come: its head, then its body, chunked or until
// the length or the end. `onLine` is called for each whole line of the body.
export class AnswerReader {
    constructor(onLine) {
        this.onLine = onLine;
        this.rest = Buffer.alloc(0); // received and not understood yet
        this.body = []; // of the line that has begun
        this.status = 0; // 0: the head is not whole
        this.chunk = -1; // bytes left of the chunk; -1: its size is next, -2: its end is
        this.complete = false; // the server has finished the answer
    }

    take(bytes) {
        this.rest = this.rest.length ? Buffer.concat([this.rest, bytes]) : bytes;
        while (!this.complete && this.step());
    }

    // One step through what has come; false when it needs more.
    step() {
        if (!this.status) return this.takeHead();
        if (this.length >= 0) return this.takeLength();
        if (this.chunk === -2) return this.takeText('\r\n', () => (this.chunk = -1));
        if (this.chunk === -1) return this.takeSize();
        const n = Math.min(this.chunk, this.rest.length);
        if (n === 0) return false;
        this.takeBody(this.rest.subarray(0, n));
        this.rest = this.rest.subarray(n);
        this.chunk -= n;
        if (this.chunk === 0) this.chunk = -2;
        return true;
    }

    takeHead() {
        const end = this.rest.indexOf('\r\n\r\n');
        if (end < 0) return false;
        const head = this.rest.subarray(0, end).toString('latin1');
        this.rest = this.rest.subarray(end + 4);
        this.head = head;
        this.status = Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(head)[1]);
        this.length = Number(/^content-length: ([0-9]+)$/im.exec(head)?.[1] ?? -1);
        if (this.length < 0 && !/^transfer-encoding: chunked$/im.test(head))
            throw new Error(`neither a length nor chunks: ${head}`);
        return true;
    }

    takeLength() {
        if (this.rest.length < this.length) return false;
        this.takeBody(this.rest.subarray(0, this.length));
        this.complete = true;
        return false;
    }

    takeText(text, then) {
        if (this.rest.length < text.length) return false;
        const got = this.rest.subarray(0, text.length).toString('latin1');
        if (got !== text) throw new Error(`a chunk does not end where it should: ${got}`);
        this.rest = this.rest.subarray(text.length);
        then();
        return true;
    }

    takeSize() {
        const end = this.rest.indexOf('\r\n');
        if (end < 0) return false;
        const size = this.rest.subarray(0, end).toString('latin1');
        if (!/^[0-9a-f]+$/i.test(size)) throw new Error(`no size of a chunk: ${size}`);
        if (Number.parseInt(size, 16) === 0) {
            if (this.rest.length < end + 4) return false;
            this.complete = true;
            return false;
        }
        this.rest = this.rest.subarray(end + 2);
        this.chunk = Number.parseInt(size, 16);
        return true;
    }

    takeBody(bytes) {
        for (let from = 0; ; ) {
            const end = bytes.indexOf(10, from);
            if (end < 0) {
                if (from < bytes.length) this.body.push(bytes.subarray(from));
                return;
            }
            this.body.push(bytes.subarray(from, end));
            this.onLine(Buffer.concat(this.body).toString('utf8'));
            this.body = [];
            from = end + 1;
        }
    }

    // What has come of the body behind its last line.
    text() {
        return Buffer.concat(this.body).toString('utf8');
    }
}

// Asks for a path and hands out whole lines until the answer ends, breaks, or is cut.
//
//   door   {port} or {port, tls: {ca, cert, key}}
//   limit  {bytes, ms}: cut behind so many bytes of the answer, head included, or so long after its
//          first byte; either may be missing. With `reset`, a cut is a reset.
//   onLine (line, lift, cut): `lift()` takes the limit back, `cut()` cuts here.
//
// Resolves with {status, complete, cut, text}; never rejects for what the other side does.
export function watchStream(door, path, headers, limit, onLine) {
    return new Promise((resolve, reject) => {
        let left = limit.bytes ?? Infinity;
        let timer;
        let settled = false;
        const lift = () => {
            left = Infinity;
            clearTimeout(timer);
            timer = setTimeout(() => fail('the answer does not end'), FIRST_BYTE_MS);
        };
        const cutHere = () => (left = -1);
        const reader = new AnswerReader((line) => left !== -1 && onLine(line, lift, cutHere));
        const socket = door.tls
            ? tls.connect({ port: door.port, host: '127.0.0.1', ...door.tls })
            : net.connect({ port: door.port, host: '127.0.0.1' });
        const end = (cut, failure) => {
            if (settled) return;
            settled = true;
            clearTimeout(timer);
            if (cut && !door.tls && limit.reset) socket.resetAndDestroy();
            else socket.destroy();
            if (failure) reject(failure);
            else
                resolve({
                    status: reader.status,
                    complete: reader.complete,
                    cut,
                    text: reader.text(),
                });
        };
        const fail = (what) => end(false, new Error(`${what}: ${path}`));
        timer = setTimeout(() => fail('no answer'), FIRST_BYTE_MS);
        const sendRequest = () => {
            const lines = [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1'];
            for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
            socket.write(lines.join('\r\n') + '\r\n\r\n');
        };
        let begun = false;
        socket.on(door.tls ? 'secureConnect' : 'connect', sendRequest);
        socket.on('data', (bytes) => {
            if (settled) return;
            if (!begun) {
                begun = true;
                clearTimeout(timer);
                if (limit.ms !== undefined) timer = setTimeout(() => end(true), limit.ms);
            }
            const taken = bytes.subarray(0, Math.min(left, bytes.length));
            left -= taken.length;
            try {
                reader.take(taken);
                if (left === Infinity) reader.take(bytes.subarray(taken.length)); // it was lifted
            } catch (error) {
                end(false, error);
            }
            if (reader.complete) end(false);
            else if (left <= 0) end(true);
        });
        socket.on('error', () => end(false));
        socket.on('close', () => end(false));
    });
}
