// Bad input of every sort, over the running server: what is wrong as HTTP (bad_http.mjs) and what
// is wrong as a request of the API (bad_requests.mjs). Each gets the right status with a Status
// body, the server lives on, and at the end no descriptor is left behind.
//
//   node bad_input.mjs FOLDER HTTP HTTPS PID
import crypto from 'node:crypto';
import fs from 'node:fs';
import { badHttp, oddHttp } from './bad_http.mjs';
import { badRequests, prepare, requestOf } from './bad_requests.mjs';
import { RawConnection, converse } from './raw_client.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const [folder, httpUrl, httpsUrl, pid] = process.argv.slice(2);
const { root: token } = JSON.parse(fs.readFileSync(`${folder}/tokens.json`));
const plain = { port: Number(new URL(httpUrl).port) };
const ca = fs.readFileSync(`${folder}/ca.crt`);
const secure = { port: Number(new URL(httpsUrl).port), tls: { ca, servername: 'localhost' } };
const livez = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
const head_s = 10; // VD_HTTP_HEAD_MS

const descriptors = () => fs.readdirSync(`/proc/${pid}/fd`).length;
const isAlive = async (door = plain) => (await converse(door, livez)).answers[0]?.body === 'ok';

// ---- wrong as HTTP ----

const reasons = {
    400: 'BadRequest',
    408: 'Timeout',
    413: 'RequestEntityTooLarge',
    414: 'BadRequest',
};
const reasonOf = (status) => reasons[status] ?? (status < 500 ? 'BadRequest' : undefined);

// What is wrong with the answer to a request that could not be read.
function judgeRefusal({ answers, rest, ended }, status) {
    const problems = [];
    if (!ended) problems.push('the connection stays open');
    if (answers.length !== 1)
        problems.push(`${answers.length} answers: ${answers.map((a) => a.status)} ${rest}`);
    const [answer] = answers;
    if (!answer) return problems;
    if (answer.status !== status) problems.push(`${answer.status}, not ${status}`);
    if (answer.headers.connection !== 'close') problems.push('no Connection: close');
    return [...problems, ...judgeStatus(answer, status, reasonOf(status))];
}

function judgeStatus({ headers, body }, code, reason) {
    if (headers['content-type'] !== 'application/json')
        return [`it is ${headers['content-type']}: ${body}`];
    if (body.startsWith('not UTF-8')) return [body];
    const status = JSON.parse(body);
    const ok =
        status.kind === 'Status' &&
        status.apiVersion === 'v1' &&
        status.status === 'Failure' &&
        status.code === code &&
        status.reason === reason &&
        status.message;
    return ok ? [] : [`${code} ${reason}, not ${body}`];
}

async function tryHttp() {
    for (const [sort, rows] of Object.entries(badHttp)) {
        for (const [name, data, status] of rows)
            tap(
                `${sort}: ${name}`,
                judgeRefusal(await converse(plain, data, { closes: true }), status),
            );
        tap(`${sort}: the server lives`, (await isAlive()) ? [] : ['it does not']);
    }
    for (const [name, data, statuses, options] of oddHttp) {
        const { answers, ended } = await converse(plain, data, {
            count: statuses.length,
            ...options,
        });
        const got = answers.map(({ status }) => status);
        const problems = String(got) === String(statuses) ? [] : [`${got}, not ${statuses}`];
        if (options?.closes && !ended) problems.push('it stays open');
        tap(`odd: ${name}`, problems);
    }
}

// ---- doors ----

// What was received before the server closed.
async function cut(door, data) {
    const { answers, rest, ended } = await converse(door, data, { closes: true });
    return { text: rest.toString('latin1'), answers, ended };
}

async function tryDoors() {
    const bare = { port: secure.port };
    const closed = async (name, data) => {
        const { text, answers, ended } = await cut(bare, data);
        const spoke = answers.length || text.includes('HTTP/');
        tap(`door: ${name}`, ended && !spoke ? [] : [`ended ${ended}: ${JSON.stringify(text)}`]);
    };
    const { text } = await cut(bare, livez);
    tap('door: plain HTTP on the TLS door', text.startsWith('HTTP/1.0 400 ') ? [] : [text]);
    await closed('garbage on the TLS door', crypto.randomBytes(2000));
    await closed('zeros on the TLS door', Buffer.alloc(2000));
    await closed('a record that is too long', '\x16\x03\x01\xff\xff' + '\x01'.repeat(70000));
    const old = {
        ...secure,
        tls: {
            ...secure.tls,
            minVersion: 'TLSv1',
            maxVersion: 'TLSv1.1',
            ciphers: 'DEFAULT@SECLEVEL=0',
        },
    };
    tap('door: TLS 1.1', (await cut(old, livez)).answers.length === 0 ? [] : ['it is taken']);
    tap('door: TLS itself', (await isAlive(secure)) ? [] : ['no answer']);
    tap(
        'door: a bad request over TLS',
        judgeRefusal(await converse(secure, 'GET /livez\r\n\r\n', { closes: true }), 400),
    );
}

// ---- crowds and slow ones ----

async function tryFlood() {
    const many = 5000;
    const { answers } = await converse(plain, livez.repeat(many), { count: many });
    tap(
        `${many} requests at once, in order`,
        answers.length === many ? [] : [`${answers.length} answers`],
    );
    const { answers: refused, ended } = await converse(
        plain,
        livez.repeat(1000) + 'X\r\n\r\n' + livez.repeat(1000),
        { closes: true },
    );
    tap(
        'and a bad one among them ends it',
        ended && refused.length === 1001 && refused.at(-1).status === 400
            ? []
            : [`${refused.length} answers`],
    );
    const large = `GET /openapi/v2 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const deaf = Array.from({ length: 4 }, () => {
        const connection = new RawConnection(plain).send(large.repeat(500));
        connection.socket.pause();
        return connection;
    });
    tap(
        'who asks and does not read costs nobody',
        (await isAlive()) && (await isAlive()) ? [] : ['no answer'],
    );
    for (const connection of deaf) connection.close();
}

// Clients that leave in the middle of everything.
async function tryLeaving() {
    const auth = `Host: x\r\nAuthorization: Bearer ${token}\r\n`;
    const watch = `GET /api/v1/configmaps?watch=1 HTTP/1.1\r\n${auth}\r\n`;
    const pieces = [
        '',
        'GET',
        livez.slice(0, -2),
        `POST /api/v1/namespaces HTTP/1.1\r\n${auth}Content-Length: 100\r\n\r\n{`,
        watch,
        livez.repeat(100),
    ];
    for (const door of [plain, secure])
        for (const piece of pieces)
            for (const how of ['destroy', door.tls ? 'destroySoon' : 'resetAndDestroy', 'end']) {
                const connection = new RawConnection(door);
                await new Promise((resolve) =>
                    connection.socket.once(door.tls ? 'secureConnect' : 'connect', resolve),
                );
                if (piece) connection.send(piece);
                connection.socket[how]();
                if (how === 'end') await connection.until(() => connection.ended);
                connection.close();
            }
    tap(
        'clients that leave at any time',
        (await isAlive()) && (await isAlive(secure)) ? [] : ['no answer'],
    );
    const half = new RawConnection(plain).send(livez).finish();
    await half.until(() => half.ended);
    tap(
        'one that has said all gets its answer',
        half.answers()[0]?.status === 200 ? [] : [`${half.received}`],
    );
    half.close();
}

// They begin before everything else, because their time is long.
function beginSlow() {
    const slow = [];
    for (const start of ['G', 'GET /livez HTTP/1.1\r\n', 'GET /livez HTTP/1.1\r\nHost: x\r\nX: '])
        for (let i = 0; i < 20; i++) slow.push(new RawConnection(plain).send(start));
    const drip = new RawConnection(plain).send('GET /livez HTTP/1.1\r\nHost: x\r\nX: ');
    drip.timer = setInterval(() => drip.ended || drip.send('x'), 200);
    const head = `POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`;
    const bodies = Array.from({ length: 20 }, () => new RawConnection(plain).send(head));
    const watch = [
        'GET /api/v1/configmaps?watch=1&timeoutSeconds=9223372036854775807 HTTP/1.1',
        `Host: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    ].join('\r\n');
    const endless = new RawConnection(plain).send(watch);
    const silent = Array.from(
        { length: 20 },
        () => new RawConnection({ port: secure.port }),
    );
    return { slow: [...slow, drip], drip, endless, rest: [...bodies, ...silent, endless] };
}

// A body's time is a minute (VD_HTTP_BODY_MS): tests/unit/net/connection_test.c has it shorter.
async function endSlow({ slow, drip, endless, rest }) {
    const problems = [];
    for (const connection of slow) {
        await connection.until(() => connection.ended, head_s + 10);
        problems.push(
            ...judgeRefusal(
                { answers: connection.answers(), rest: '', ended: connection.ended },
                408,
            ),
        );
    }
    clearInterval(drip.timer);
    tap(`${slow.length} slow heads get 408`, problems);
    const begun = endless.received.includes('HTTP/1.1 200') && endless.received.includes('"ADDED"');
    tap('the longest watch has not ended', begun && !endless.ended ? [] : [`${endless.received}`]);
    for (const connection of [...slow, ...rest]) connection.close();
}

// ---- wrong as a request of the API ----

async function tryRequest([name, request, status, reason, more = {}]) {
    const { answers, rest } = await converse(plain, requestOf(request, token), {
        methods: [request.method],
    });
    const [answer] = answers;
    if (!answer) {
        tap(name, [`no answer: ${rest}`]);
        if (!fs.existsSync(`/proc/${pid}/fd`)) tapEnd(); // nobody will answer any more
        return;
    }
    const problems =
        answer.status === status ? [] : [`${answer.status}, not ${status}: ${answer.body}`];
    if (!problems.length && reason === 'page') {
        if (answer.body !== '404 page not found\n') problems.push(answer.body);
    } else if (!problems.length && status >= 400 && request.method !== 'HEAD') {
        problems.push(...judgeStatus(answer, status, reason));
    }
    if (more.says && !answer.body.includes(more.says))
        problems.push(`it does not say ${more.says}: ${answer.body}`);
    if ('warning' in more && answer.headers.warning !== more.warning)
        problems.push(`Warning: ${answer.headers.warning}`);
    tap(name, problems);
}

async function tryRequests() {
    for (const [sort, rows] of Object.entries(badRequests)) {
        for (const row of rows) await tryRequest([`${sort}: ${row[0]}`, ...row.slice(1)]);
        tap(`${sort}: the server lives`, (await isAlive()) ? [] : ['it does not']);
    }
}

// ---- the test ----

const ask = async (request) => (await converse(plain, requestOf(request, token))).answers[0];
await untilTrue(async () => (await ask({ path: '/api' }))?.status === 200);
tap('there is something to ask about', await prepare(ask));
const before = descriptors();
const slow = beginSlow();
await tryHttp();
await tryDoors();
await tryRequests();
await tryFlood();
await tryLeaving();
await endSlow(slow);
tap(
    'no descriptor is left behind',
    (await untilTrue(() => descriptors() <= before)) ? [] : [`${descriptors()}, not ${before}`],
);
const names = (await ask({ path: '/api/v1/configmaps' })).body;
const left = JSON.parse(names)
    .items.map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'x' && name !== 'kube-root-ca.crt');
tap('nothing was made by mistake', left);
tapEnd();
