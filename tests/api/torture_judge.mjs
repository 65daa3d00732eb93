// The judge of the resume torture. The truth is the log of the observer, a client that sees
// everything and is cut by nobody but the server's deaths, after it has been held against what the
// writers noted. From it follows, for any filter, each byte that a client must have been sent.
import { keyOf } from './torture_writer.mjs';

export class Verdict extends Error {}

const check = (good, what) => {
    if (!good) throw new Verdict(what());
};

// ---- the truth ----

// The object's bytes in an event, and an event of another type with them.
const bytesOf = (line) => line.slice(line.indexOf('"object":') + 9, -1);
const lineOf = (type, bytes) => `{"type":"${type}","object":${bytes}}`;
const withVersion = (bytes, from, to) =>
    bytes.replace(`"resourceVersion":"${from}"`, `"resourceVersion":"${to}"`);

// truthOf(LOG): {start, objects, events} of an observer's log: what was there at the version
// `start`, and each change since, with what it replaced.
export function truthOf(log) {
    const [first] = log;
    check(first?.what === 'list', () => 'the observer has not listed first');
    const now = new Map(); // by key: {object, bytes}
    const events = [];
    let last = first.version;
    for (const { what, version, line } of log.slice(1)) {
        const keeps = what !== 'expired' && what !== 'list';
        check(keeps, () => `the observer was expired at ${version}`);
        if (what !== 'event') continue;
        check(version > last, () => `the observer got ${version} behind ${last}`);
        last = version;
        const { type, object } = JSON.parse(line);
        const key = keyOf(object);
        const old = now.get(key) ?? null;
        const bytes = bytesOf(line);
        checkStep({ type, key, version, old, bytes });
        events.push({ type, key, version, object, bytes, line, old });
        if (type === 'DELETED') now.delete(key);
        else now.set(key, { object, bytes, version });
    }
    return { start: first.version, events };
}

// An object's life: created, changed, deleted with the bytes that it had.
function checkStep({ type, key, version, old, bytes }) {
    const what = () => `${type} of ${key} at ${version}`;
    check(['ADDED', 'MODIFIED', 'DELETED'].includes(type), what);
    check((type === 'ADDED') === !old, () => `${what()}: it ${old ? 'exists' : 'does not exist'}`);
    if (type === 'DELETED')
        check(
            bytes === withVersion(old.bytes, old.version, version),
            () => `${what()}: ${bytes} instead of ${old.bytes}`,
        );
}

// checkWriters(TRUTH, WRITERS): every change that was answered happened, once, with the version of
// the answer; and nothing else did.
export function checkWriters(truth, writers) {
    const seen = new Map();
    for (const event of truth.events) {
        if (!seen.has(event.key)) seen.set(event.key, []);
        seen.get(event.key).push(event);
    }
    for (const writer of writers) {
        for (const [key, wanted] of writer.history) {
            const got = seen.get(key) ?? [];
            seen.delete(key);
            for (let i = 0; i < Math.max(got.length, wanted.length); i++) {
                const [g, w] = [got[i], wanted[i]];
                const same = g && w && g.type === w.type && g.object.data.n === w.n;
                check(
                    same && (w.version ?? g.version) === g.version,
                    () =>
                        `change ${i} of ${key}: the log has ` +
                        `${g && `${g.type} ${g.object.data.n} at ${g.version}`}, ` +
                        `its writer ${JSON.stringify(w)}`,
                );
            }
        }
    }
    check(seen.size === 0, () => `changes that nobody made: ${[...seen.keys()]}`);
}

// ---- what a filter makes of it ----

// Each event that a watch with this filter is sent, in order.
function expectedOf(truth, matches) {
    const expected = [];
    for (const { key, type, version, object, bytes, line, old } of truth.events) {
        const before = old !== null && matches(old.object);
        const after = type !== 'DELETED' && matches(object);
        if (after) {
            const sent = before === (old !== null) ? line : lineOf('ADDED', bytes);
            expected.push({ version, key, after, line: sent });
        } else if (before) {
            const last = withVersion(old.bytes, old.version, version);
            expected.push({ version, key, after, line: lineOf('DELETED', last) });
        }
    }
    return expected;
}

// checkClient(TRUTH, CLIENT, WINDOW): its log is what it must be, from the first list to the end.
// Returns how many deletions only a list has told it.
export function checkClient(truth, client, window) {
    const { filter, log } = client;
    const expected = expectedOf(truth, filter.matches);
    const now = new Map(); // what matches at the version up to which `at` has come
    let at = 0; // of expected
    let cursor = null; // the version that the client has taken; null: it must list
    let expiredAt = 0;
    let repaired = 0;
    const name = (record) => `${filter.name}: ${record.what} ${record.version}`;
    const pass = () => {
        const { key, version, after } = expected[at++];
        if (after) now.set(key, version);
        else now.delete(key);
    };
    const takes = {
        list(record) {
            const { version, items, lost } = record;
            check(cursor === null, () => `${name(record)}: nobody told it to list`);
            check(version >= expiredAt, () => `${name(record)}: older than ${expiredAt}`);
            if (expiredAt)
                check(
                    version - expiredAt >= window,
                    () => `${name(record)}: ${expiredAt} was inside the window of ${window}`,
                );
            while (at < expected.length && expected[at].version <= version) pass();
            const [got, want] = [items, now].map((map) =>
                [...map]
                    .filter(([key]) => !key.endsWith('/kube-root-ca.crt')) // the server's own
                    .map(([key, v]) => `${key}@${v}`)
                    .sort()
                    .join(' '),
            );
            check(got === want, () => `${name(record)}:\n got ${got}\nwant ${want}`);
            if (expiredAt) repaired += lost;
            cursor = version;
        },
        resume(record) {
            check(record.version === cursor, () => `${name(record)} and not from ${cursor}`);
        },
        event(record) {
            const want = expected[at];
            check(cursor !== null, () => `${name(record)} without a list`);
            check(
                want?.line === record.line,
                () => `${name(record)} behind ${cursor}:\n got ${record.line}\nwant ${want?.line}`,
            );
            pass();
            cursor = record.version;
        },
        bookmark(record) {
            const next = expected[at]?.version ?? Infinity;
            check(record.version >= cursor, () => `${name(record)} behind ${cursor}`);
            check(record.version < next, () => `${name(record)}, but ${next} was not sent`);
            cursor = record.version;
        },
        expired(record) {
            check(record.version === cursor, () => `${name(record)}, but it was at ${cursor}`);
            expiredAt = cursor;
            cursor = null;
        },
    };
    for (const record of log) takes[record.what](record);
    check(at === expected.length, () => `${filter.name}: never sent: ${expected[at].line}`);
    return repaired;
}
