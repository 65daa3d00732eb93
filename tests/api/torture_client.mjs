// A client of the resume torture: keeps a copy of what matches its filter by a list and watches,
// loses its connection all the time, and goes on from the last resourceVersion that it took. It
// believes what it is told; `log` has it all for the judge (torture_judge.mjs).
import { watchStream } from './watch_stream.mjs';
import { keyOf } from './torture_writer.mjs';

export class Client {
    // filter: {name, path, legacy, query, tls, bookmarks}; `sleep(cursor)` waits between streams.
    constructor({ filter, server, token, random, intern, sleep }) {
        Object.assign(this, { filter, server, random, intern, sleep });
        this.headers = { Authorization: `Bearer ${token}` };
        this.copy = new Map(); // by key: resourceVersion
        this.cursor = 0; // 0: it must list
        this.log = [];
        const ends = { cut: 0, broken: 0, ended: 0, expired: 0 };
        this.counts = { resumes: 0, ...ends, lists: 0, bookmarks: 0 };
    }

    door() {
        return this.filter.tls ? this.server.tls : this.server.http;
    }

    url(path, query) {
        const all = { ...this.filter.query, ...query };
        const pairs = Object.entries(all).map(([name, v]) => `${name}=${encodeURIComponent(v)}`);
        return `${path}?${pairs.join('&')}`;
    }

    // Where the next stream is cut: in its head, in its first events, far behind, or by the server.
    limit() {
        const dice = this.random.below(100);
        const reset = this.random.percent(50);
        const ms = this.random.between(1, 12);
        if (this.filter.patient) return { ms: this.random.between(800, 1600), reset };
        if (dice < 10) return { bytes: this.random.below(160), ms, reset };
        if (dice < 70) return { bytes: this.random.between(130, 4000), ms, reset };
        if (dice < 97) return { bytes: this.random.between(4000, 40000), ms: 3 * ms, reset };
        return { ms: 40 * ms, reset };
    }

    // One life of the stream: what comes until it is cut, and the copy follows it.
    async turn(limit) {
        await this.server.up();
        if (!this.cursor) return this.list();
        await this.sleep?.(this.cursor);
        await this.server.up();
        const query = { watch: 1, resourceVersion: this.cursor };
        if (this.filter.bookmarks) query.allowWatchBookmarks = true;
        if (this.filter.patient) query.timeoutSeconds = 1;
        const legacy = this.filter.legacy && this.random.percent(50);
        const path = legacy ? this.filter.legacy : this.filter.path;
        this.log.push({ what: 'resume', version: this.cursor });
        this.counts.resumes++;
        let expired = null;
        const { starts } = this.server;
        const take = (line, lift) => {
            if (expired) throw new Error(`${this.filter.name}: more behind an error: ${line}`);
            const event = JSON.parse(line);
            if (event.type === 'ERROR') {
                expired = event.object;
                lift();
            } else {
                this.takeEvent(event, line);
            }
        };
        const url = this.url(path, query);
        const end = await watchStream(this.door(), url, this.headers, limit, take);
        if (end.status !== 0 && end.status !== 200)
            throw new Error(`${this.filter.name}: ${end.status} ${end.text}`);
        this.counts[end.cut ? 'cut' : end.complete ? 'ended' : 'broken']++;
        if (expired) this.takeExpired(expired, end, starts);
    }

    takeEvent({ type, object }, line) {
        const version = Number(object.metadata.resourceVersion);
        if (type === 'BOOKMARK') {
            this.counts.bookmarks++;
            this.log.push({ what: 'bookmark', version });
        } else {
            this.log.push({ what: 'event', version, line: this.intern(line) });
            if (type === 'DELETED') this.copy.delete(keyOf(object));
            else this.copy.set(keyOf(object), version);
        }
        this.cursor = version;
    }

    // The one answer to a cursor that the window has passed: one error, and the stream is over.
    takeExpired(status, end, starts) {
        const got = [status.kind, status.status, status.code, status.reason].join(' ');
        if (got !== 'Status Failure 410 Expired')
            throw new Error(`${this.filter.name}: ${JSON.stringify(status)}`);
        if (!end.complete && this.server.child && this.server.starts === starts)
            throw new Error(`${this.filter.name}: no end behind the error`);
        this.log.push({ what: 'expired', version: this.cursor });
        this.counts.expired++;
        this.cursor = 0;
    }

    // Everything anew, in one of the three ways that there are; any of them may be cut as well.
    async list() {
        const how = this.random.below(3);
        const found = new Map();
        const version =
            how === 0 ? await this.watchList(found) : await this.pages(found, how === 1);
        if (!version) return;
        const lost = [...this.copy.keys()].filter((key) => !found.has(key)).length;
        this.log.push({ what: 'list', version, items: found, lost });
        this.copy = new Map(found);
        this.cursor = version;
        this.counts.lists++;
    }

    async get(query) {
        let text = '';
        const onLine = (line) => (text += line + '\n');
        const url = this.url(this.filter.path, query);
        const end = await watchStream(this.door(), url, this.headers, {}, onLine);
        if (!end.complete) return null;
        const object = JSON.parse(text + end.text);
        if (end.status !== 200 && end.status !== 410)
            throw new Error(`${this.filter.name}: ${end.status} ${JSON.stringify(object)}`);
        return end.status === 200 ? object : null; // 410: compaction has passed the pages
    }

    async pages(found, all) {
        const query = all ? {} : { limit: this.random.between(1, 9) };
        let version = 0;
        do {
            const list = await this.get(query);
            if (!list) return 0;
            if (version && version !== Number(list.metadata.resourceVersion))
                throw new Error(`${this.filter.name}: the pages of a list are of several versions`);
            version = Number(list.metadata.resourceVersion);
            for (const object of list.items)
                found.set(keyOf(object), Number(object.metadata.resourceVersion));
            query.continue = list.metadata.continue ?? '';
        } while (query.continue);
        return version;
    }

    // A watch that begins with all there is. It is over with the bookmark that says so.
    async watchList(found) {
        const query = {
            watch: 1,
            allowWatchBookmarks: true,
            sendInitialEvents: true,
            resourceVersionMatch: 'NotOlderThan',
        };
        let version = 0;
        const limit = this.random.percent(30) ? this.limit() : {};
        const take = (line, lift, cut) => {
            const { type, object } = JSON.parse(line);
            if (version) return;
            if (type === 'BOOKMARK') {
                if (object.metadata.annotations?.['k8s.io/initial-events-end'] !== 'true') return;
                version = Number(object.metadata.resourceVersion);
                cut();
            } else if (type === 'ADDED') {
                found.set(keyOf(object), Number(object.metadata.resourceVersion));
            } else {
                throw new Error(`${this.filter.name}: among initial events: ${line}`);
            }
        };
        const url = this.url(this.filter.path, query);
        await watchStream(this.door(), url, this.headers, limit, take);
        return version;
    }
}
