// A client that keeps a copy as docs/watch.md asks of it: list, watch from there, and after a 410
// list again, where what is not in the list has been deleted. It can be away for as long as a test
// likes; its copy and its cursor stay as they were.
import { equal, fail, until, versionOf } from './rest.mjs';

const WHOLE = 'k8s.io/initial-events-end';

export class Follower {
    // filter: {name, path, query, matches}; relist: 'whole', 'pages' or 'watch'. `betweenPages` is
    // called once in each list by pages, when some have come and others have not.
    constructor(filter, relist, betweenPages = () => {}) {
        Object.assign(this, { filter, relist, betweenPages });
        this.copy = new Map(); // by uid
        this.cursor = 0;
        this.stream = null;
    }

    // Everything anew. Returns the uids of those in the copy that are no more.
    async list(api) {
        const how = { whole: this.whole, pages: this.pages, watch: this.initialEvents };
        const { objects, version } = await how[this.relist].call(this, api);
        const found = new Map(objects.map((object) => [object.metadata.uid, object]));
        equal(found.size, objects.length, `${this.filter.name}: objects that are there once`);
        const gone = [...this.copy.keys()].filter((uid) => !found.has(uid));
        this.copy = found;
        this.cursor = version;
        return gone.sort();
    }

    async whole(api) {
        const list = await api.list(this.filter.path, this.filter.query);
        return { objects: list.items, version: versionOf(list) };
    }

    async pages(api) {
        const objects = [];
        let query = { ...this.filter.query, limit: 3 };
        for (;;) {
            const { status, object } = await api.call('GET', this.filter.path, query);
            if (status === 410) {
                // The window has passed the pages; half of an old picture is of no use.
                objects.length = 0;
                query = { ...this.filter.query, limit: 3 };
                continue;
            }
            equal(status, 200, `${this.filter.name}: a page`);
            objects.push(...object.items);
            const next = object.metadata.continue;
            if (!next) return { objects, version: versionOf(object) };
            if (!query.continue) await this.betweenPages(this);
            query = { ...query, continue: next };
        }
    }

    async initialEvents(api) {
        const stream = api.watch(this.filter.path, {
            ...this.filter.query,
            allowWatchBookmarks: true,
            sendInitialEvents: true,
            resourceVersionMatch: 'NotOlderThan',
        });
        const objects = [];
        for (;;) {
            const { type, object } = await stream.next();
            if (type === 'BOOKMARK' && object.metadata.annotations?.[WHOLE] === 'true') {
                stream.close();
                return { objects, version: versionOf(object) };
            }
            equal(type, 'ADDED', `${this.filter.name}: an initial event`);
            objects.push(object);
        }
    }

    // Watches from the cursor until it has everything up to a version.
    async follow(api, version) {
        const query = { resourceVersion: this.cursor, allowWatchBookmarks: true };
        const stream = api.watch(this.filter.path, { ...this.filter.query, ...query });
        while (this.cursor < version) this.take(await stream.next());
        stream.close();
    }

    take({ type, object }) {
        if (type === 'ERROR') fail(`${this.filter.name}: ${JSON.stringify(object)}`);
        if (versionOf(object) <= this.cursor) fail(`${this.filter.name}: back in time`);
        this.cursor = versionOf(object);
        if (type === 'DELETED') this.copy.delete(object.metadata.uid);
        else if (type !== 'BOOKMARK') this.copy.set(object.metadata.uid, object);
    }

    // Comes back with its old cursor: one error, and the end.
    async expires(api) {
        const query = { resourceVersion: this.cursor, allowWatchBookmarks: true };
        const stream = api.watch(this.filter.path, { ...this.filter.query, ...query });
        const { type, object } = await stream.next();
        equal([type, object.code, object.reason], ['ERROR', 410, 'Expired'], this.filter.name);
        await until('the end behind the error', () => stream.over);
        equal([stream.over, stream.events], ['complete', []], `${this.filter.name}: the end`);
    }
}
