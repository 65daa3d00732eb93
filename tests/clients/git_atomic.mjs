// Pushes of many files are seen whole: by a watch, whose events of a push are consecutive, by lists
// that are read in a loop, all at once and in pages, and by twenty pushers that work meanwhile.
//
//   node git_atomic.mjs VEDETTE FOLDER FILES...
import { finish, tap } from './tap.mjs';
import {
    commit, git, gitMust, map, mark, MAPS, REPOSITORIES, Server, sleep, until,
} from '../support/git_server.mjs';

const [, , vedette, folder, ...sizes] = process.argv;
const PUSHERS = 20;
const server = new Server(vedette, folder);

const ours = (items, name) => items.filter((item) => mark(item, 'repository') === `shop/${name}`);

// All items in pages, of one revision.
async function readPages(limit) {
    const items = [];
    let more = '';
    do {
        const page = await server.must('GET', `${MAPS}?limit=${limit}&continue=${encodeURIComponent(more)}`);
        items.push(...page.items);
        more = page.metadata.continue ?? '';
    } while (more);
    return items;
}

// While `act` runs: each list shows one value in all objects, and none or all of them.
async function seenWhole(n, name, act) {
    let going = true;
    let lists = 0;
    const problems = [];
    const look = async (read) => {
        while (going) {
            const items = ours(await read(), name);
            const values = new Set(items.map((item) => item.data.x));
            lists++;
            if (values.size > 1 || (items.length && items.length !== n)) {
                problems.push(`a list has ${items.length} of ${n} objects with ${[...values]}`);
                return;
            }
            await sleep(5);
        }
    };
    const looking = [look(async () => (await server.must('GET', MAPS)).items), look(() => readPages(Math.ceil(n / 3)))];
    try {
        await act();
    } finally {
        going = false;
        await Promise.all(looking);
    }
    if (problems.length) throw new Error(problems.join('\n'));
    console.log(`# ${lists} lists`);
}

class Watch {
    constructor(name) {
        this.name = name;
        this.events = [];
    }

    async open() {
        const { metadata } = await server.must('GET', MAPS);
        this.close = server.watch(MAPS, ({ type, object }) => {
            if (type === 'BOOKMARK') this.bookmarks.push(Number(object.metadata.resourceVersion));
            else if (mark(object, 'repository') === `shop/${this.name}`) {
                this.events.push(Number(object.metadata.resourceVersion));
            }
        }, metadata.resourceVersion);
        this.bookmarks = [];
    }

    // The next n events have consecutive revisions, which are those that git was told.
    async take(n, text) {
        const found = /resourceVersion (\d+)(?:\.\.(\d+))?/.exec(text);
        await until(`${n} events`, () => this.events.length >= n, 120);
        const got = this.events.splice(0, n);
        if (this.events.length) throw new Error('there are more events');
        if (got.some((revision, i) => revision !== got[0] + i)) throw new Error('they are not consecutive');
        if (got[0] !== Number(found[1]) || got.at(-1) !== Number(found[2] ?? found[1])) {
            throw new Error(`${got[0]}..${got.at(-1)}, git was told ${found[0]}`);
        }
        if (this.bookmarks.some((b) => b > got[0] && b < got.at(-1))) throw new Error('a bookmark is inside');
    }
}

async function pushMany(n) {
    const name = `many-${n}`;
    const local = `${folder}/${name}.git`;
    await gitMust(folder, ['init', '-q', '--bare', local]);
    await server.repository(name, {});
    const watch = new Watch(name);
    await watch.open();
    const files = (text) => Object.fromEntries(Array.from({ length: n },
        (_, i) => [`${i % 50}/${i}.yaml`, map(`m${n}-${i}`, text)]));
    const push = async (content) => {
        const id = await commit(local, 'refs/heads/main', content);
        const start = Date.now();
        const done = await git(local, ['push', '--force', server.url(name), `${id}:refs/heads/main`]);
        if (done.code || !done.err.includes(`admitted ${n} resources`)) throw new Error(done.err);
        console.log(`# a push of ${n} files: ${Date.now() - start} ms`);
        await watch.take(n, done.err);
    };
    await seenWhole(n, name, async () => {
        await push(files('1'));
        await push(files('2'));
        await push({});
    });
    watch.close();
}

// Each of twenty pushes three times to a repository of its own while one with many files is pushed.
async function pushersBesideIt() {
    const n = 300;
    const names = Array.from({ length: PUSHERS }, (_, i) => `own-${i}`);
    await gitMust(folder, ['init', '-q', '--bare', 'own.git']);
    for (const name of names) await server.repository(name, {});
    const one = async (name, i) => {
        for (let at = 1; at <= 3; at++) {
            const id = await commit(`${folder}/own.git`, `refs/heads/${name}`, { 'x.yaml': map(`own-${i}`, String(at)) });
            const done = await git(`${folder}/own.git`, ['push', '-f', server.url(name), `${id}:refs/heads/main`]);
            if (done.code) throw new Error(done.err);
            const { data } = await server.must('GET', `${MAPS}/own-${i}`);
            if (data.x !== String(at)) throw new Error(`own-${i} has ${data.x} behind push ${at}`);
        }
    };
    const local = `${folder}/beside.git`;
    await gitMust(folder, ['init', '-q', '--bare', local]);
    await server.repository('beside', {});
    const watch = new Watch('beside');
    await watch.open();
    await seenWhole(n, 'beside', async () => {
        const pushing = names.map(one);
        const id = await commit(local, 'refs/heads/main', Object.fromEntries(Array.from({ length: n },
            (_, i) => [`${i}.yaml`, map(`beside-${i}`)])));
        const done = await git(local, ['push', server.url('beside'), `${id}:refs/heads/main`]);
        if (done.code) throw new Error(done.err);
        await watch.take(n, done.err);
        await Promise.all(pushing);
    });
    watch.close();
    const { items } = await server.must('GET', REPOSITORIES);
    for (const item of items.filter(({ metadata }) => names.includes(metadata.name))) {
        if (item.status.resources !== 1) throw new Error(`${item.metadata.name}: ${item.status.resources}`);
    }
}

async function main() {
    await server.start({ options: ['--log-level', 'warn', '--watch-bookmark-period', '1s'] });
    await server.openShop();
    for (const size of sizes) await tap(`${size} files are seen at once`, () => pushMany(Number(size)));
    await tap('so are 300 while twenty others push', pushersBesideIt);
    await server.stop();
    finish();
}

process.on('exit', () => { if (server.child) server.child.kill('SIGKILL'); });
main().catch((error) => {
    console.log(`not ok - ${error.stack}`);
    process.exit(1);
});
