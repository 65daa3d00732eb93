// Random histories of two repositories with several branches, pushed to a server and to a model of
// docs/git.md: commits, merges, moves, renames, edits of specs, bodies and labels, deletions, things
// that come back, forced pushes and rewinds, branches that are created, deleted and renamed, several
// branches in one push, tags, objects that two describe, files that are wrong, several documents in
// one file, .vedette.yaml, objects that wait for finalizers. After each push both have the same
// objects, and versions count as the document says.
//
//   node git_histories.mjs VEDETTE FOLDER STEPS SEED
//
// The model keeps, for each admitted branch, the files of its commit. An object is
// {kind, name, text, labels}, a file is a list of these or a text that is wrong.
import { equal } from './tap.mjs';
import {
    commit, git, gitMust, MAPS, mark, PRODUCTS, Random, Server, until,
} from '../support/git_server.mjs';

const [, , vedette, folder, stepsText, seedText] = process.argv;
const steps = Number(stepsText);
const seed = Number(seedText);
const random = new Random(seed);
const server = new Server(vedette, folder);
const local = `${folder}/local.git`;

const REPOSITORIES = ['red', 'blue'];
const ADMITTED = ['main', 'release/1', 'release/2'];
const BRANCHES = [...ADMITTED, 'draft'];
const KINDS = ['ConfigMap', 'Product'];
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const COLORS = ['red', 'blue', 'green'];
const WRONG = ['kind: [', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nstatus: {}\n',
    'apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Upper_Case}\n',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, uid: y}\n',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: elsewhere}\n'];

const commits = new Map(); // id -> {files, parents}
const local_ = new Map(); // "repository branch" -> the pusher's commit
const recorded = new Map(); // "repository branch" -> commit of the server, admitted or not
let known = new Map(); // "kind name" -> what the server had after the last push
const held = new Set(); // "kind name" of objects with a finalizer
const counts = {};

const key = (repository, branch) => `${repository} ${branch}`;
const isAdmitted = (branch) => ADMITTED.includes(branch);

/* ---- files ---- */

function document(o) {
    const labels = JSON.stringify(o.labels);
    if (o.kind === 'ConfigMap') {
        return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${o.name}\n  labels: ${labels}\n`
            + `data:\n  x: "${o.text}"${o.layout ? '   # another layout' : ''}\n`;
    }
    return `${o.layout ? '# another layout\n' : ''}apiVersion: catalog.gitstore.dev/v1beta1\nkind: Product\nmetadata:\n`
        + `  name: ${o.name}\n  labels: ${labels}\nspec:\n  title: "${o.text}"\n`;
}

function textOf(path, list) {
    if (typeof list === 'string') return list;
    if (path.endsWith('.md')) return `---\n${document(list[0])}---\n${list[0].body ?? ''}`;
    return list.map(document).join('---\n');
}

const configText = ({ exclude, labels }) => `exclude: [${exclude}]\nlabels: ${JSON.stringify(labels)}\n`;

function render(files) {
    return Object.fromEntries(Object.entries(files).map(([path, list]) => [path,
        path === '.vedette.yaml' ? configText(list) : textOf(path, list)]));
}

// What a commit describes: [{path, kind, name, ...}], or null if it is wrong by itself.
function describe(id) {
    if (!id) return [];
    const { files } = commits.get(id);
    const config = files['.vedette.yaml'] ?? { exclude: '', labels: {} };
    const found = [];
    for (const [path, list] of Object.entries(files)) {
        if (path === '.vedette.yaml' || path === 'README') continue;
        if (config.exclude && path.startsWith(config.exclude)) continue;
        if (typeof list === 'string') return null;
        for (const o of list) found.push({ ...o, path, labels: { ...config.labels, ...o.labels } });
    }
    const names = found.map((o) => `${o.kind} ${o.name}`);
    return new Set(names).size === names.length ? found : null;
}

/* ---- random edits ---- */

const object = () => ({
    kind: random.pick(KINDS), name: random.pick(NAMES), text: `t${random.below(20)}`,
    labels: random.chance(0.5) ? { color: random.pick(COLORS) } : {},
});

function freshPath(kind) {
    const at = `${random.pick(['x', 'y', 'drafts'])}/${random.below(4)}`;
    return `${at}.${kind === 'Product' && random.chance(0.5) ? 'md' : 'yaml'}`;
}

// Adds an object that this branch does not describe, mostly.
function add(files) {
    const o = object();
    const there = Object.values(files).flat().some((other) => other.name === o.name && other.kind === o.kind);
    if (there && random.chance(0.9)) return;
    const path = freshPath(o.kind);
    if (path.endsWith('.md')) files[path] = [{ ...o, body: random.chance(0.5) ? 'Words.\n' : '' }];
    else files[path] = [...(Array.isArray(files[path]) ? files[path] : []), o];
}

function edit(files) {
    const paths = Object.keys(files).filter((path) => Array.isArray(files[path]));
    const path = paths.length ? random.pick(paths) : null;
    const kind = path ? random.pick(['add', 'add', 'text', 'text', 'labels', 'body', 'layout', 'name', 'delete',
        'move', 'readme', 'config', 'wrong', 'take out']) : 'add';
    const change = (what) => {
        const i = random.below(files[path].length);
        files[path] = files[path].map((o, at) => (at === i ? { ...o, ...what(o) } : o));
    };
    if (kind === 'add') add(files);
    else if (kind === 'text') change(() => ({ text: `t${random.below(20)}` }));
    else if (kind === 'labels') change(() => ({ labels: random.chance(0.3) ? {} : { color: random.pick(COLORS) } }));
    else if (kind === 'body' && path.endsWith('.md')) change(() => ({ body: `Words ${random.below(5)}.\n` }));
    else if (kind === 'layout') change((o) => ({ layout: !o.layout }));
    else if (kind === 'name') change(() => ({ name: random.pick(NAMES) }));
    else if (kind === 'delete') delete files[path];
    else if (kind === 'take out') {
        files[path] = files[path].slice(1);
        if (!files[path].length) delete files[path];
    } else if (kind === 'move') {
        const to = `${random.pick(['x', 'y', 'drafts'])}/m${random.below(9)}.${path.split('.').pop()}`;
        if (files[to]) return;
        files[to] = files[path];
        delete files[path];
    } else if (kind === 'readme') files.README = `${random.below(1e6)}`;
    else if (kind === 'config' && random.chance(0.4)) {
        if (files['.vedette.yaml'] && random.chance(0.5)) delete files['.vedette.yaml'];
        else {
            files['.vedette.yaml'] = {
                exclude: random.pick(['', 'drafts/']), labels: random.chance(0.5) ? { team: 'web' } : {},
            };
        }
    } else if (kind === 'wrong' && random.chance(0.3)) files[`x/wrong${random.below(2)}.yaml`] = random.pick(WRONG);
}

async function make(files, parents) {
    const id = await commit(local, 'refs/heads/made', render(files), parents.filter(Boolean), `${random.next()}`);
    commits.set(id, { files, parents: parents.filter(Boolean) });
    return id;
}

/* ---- the model ---- */

// The objects that the server has for these commits of branches; null if a branch is wrong, or one
// object is described twice.
function world(of) {
    const all = new Map();
    for (const [where, id] of of) {
        const [repository, branch] = where.split(' ');
        if (!isAdmitted(branch)) continue;
        const list = describe(id);
        if (!list) return null;
        for (const o of list) {
            const name = `${o.kind} ${o.name}`;
            if (all.has(name)) return null;
            all.set(name, { ...o, repository, branch, id });
        }
    }
    return all;
}

// Whether the push would be admitted: the changed branches by name, '' for one that goes.
function isAllowed(repository, changes) {
    const next = new Map(recorded);
    for (const [branch, id] of Object.entries(changes)) next.set(key(repository, branch), id);
    if (Object.keys(changes).every((branch) => !isAdmitted(branch))) return true;
    const after = world(next);
    if (!after) return false;
    // What waits for its finalizers cannot be described.
    for (const name of held) if (known.get(name)?.deleting && after.has(name)) return false;
    return true;
}

const is = (o) => JSON.stringify([o.repository, o.branch, o.path, o.text, o.body ?? '', Object.entries(o.labels).sort()]);

async function readServer() {
    const now = new Map();
    for (const where of [MAPS, PRODUCTS]) {
        for (const item of (await server.must('GET', where)).items) {
            if (!mark(item, 'repository')) continue;
            const { metadata } = item;
            now.set(`${item.kind ?? (where === MAPS ? 'ConfigMap' : 'Product')} ${metadata.name}`, {
                repository: mark(item, 'repository').split('/')[1], branch: mark(item, 'branch'),
                path: mark(item, 'path'), text: item.data?.x ?? item.spec.title, body: item.body ?? '',
                labels: metadata.labels ?? {}, uid: metadata.uid, generation: metadata.generation ?? 0,
                version: metadata.resourceVersion, deleting: Boolean(metadata.deletionTimestamp),
                commit: mark(item, 'commit'),
            });
        }
    }
    return now;
}

// The rules of versions, for one object before and after.
function checkVersions(name, old, now) {
    const what = `${name}: ${JSON.stringify(old)} became ${JSON.stringify(now)}`;
    if (!old || (old.deleting && !now.deleting)) {
        if (name.startsWith('Product') && now.generation !== 1) throw new Error(`a new object: ${what}`);
        if (old && old.uid === now.uid) throw new Error(`it came back as the same one: ${what}`);
        return;
    }
    if (old.uid !== now.uid) throw new Error(`another uid: ${what}`);
    const edited = old.text !== now.text || old.body !== now.body;
    if (name.startsWith('Product') && !now.deleting && now.generation !== old.generation + edited) {
        throw new Error(`generation: ${what}`);
    }
    const changed = is(old) !== is(now) || old.deleting !== now.deleting;
    if (changed !== (old.version !== now.version)) throw new Error(`resourceVersion: ${what}`);
    if (!changed && old.commit !== now.commit) throw new Error(`git-commit: ${what}`);
}

async function check() {
    const now = await readServer();
    const want = world(recorded);
    for (const [name, o] of now) {
        if (o.deleting) {
            if (!held.has(name) || want.has(name)) throw new Error(`${name} is being deleted`);
            continue;
        }
        if (!want.has(name)) throw new Error(`the server has ${name}: ${JSON.stringify(o)}`);
        equal(is(o), is(want.get(name)));
    }
    for (const name of want.keys()) if (!now.has(name)) throw new Error(`the server has no ${name}`);
    for (const [name, o] of now) checkVersions(name, known.get(name), o);
    known = now;
    for (const repository of REPOSITORIES) {
        const { status } = await server.readRepository(repository);
        const refs = await server.refs(repository);
        const text = (list) => JSON.stringify(list.filter(([, id]) => id).sort());
        const mine = [...recorded].filter(([where]) => where.startsWith(`${repository} `))
            .map(([where, id]) => [where.split(' ')[1], id]);
        equal(text(Object.entries(refs).filter(([ref]) => ref.startsWith('refs/heads/'))
            .map(([ref, id]) => [ref.slice(11), id])), text(mine));
        equal(text((status.branches ?? []).map(({ name, commit: id }) => [name, id])),
            text(mine.filter(([branch]) => isAdmitted(branch))));
        const owned = [...now.values()].filter((o) => o.repository === repository && !o.deleting).length;
        if ((status.resources ?? 0) < owned) throw new Error(`status.resources ${status.resources}, ${owned} objects`);
    }
}

/* ---- steps ---- */

async function send(repository, changes, more = []) {
    const specs = Object.entries(changes).map(([branch, id]) => `${id}:refs/heads/${branch}`);
    const done = await git(local, ['push', '--force', server.url(repository), ...specs, ...more]);
    const allowed = isAllowed(repository, changes);
    if ((done.code === 0) !== allowed) {
        throw new Error(`the model ${allowed ? 'admits' : 'refuses'} it, the server said: ${done.err}`);
    }
    if (!allowed && !/refused for \d+ error/.test(done.err)) throw new Error(`refused without a reason: ${done.err}`);
    for (const [branch, id] of Object.entries(changes)) {
        // Who is refused goes on from what the server has, or tries to mend it.
        if (allowed) recorded.set(key(repository, branch), id);
        if (allowed || random.chance(0.8)) local_.set(key(repository, branch), recorded.get(key(repository, branch)) ?? '');
        else local_.set(key(repository, branch), id);
    }
    return allowed ? 'admitted' : 'refused';
}

async function next(repository, branch) {
    const base = local_.get(key(repository, branch)) ?? '';
    const files = structuredClone(base ? commits.get(base).files : {});
    const kind = random.pick(['edit', 'edit', 'edit', 'edit', 'edit', 'merge', 'rewind', 'orphan', 'other']);
    const ids = [...commits.keys()];
    if (kind === 'rewind' && base && commits.get(base).parents.length) return commits.get(base).parents[0];
    if (kind === 'other' && ids.length && random.chance(0.5)) return random.pick(ids);
    const merged = kind === 'merge' && ids.length ? random.pick(ids) : '';
    if (merged) Object.assign(files, structuredClone(commits.get(merged).files));
    if (kind === 'orphan') for (const path of Object.keys(files)) if (random.chance(0.5)) delete files[path];
    for (let i = 1 + random.below(4); i > 0; i--) edit(files);
    return make(files, kind === 'orphan' ? [] : [base, merged && merged !== base ? merged : '']);
}

// Somebody puts a finalizer on an object, or takes them all away.
async function finalizers() {
    const there = [...known].filter(([, o]) => !o.deleting);
    const names = held.size ? [...held] : there.length ? [random.pick(there)[0]] : [];
    const list = held.size ? null : ['example.com/wait'];
    for (const name of names) {
        const [kind, short] = name.split(' ');
        if (!known.has(name)) {
            held.delete(name);
            continue;
        }
        await server.must('PATCH', `${kind === 'ConfigMap' ? MAPS : PRODUCTS}/${short}`,
            { metadata: { finalizers: list } }, { type: 'application/merge-patch+json' });
        if (list) held.add(name);
        else held.delete(name);
        await until(`${name} is gone`, async () => ![...await readServer()].some(([one, o]) => one === name
            && !list && o.deleting));
    }
    known = await readServer();
    return 'finalizers';
}

async function step() {
    const repository = random.pick(REPOSITORIES);
    const branch = random.pick(BRANCHES);
    const there = recorded.get(key(repository, branch));
    const kind = random.pick(['push', 'push', 'push', 'push', 'push', 'push', 'push', 'delete', 'rename', 'several',
        'tag', 'finalizers']);
    if (kind === 'delete' && there) return `delete ${await send(repository, { [branch]: '' })}`;
    if (kind === 'rename' && there) {
        const to = random.pick(BRANCHES);
        if (to === branch) return 'nothing';
        return `rename ${await send(repository, { [to]: there, [branch]: '' })}`;
    }
    if (kind === 'several') {
        const changes = {};
        for (const one of BRANCHES) if (random.chance(0.6)) changes[one] = await next(repository, one);
        if (Object.keys(changes).length) return `several ${await send(repository, changes)}`;
    }
    if (kind === 'tag' && commits.size) {
        const id = random.pick([...commits.keys()]);
        await gitMust(local, ['push', '-f', server.url(repository), `${id}:refs/tags/t${random.below(3)}`]);
        return 'tag';
    }
    if (kind === 'finalizers') return finalizers();
    return `push ${await send(repository, { [branch]: await next(repository, branch) })}`;
}

async function main() {
    console.log(`# seed ${seed}, ${steps} steps`);
    await server.start({ options: ['--log-level', 'warn'] });
    await server.openShop();
    await gitMust(folder, ['init', '-q', '--bare', local]);
    for (const name of REPOSITORIES) await server.repository(name, { branches: ['main', 'release/*'] });
    let at = 0;
    try {
        for (; at < steps; at++) {
            const result = await step();
            counts[result] = (counts[result] ?? 0) + 1;
            await check();
        }
        console.log(`# ${JSON.stringify(counts)}`);
        if (!(counts['push admitted'] > steps / 20)) throw new Error('hardly any push was admitted');
        console.log(`ok 1 - the server and the model agree after each of ${steps} steps`);
    } catch (error) {
        console.log(`not ok 1 - step ${at} of seed ${seed}: ${String(error.stack).replace(/\n/g, '\n# ')}`);
        process.exitCode = 1;
    }
    await server.kill();
    console.log('1..1');
    process.exit();
}

process.on('exit', () => { if (server.child) server.child.kill('SIGKILL'); });
main();
