// The resume torture: clients with several filters watch over REST, are cut at random bytes and
// resume from the last resourceVersion that they took, the first of them N times, while writers
// write, the server is killed, stopped and started again, and compaction passes those that sleep.
// In the end each client's copy is the server's, and of what it was sent nothing was missing, twice
// or out of order; a cursor that the window has passed got one 410, and a list repaired the rest.
//
//   node resume_torture.mjs VEDETTE DIR N
//
// Prints TAP. The seed is VEDETTE_SEED, or a new one; it decides every choice but the timing.
import { Client } from './torture_client.mjs';
import { checkClient, checkWriters, truthOf, Verdict } from './torture_judge.mjs';
import { Random, seedOfRun } from './random.mjs';
import { ServerProcess } from './server_process.mjs';
import { Writer } from './torture_writer.mjs';

const [binary, folder, count] = process.argv.slice(2);
const resumes = Number(count);
const seed = seedOfRun();
const random = new Random(seed);
const child = () => new Random(random.below(4294967296));

const WINDOW = 150; // events; whoever is this far behind may be expired
const TAIL = 50; // and this far behind reads from the disk
const WRITERS = 4;
const OBJECTS = 24; // in each namespace
const NAMESPACES = ['one', 'two'];
const RESTARTS = Math.max(6, Math.round(resumes / 250));
const DEADLINE_MS = 240000 + resumes * 100;

const ALL = '/api/v1/configmaps';
const labels = (object) => object.metadata.labels ?? {};
const filters = [
    { name: 'all', path: ALL, matches: () => true },
    { name: 'all, TLS, bookmarks', path: ALL, tls: true, bookmarks: true, matches: () => true },
    {
        name: 'a namespace',
        path: '/api/v1/namespaces/one/configmaps',
        legacy: '/api/v1/watch/namespaces/one/configmaps',
        bookmarks: true,
        matches: (object) => object.metadata.namespace === 'one',
    },
    {
        name: 'a label',
        path: ALL,
        query: { labelSelector: 'color=red' },
        matches: (object) => labels(object).color === 'red',
    },
    {
        name: 'labels in a namespace',
        path: '/api/v1/namespaces/two/configmaps',
        query: { labelSelector: 'color in (red,blue),!hidden' },
        bookmarks: true,
        matches: (object) =>
            object.metadata.namespace === 'two' &&
            ['red', 'blue'].includes(labels(object).color) &&
            labels(object).hidden === undefined,
    },
    {
        name: 'a name',
        path: ALL,
        query: { fieldSelector: 'metadata.name=object-3' },
        matches: (object) => object.metadata.name === 'object-3',
    },
    {
        name: 'all names but one, with a label',
        path: ALL,
        query: { fieldSelector: 'metadata.name!=object-3', labelSelector: 'color' },
        matches: (object) =>
            object.metadata.name !== 'object-3' && labels(object).color !== undefined,
    },
    {
        name: 'a name that nobody has',
        path: ALL,
        query: { fieldSelector: 'metadata.name=nobody' },
        patient: true,
        bookmarks: true,
        matches: () => false,
    },
    { name: 'a sleeper', path: ALL, sleeps: true, matches: () => true },
    {
        name: 'a sleeper with a label',
        path: ALL,
        query: { labelSelector: 'color!=green' },
        sleeps: true,
        bookmarks: true,
        matches: (object) => labels(object).color !== 'green',
    },
];

let failed = 0;
let taps = 0;
function tap(name, run) {
    taps++;
    try {
        const note = run();
        console.log(`ok ${taps} - ${name}${note ? ` (${note})` : ''}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${taps} - ${name}`);
        console.log(String(error.stack).slice(0, 4000).replace(/^/gm, '# '));
    }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(what, test) {
    const deadline = Date.now() + 60000;
    while (!(await test())) {
        if (Date.now() > deadline) throw new Error(`never: ${what}`);
        await pause(5);
    }
}

// ---- the cast ----

const server = new ServerProcess(binary, `${folder}/data`, [
    ...['--window-events', WINDOW, '--tail-events', TAIL].map(String),
    ...['--watch-bookmark-period', '1s', '--access-log', 'off', '--log-level', 'warn'],
]);
const lines = new Map();
const intern = (line) => {
    if (!lines.has(line)) lines.set(line, line);
    return lines.get(line);
};

function makeClient(token, filter) {
    const mine = child();
    const sleep = async (cursor) => {
        const wake = cursor + mine.below(3 * WINDOW);
        await until('writers go on', () => allDone() || observer.cursor >= wake);
    };
    const options = { filter, server, token, random: mine, intern };
    return new Client(filter.sleeps ? { ...options, sleep } : options);
}

let observer;
let clients;
let writers;
let resting = false; // the writers
let stopping = false; // the observer
const newest = () => Math.max(...writers.map((writer) => writer.newest));

// The observer and the clients of everything must not fall out of the window, so writers wait.
const held = () => [observer, clients[0], clients[1]];
const behind = () => newest() - Math.min(...held().map((client) => client.cursor));
async function pace() {
    while (behind() > WINDOW / 2 && !resting) await pause(1);
}

async function prepare() {
    await server.start();
    const token = server.token('torturer', 'system:masters');
    const keys = [];
    for (const namespace of NAMESPACES)
        for (let i = 0; i < OBJECTS; i++) keys.push(`${namespace}/object-${i}`);
    const mine = (i) => keys.filter((key, k) => k % WRITERS === i);
    writers = Array.from({ length: WRITERS }, (unused, i) => {
        const options = { name: `w${i}`, server, token, random: child(), keys: mine(i), pace };
        return new Writer(options);
    });
    for (const name of NAMESPACES) {
        const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
        const { status } = await writers[0].call('POST', '/api/v1/namespaces', body);
        if (status !== 201) throw new Error(`namespace ${name}: ${status}`);
        // The server fills it; what it writes there is not the writers' and comes before them.
        const path = `/api/v1/namespaces/${name}/configmaps/kube-root-ca.crt`;
        await until(path, async () => (await writers[0].call('GET', path)).status === 200);
    }
    observer = makeClient(token, { name: 'the observer', path: ALL, matches: () => true });
    clients = filters.map((filter) => makeClient(token, filter));
    for (const client of [observer, ...clients]) while (!client.cursor) await client.turn({});
}

// ---- the play ----

async function watchUncut() {
    while (!stopping) await observer.turn({});
}

// A sleeper resumes less often, each time from far behind; and so does who waits for bookmarks.
function wanted(client) {
    if (client === clients[0]) return resumes;
    const rarely = client.filter.sleeps || client.filter.patient;
    return Math.max(6, resumes / (rarely ? 200 : 8));
}
const isDone = (client) => client.counts.resumes >= wanted(client);
const allDone = () => clients.every(isDone);

// Whoever is done goes on, though less hurried: writers wait for some.
const limitOf = (client) =>
    isDone(client) && !client.filter.patient ? { ms: 300 } : client.limit();
async function torture(client) {
    while (!allDone()) await client.turn(limitOf(client));
}

async function restarts() {
    const [main] = clients;
    for (let i = 1; i <= RESTARTS; i++) {
        const moment = (i * resumes) / (RESTARTS + 1);
        await until('resumes', () => main.counts.resumes >= moment || stopping);
        await server.stop(i % 3 === 0 ? 'SIGTERM' : 'SIGKILL');
        await server.start();
    }
}

// The end: writers rest, and everyone takes what is left.
async function settle(client) {
    const want = async () => {
        const found = new Map();
        await client.pages(found, true);
        return [...found].map(([key, version]) => `${key}@${version}`).sort().join(' ');
    };
    const server_has = await want();
    await until(`${client.filter.name} has all`, async () => {
        const has = [...client.copy].map(([key, version]) => `${key}@${version}`).sort().join(' ');
        if (has === server_has) return true;
        await client.turn({ ms: 200 });
        return false;
    });
    await client.turn({ ms: 50 }); // and nothing more comes
    return server_has.split(' ').length;
}

async function play() {
    const watching = watchUncut();
    const writing = writers.map((writer) => writer.run());
    const all = Promise.all([...clients.map(torture), restarts()]);
    await Promise.race([all, Promise.all(writing), watching]);
    resting = true;
    for (const writer of writers) writer.stopping = true;
    await Promise.all(writing);
    stopping = true;
    for (const client of clients) await settle(client);
    await until('the observer', () => observer.cursor >= newest());
    await server.stop('SIGTERM');
    await watching;
}

// ---- the verdict ----

const sum = (list, name) => list.reduce((total, one) => total + one.counts[name], 0);

function judge() {
    let truth;
    let repaired = 0;
    tap('the observer saw each change once, in order', () => {
        truth = truthOf(observer.log);
        return `${truth.events.length} changes, ${server.starts - 1} restarts`;
    });
    tap('and they are what the writers were answered', () => {
        checkWriters(truth, writers);
        const [writes, unanswered] = [sum(writers, 'writes'), sum(writers, 'unanswered')];
        return `${writes} writes, ${unanswered} of them unanswered, ${sum(writers, 'idle')} idle`;
    });
    for (const client of clients)
        tap(`${client.filter.name}: nothing twice, nothing missing, in order`, () => {
            repaired += checkClient(truth, client, WINDOW);
            const c = client.counts;
            return (
                `${c.resumes} resumes: ${c.cut} cut, ${c.broken} broken, ${c.ended} ended; ` +
                `${c.bookmarks} bookmarks; ${c.expired} times 410`
            );
        });
    tap('the judge would have noticed', () => {
        const [client] = clients;
        const first = client.log.findIndex(({ what }, i) => what === 'event' && i > 1);
        const [one, two] = client.log.filter(({ what }) => what === 'event');
        const refuses = (what, spoil) => {
            const log = [...client.log];
            spoil(log);
            let verdict = null;
            try {
                checkClient(truth, { ...client, log }, WINDOW);
            } catch (error) {
                verdict = error;
            }
            if (!(verdict instanceof Verdict)) throw new Error(`not seen: ${what} (${verdict})`);
        };
        refuses('an event that is lost', (log) => log.splice(log.indexOf(two), 1));
        refuses('the last one lost', (log) =>
            log.splice(log.findLastIndex(({ what }) => what === 'event'), 1));
        refuses('an event twice', (log) => log.splice(first, 0, log[first]));
        refuses('two out of order', (log) => {
            const [i, j] = [log.indexOf(one), log.indexOf(two)];
            [log[i], log[j]] = [two, one];
        });
        refuses('a byte that is wrong', (log) => {
            const line = one.line.replace('"text":"é', '"text":"e');
            log[log.indexOf(one)] = { ...one, line };
        });
        refuses('a bookmark that is too new', (log) => {
            log.splice(log.indexOf(one), 0, { what: 'bookmark', version: two.version });
        });
        refuses('an expiry inside the window', (log) => {
            const list = { ...log[0], version: log[0].version, lost: 0 };
            log.splice(1, 0, { what: 'expired', version: list.version }, list);
        });
        refuses('an object that a list does not have', (log) => {
            const version = two.version;
            const items = new Map();
            log.splice(0, log.indexOf(two) + 1, { what: 'list', version, items, lost: 0 });
        });
    });
    tap('whoever kept up was never expired', () => {
        const expired = clients[0].counts.expired + clients[1].counts.expired;
        if (expired) throw new Error(`${expired} times`);
    });
    tap('some cursors expired, and lists repaired deletions', () => {
        const expired = sum(clients, 'expired');
        if (!expired || !repaired) throw new Error(`${expired} expired, ${repaired} repaired`);
        return `${expired} expired, ${repaired} deletions repaired`;
    });
    tap('some streams were broken by the server, some bookmarks came', () => {
        const [broken, bookmarks] = [sum(clients, 'broken'), sum(clients, 'bookmarks')];
        if (!broken || !bookmarks) throw new Error(`${broken} broken, ${bookmarks} bookmarks`);
        return `${sum(clients, 'resumes')} resumes in all`;
    });
}

console.log(`# VEDETTE_SEED=${seed}`);
process.on('exit', () => server.process?.kill('SIGKILL'));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
const timer = setTimeout(() => {
    console.log('not ok - it takes too long');
    for (const client of [observer, ...(clients ?? [])])
        console.log(`# ${client.filter.name}: ${client.cursor} ${JSON.stringify(client.counts)}`);
    process.exit(1);
}, DEADLINE_MS);
try {
    await Promise.race([prepare(), server.death]);
    await Promise.race([play(), server.death]);
    judge();
} catch (error) {
    failed++;
    console.log(`not ok ${++taps} - it comes to its end`);
    console.log(String(error.stack).slice(0, 4000).replace(/^/gm, '# '));
}
clearTimeout(timer);
console.log(`1..${taps}`);
process.exit(failed ? 1 : 0);
