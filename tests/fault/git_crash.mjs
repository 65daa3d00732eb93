// Pushers work against a server that is killed again and again: at random moments, at each
// failpoint of a push and of the store's commit, with git processes killed instead, or stopped in
// order. After each start, refs and objects agree; over all of them, no push was admitted twice, in
// part, or lost after git had said that it was admitted.
//
//   node git_crash.mjs VEDETTE FOLDER CYCLES SEED
//
// The program knows the content of each commit, because it has made it. It watches from the first
// revision on, over all restarts, and replays what it sees.
import fs from 'node:fs';
import {
    commit, git, gitMust, map, mark, MAPS, Random, REPOSITORIES, Server, sleep, until,
} from '../support/git_server.mjs';

const [, , vedette, folder, cyclesText, seedText] = process.argv;
const cycles = Number(cyclesText);
const seed = Number(seedText);
const random = new Random(seed);
const FAILPOINTS = [
    ...fs.readFileSync(new URL('../../src/base/failpoint.h', import.meta.url), 'utf8')
        .matchAll(/X\("((?:git|engine|store)\.[a-z_]+)"\)/g),
].map((found) => found[1]).filter((name) => !/compact|checkpoint/.test(name));
const NAMES = 6; // objects that a pusher has at most
const violations = [];
const counts = {};
const count = (what) => { counts[what] = (counts[what] ?? 0) + 1; };
const server = new Server(vedette, folder);

function violated(text) {
    violations.push(text);
    console.log(`# violation: ${text}`);
}

/* ---- what was pushed ---- */

const contents = new Map(); // commit -> {path: {name, text}}
const results = new Map(); // commit -> admitted, refused or unknown
const last = new Map(); // "repository branch" -> the commit that a pusher believes to be there

function change(files, prefix) {
    const next = { ...files };
    for (let i = 1 + random.below(4); i > 0; i--) {
        const mine = Object.keys(next).filter((path) => next[path].name.startsWith(prefix));
        const path = mine.length ? random.pick(mine) : null;
        const kind = random.pick(['put', 'put', 'put', 'edit', 'edit', 'delete', 'move']);
        const name = `${prefix}-${random.below(NAMES)}`;
        const text = String(random.below(1e9));
        if (kind === 'put' || !path) {
            for (const other of mine) if (next[other].name === name) delete next[other];
            next[`${prefix}/${name}.yaml`] = { name, text };
        } else if (kind === 'edit') {
            next[path] = { ...next[path], text };
        } else if (kind === 'delete') {
            delete next[path];
        } else {
            const one = next[path];
            delete next[path];
            next[`${prefix}/moved/${one.name}.yaml`] = one;
        }
    }
    return next;
}

const manifests = (files) => Object.fromEntries(Object.entries(files)
    .map(([path, { name, text }]) => [path, map(name, text)]));

class Pusher {
    constructor(name, repository, branches, { deletes = false, forces = false } = {}) {
        Object.assign(this, { name, repository, branches, deletes, forces, serial: 0 });
        this.local = `${folder}/local-${repository}.git`;
    }

    key(branch) {
        return `${this.repository} ${branch}`;
    }

    // What the server has, as a fetch would find it.
    async look() {
        const refs = await server.refs(this.repository);
        if (!refs) return;
        for (const branch of this.branches) {
            last.set(this.key(branch), refs[`refs/heads/${branch}`] ?? '');
        }
    }

    async make(branch, base) {
        const prefix = `${this.name}-${branch}`;
        const files = change(contents.get(base) ?? {}, prefix);
        const made = await commit(this.local, `refs/heads/${this.name}-${this.serial++ % 50}`,
            manifests(files), base ? [base] : [], `${this.name} ${this.serial}`);
        contents.set(made, files);
        return made;
    }

    async step() {
        const specs = [];
        const made = [];
        let force = false;
        for (const branch of this.branches) {
            let base = last.get(this.key(branch)) ?? '';
            if (base && this.deletes && random.chance(0.2)) {
                specs.push(`:refs/heads/${branch}`);
                made.push([branch, '']);
                continue;
            }
            if (base && this.forces && random.chance(0.3)) {
                force = true;
                base = (await git(this.local, ['rev-parse', '-q', '--verify', `${base}~1`])).out.trim();
                if (!contents.has(base)) base = '';
            }
            const one = await this.make(branch, base);
            specs.push(`${one}:refs/heads/${branch}`);
            made.push([branch, one]);
        }
        const options = force ? ['--force'] : [];
        const said = await git(this.local, ['push', ...options, server.url(this.repository), ...specs]);
        const result = said.code === 0 ? 'admitted'
            : /refused for|fetch first|\[rejected\]/.test(said.err) ? 'refused' : 'unknown';
        count(result);
        for (const [branch, one] of made) {
            if (one) results.set(one, result);
            if (result === 'admitted') last.set(this.key(branch), one);
        }
        if (result !== 'admitted' && server.isUp) await this.look();
        if (result === 'refused' && !/fetch first|stale|rejected\] .*\((fetch first|non-fast)/.test(said.err)) {
            violated(`a good push was refused: ${said.err}`);
        }
        return said;
    }

    // Until it is told to stop; what happens to each push is noted.
    async run(going) {
        while (going() && server.isUp) await this.step();
    }
}

const pushers = [
    new Pusher('a', 'one', ['main']),
    new Pusher('b', 'one', ['b1'], { deletes: true }),
    new Pusher('c', 'two', ['main'], { forces: true }),
    new Pusher('d', 'two', ['main']),
    new Pusher('e', 'three', ['main', 'b2'], { deletes: true, forces: true }),
];
const repositories = [...new Set(pushers.map((pusher) => pusher.repository))];

/* ---- what was seen ---- */

class Feed {
    constructor(where) {
        Object.assign(this, { where, version: '0', state: new Map(), events: [] });
    }

    async open() {
        if (this.version === '0') {
            const list = await server.must('GET', this.where);
            this.version = list.metadata.resourceVersion;
            for (const item of list.items) this.state.set(item.metadata.name, item);
        }
        this.close = server.watch(this.where, (event) => this.take(event), this.version);
    }

    take({ type, object }) {
        if (type === 'ERROR') {
            violated(`a watch ended: ${JSON.stringify(object)}`);
            return;
        }
        const version = object.metadata.resourceVersion;
        this.version = version;
        if (type === 'BOOKMARK') return;
        this.events.push({ type, object, version: Number(version) });
        if (type === 'DELETED') this.state.delete(object.metadata.name);
        else this.state.set(object.metadata.name, object);
    }

    // Whether all that a list has was seen.
    async isLevel() {
        const { items } = await server.must('GET', this.where);
        const text = (list) => list.map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`)
            .sort().join(' ');
        const [got, want] = [text([...this.state.values()]), text(items)];
        if (got !== want) throw new Error(`${this.where}: seen ${got}, listed ${want}`);
        return true;
    }
}

const maps = new Feed(MAPS);
const repositoryFeed = new Feed(REPOSITORIES);
const replayed = { objects: new Map(), branches: new Map(), revision: 0, open: null };
const admitted = new Map(); // commit -> how often

const branchesOf = (object) => Object.fromEntries((object.status?.branches ?? [])
    .filter((branch) => branch.commit).map((branch) => [branch.name, branch.commit]));

const described = (branches) => Object.entries(branches).flatMap(([branch, id]) => Object
    .entries(contents.get(id) ?? { unknown: { name: id } })
    .map(([path, { name, text }]) => `${name} ${branch} ${path} ${text}`)).sort().join('\n');

const stored = (objects, repository) => [...objects.values()]
    .filter((object) => mark(object, 'repository') === `shop/${repository}`)
    .map((o) => `${o.metadata.name} ${mark(o, 'branch')} ${mark(o, 'path')} ${o.data.x}`)
    .sort().join('\n');

function replayRepository({ object, version }) {
    const name = object.metadata.name;
    const now = branchesOf(object);
    const before = replayed.branches.get(name) ?? {};
    replayed.branches.set(name, now);
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    replayed.open = null;
    for (const [branch, id] of Object.entries(now)) {
        if (before[branch] === id) continue;
        admitted.set(id, (admitted.get(id) ?? 0) + 1);
        if (admitted.get(id) > 1) violated(`${name} ${branch} ${id} was admitted twice, at ${version}`);
        if (results.get(id) === 'refused') violated(`${name} ${id} was refused and admitted`);
    }
    const [got, want] = [stored(replayed.objects, name), described(now)];
    if (got !== want) violated(`at ${version} of ${name}: the store had\n${got}\nfor\n${want}`);
}

function replayMap({ type, object, version }) {
    const whose = mark(object, 'repository')?.split('/')[1];
    if (type === 'DELETED') replayed.objects.delete(object.metadata.name);
    else replayed.objects.set(object.metadata.name, object);
    if (whose) replayed.open = { whose, version };
}

// Events of both feeds in the order of their revisions.
function replay() {
    const all = [...maps.events.splice(0).map((event) => ({ ...event, run: replayMap })),
        ...repositoryFeed.events.splice(0).map((event) => ({ ...event, run: replayRepository }))];
    all.sort((a, b) => a.version - b.version);
    for (const event of all) {
        const { open } = replayed;
        if (event.version <= replayed.revision) violated(`revision ${event.version} came twice`);
        replayed.revision = event.version;
        event.run(event);
        if (!open) continue;
        const whose = event.run === replayMap ? replayed.open?.whose : event.object.metadata.name;
        if (event.version !== open.version + 1 || whose !== open.whose) {
            violated(`revision ${event.version} of ${whose} is inside a push of ${open.whose}`);
        }
    }
    if (replayed.open) violated(`a push of ${replayed.open.whose} never ended`);
    replayed.open = null;
}

/* ---- after each start ---- */

async function refsAgree(name) {
    const branches = branchesOf(await server.readRepository(name));
    const refs = await server.refs(name);
    if (!refs) throw new Error(`no answer of ${name}`);
    const heads = Object.fromEntries(Object.entries(refs)
        .filter(([ref]) => ref.startsWith('refs/heads/')).map(([ref, id]) => [ref.slice(11), id]));
    const text = (of) => Object.entries(of).map((pair) => pair.join(' ')).sort().join(', ');
    if (text(heads) !== text(branches)) {
        throw new Error(`${name}: refs ${text(heads)}, status ${text(branches)}`);
    }
    const { items } = await server.must('GET', MAPS);
    const objects = new Map(items.map((item) => [item.metadata.name, item]));
    if (stored(objects, name) !== described(branches)) {
        throw new Error(`${name}: the store has\n${stored(objects, name)}\nfor\n${described(branches)}`);
    }
    return true;
}

async function verify(cycle) {
    const attempt = async (what, test) => {
        try {
            await until(what, test, 20);
        } catch (error) {
            if (server.isUp) violated(`cycle ${cycle}: ${error.message}`);
        }
    };
    for (const name of repositories) await attempt(`${name} agrees`, () => refsAgree(name));
    await attempt('the watches are level', async () => (await maps.isLevel())
        && repositoryFeed.isLevel());
    await attempt('locks are gone', () => {
        const locks = server.files(/\.lock$/);
        if (locks.length) throw new Error(locks.join(' '));
        return true;
    });
    await attempt('no git process is left', () => {
        const left = server.children();
        if (left.length) throw new Error(left.join(' '));
        return true;
    });
    if (!server.isUp) return; // a failpoint of the store was reached by the server's own writes
    replay();
    for (const [id, result] of results) {
        if (result === 'admitted' && !admitted.has(id)) violated(`cycle ${cycle}: ${id} is lost`);
        if (result !== 'unknown') results.delete(id);
    }
    for (const pusher of pushers) {
        for (const branch of pusher.branches) {
            const branches = replayed.branches.get(pusher.repository);
            last.set(pusher.key(branch), branches?.[branch] ?? '');
        }
    }
}

// A repository on disk is whole.
async function fsck() {
    for (const one of fs.readdirSync(`${folder}/data/git`).filter((name) => name.endsWith('.git'))) {
        const done = await git(`${folder}/data/git/${one}`, ['-c', 'safe.directory=*', 'fsck',
            '--connectivity-only', '--no-dangling']);
        if (done.code) violated(`fsck: ${done.err}${done.out}`);
    }
}

/* ---- the cycles ---- */

// Kills git processes of the server while pushes run.
async function killChildren(going) {
    while (going() && server.isUp) {
        const children = server.children();
        if (children.length && random.chance(0.3)) {
            try {
                process.kill(random.pick(children), 'SIGKILL');
                count('git processes killed');
            } catch { /* it has just ended */ }
        }
        await sleep(random.below(40));
    }
}

async function cycle(at) {
    const kind = random.pick(['moment', 'moment', 'failpoint', 'failpoint', 'failpoint', 'child', 'stop']);
    const point = FAILPOINTS[at % FAILPOINTS.length];
    const often = point.startsWith('git.') ? 2 + random.below(4) : 8 + random.below(40);
    const failpoint = kind === 'failpoint' ? `${point}:${often}` : undefined;
    // The point may be reached while it starts: then it is started without.
    if (!(await server.start({ failpoint })) && !(await server.start())) {
        throw new Error('the server does not start');
    }
    await maps.open();
    await repositoryFeed.open();
    await verify(at);
    if (server.isUp) {
        // The next push works: the failpoints of a push are for later ones.
        const first = random.pick(pushers);
        const said = await first.step();
        if (said.code && server.isUp) violated(`cycle ${at}: the next push: ${said.err}`);
        let going = true;
        const running = pushers.map((pusher) => pusher.run(() => going));
        const killing = kind === 'child' ? killChildren(() => going) : null;
        await Promise.race([server.exit, sleep(kind === 'failpoint' ? 5000 : 50 + random.below(1200))]);
        if (!server.isUp) count(`died at ${point}`);
        else if (kind === 'child') {
            going = false; // this one lives on, and must be whole without a restart
            await Promise.all([...running, killing]);
            await verify(at);
            count('git processes killed: cycles');
        } else count(kind === 'stop' ? 'stopped' : 'killed');
        if (kind === 'stop' && server.isUp) {
            const end = await Promise.race([server.stop(), sleep(30_000)]);
            if (!end || end.code !== 0) violated(`cycle ${at}: it did not stop: ${JSON.stringify(end)}`);
        }
        await server.kill();
        going = false;
        await Promise.all([...running, killing]);
    } else count(`died at ${point}, by itself`);
    maps.close();
    repositoryFeed.close();
}

async function main() {
    console.log(`# seed ${seed}, ${cycles} cycles`);
    await server.start();
    await server.openShop();
    for (const name of repositories) {
        await gitMust(folder, ['init', '-q', '--bare', `local-${name}.git`]);
        await server.repository(name, { branches: ['main', 'b*'] });
    }
    await maps.open();
    await repositoryFeed.open();
    for (const feed of [maps, repositoryFeed]) for (const [, object] of feed.state) {
        if (feed === maps) replayed.objects.set(object.metadata.name, object);
    }
    await server.kill();
    maps.close();
    repositoryFeed.close();
    for (let at = 1; at <= cycles && violations.length < 5; at++) {
        await cycle(at);
        if (at % 25 === 0) {
            await fsck();
            console.log(`# ${at} cycles: ${JSON.stringify(counts)}`);
        }
    }
    await server.start();
    await maps.open();
    await repositoryFeed.open();
    await verify('last');
    await fsck();
    const quarantines = server.files(/^(tmp_objdir|incoming)-/);
    console.log(`# ${cycles} cycles, ${[...admitted.values()].length} pushed commits admitted, `
        + `${quarantines.length} quarantines left: ${JSON.stringify(counts)}`);
    await server.stop();
    console.log(`${violations.length ? 'not ok' : 'ok'} 1 - refs and store agree after ${cycles} cycles`);
    console.log('1..1');
    process.exit(violations.length ? 1 : 0);
}

process.on('exit', () => { if (server.child) server.child.kill('SIGKILL'); });
main().catch((error) => {
    console.log(`not ok 1 - seed ${seed}: ${error.stack}`);
    process.exit(1);
});
