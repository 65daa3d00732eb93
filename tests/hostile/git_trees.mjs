// Hostile repositories: what is in a push is meant to lead the server somewhere else, or to make it
// large or slow. Each push is refused in words or admitted; the server stays small, answers
// /readyz, and its refs are what the store records.
//
//   node git_trees.mjs VEDETTE FOLDER
//
// VEDETTE_HOSTILE=long makes the large ones as large as they are meant to be.
import crypto from 'node:crypto';
import fs from 'node:fs';
import { equal, finish, tap as tapOne } from '../clients/tap.mjs';
import {
    commit, git, gitMust, map, MAPS, REPOSITORIES, Server, sleep, until,
} from '../support/git_server.mjs';
import {
    history, idOf, multiply, pack, pushBody, raw, requestHead, said, tree, commitOf, ZERO,
} from './git_packs.mjs';

const [, , vedette, folder] = process.argv;
const long = process.env.VEDETTE_HOSTILE === 'long';
const sanitized = fs.readFileSync(vedette).includes('__asan_init') || fs.readFileSync(vedette).includes('__tsan_init');
const RESIDENT_KB = 300 * 1024;
const server = new Server(vedette, folder);
const local = `${folder}/local.git`;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

const tap = async (name, run) => {
    const start = Date.now();
    await tapOne(name, run);
    if (process.env.TIMES) console.log(`# ${Date.now() - start} ms`);
};

/* ---- the server beside it ---- */

const answers = []; // milliseconds that /readyz took
let watching = true;
async function askForReadiness() {
    while (watching) {
        const start = Date.now();
        const { status } = await server.call('GET', '/readyz', undefined, { timeout: 30_000 })
            .catch((error) => ({ status: error.message }));
        if (!watching) return;
        answers.push(status === 200 ? Date.now() - start : Infinity);
        await sleep(100);
    }
}

async function agrees(name = 'hostile') {
    const repository = await server.readRepository(name);
    const want = Object.fromEntries((repository.status.branches ?? []).filter((b) => b.commit)
        .map((b) => [`refs/heads/${b.name}`, b.commit]));
    const refs = await server.refs(name);
    for (const [ref, id] of Object.entries(want)) equal([ref, refs[ref]], [ref, id]);
    equal(server.files(/\.lock$/), []);
    if (fs.existsSync(`${folder}/pwned`)) throw new Error('something was run');
    if (!server.isUp) throw new Error('the server has died');
}

let files = { 'base.yaml': map('base') };
let head = '';

// What a push of these files says; `ok` and the lines. It may be refused or not.
async function push(more, { raw: exact = false } = {}) {
    const id = await commit(local, 'refs/heads/main', exact ? more : { ...files, ...more },
        head ? [head] : []);
    const done = await git(local, ['push', '--force', server.url('hostile'), `${id}:refs/heads/main`],
        { timeout: 300_000 });
    if (done.code === 0) head = id;
    if (CONTROL.test(done.err)) throw new Error(`control characters: ${JSON.stringify(done.err)}`);
    await agrees();
    return { ok: done.code === 0, text: done.err };
}

async function refused(more, pattern, options) {
    const { ok, text } = await push(more, options);
    if (ok || !pattern.test(text)) throw new Error(`${ok ? 'admitted' : 'refused'}: ${text}`);
}

async function taken(more, pattern = /admitted|no resources changed/, options) {
    const { ok, text } = await push(more, options);
    if (!ok || !pattern.test(text)) throw new Error(`${ok ? 'admitted' : 'refused'}: ${text}`);
}

const names = async () => (await server.must('GET', MAPS)).items.map((item) => item.metadata.name);

// A push of bytes; what is said of it.
async function pushBytes(commands, bytes, { name = 'hostile', fields = {}, token = server.admin, seconds, checks = true } = {}) {
    const body = pushBody(commands, bytes);
    const answer = await raw(server.port, Buffer.concat([
        requestHead('POST', `/shop/${name}.git/git-receive-pack`, token, {
            'content-type': 'application/x-git-receive-pack-request',
            'content-length': body.length,
            ...fields,
        }), body]), { seconds: seconds ?? 60 });
    if (checks) await agrees();
    return said(answer);
}

function mustSay(text, pattern) {
    if (!pattern.test(text)) throw new Error(`it said: ${text.slice(0, 2000)}`);
}

/* ---- trees ---- */

const odd = ['.git', '.GIT', 'git~1', '..', '.', '.git\u200c', 'a/b', '../x.yaml', ''];

async function oddTree(name) {
    const content = map('traversal');
    const inner = tree([['100644', 'x.yaml', idOf('blob', Buffer.from(content))]]);
    const root = tree([['40000', name, idOf('tree', inner)]]);
    const one = commitOf(idOf('tree', root), head ? [head] : []);
    const id = idOf('commit', one);
    const text = await pushBytes([[head || ZERO, id, 'refs/heads/main']], pack([
        { type: 'blob', content: Buffer.from(content) }, { type: 'tree', content: inner },
        { type: 'tree', content: root }, { type: 'commit', content: one }]));
    mustSay(text, /unpack |fsck error|ng refs\/heads\/main/);
    if ((await names()).includes('traversal')) throw new Error('it was admitted');
}

/* ---- bombs ---- */

const MIB = 1 << 20;

// A file that is small in the pack and large out of it.
async function zipBomb() {
    const { id, entries } = history([['100644', 'bomb.yaml', Buffer.alloc((long ? 600 : 64) * MIB)]],
        [head]);
    const text = await pushBytes([[head, id, 'refs/heads/main']], pack(entries), { seconds: 120 });
    mustSay(text, /bomb\.yaml.*(large|bytes)/);
}

// Deltas of deltas: 1 MiB, 64 MiB, 4 GiB.
async function deltaBomb() {
    const base = Buffer.alloc(MIB, 'a');
    const middle = Buffer.concat(Array(64).fill(base));
    const text = await pushBytes([[ZERO, '1'.repeat(40), 'refs/heads/delta']], pack([
        { type: 'blob', content: base },
        { type: 'delta', base: idOf('blob', base), content: multiply(MIB, 64) },
        { type: 'delta', base: idOf('blob', middle), content: multiply(64 * MIB, 64) },
    ]), { seconds: 120 });
    mustSay(text, /unpack |memory|ng |fatal/);
}

const laughs = () => {
    let text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: laughs}\nx0: &x0 [a,a,a,a,a,a,a,a,a,a]\n';
    for (let i = 1; i < 12; i++) text += `x${i}: &x${i} [${Array(10).fill(`*x${i - 1}`).join(',')}]\n`;
    return text;
};

/* ---- all of it ---- */

async function main() {
    if (!sanitized) server.limit = ['prlimit', `--as=${1536 * MIB}`];
    await server.start({ options: ['--log-level', 'warn'] });
    await server.openShop();
    await gitMust(folder, ['init', '-q', '--bare', local]);
    await server.repository('hostile', { branches: ['main', 'odd/*', '*'] });
    await server.repository('small', { limits: { packBytes: 1 << 20 } });
    const asking = askForReadiness();
    await tap('an honest push', () => taken({}));
    const before = server.residentKb();

    for (const name of odd) await tap(`a tree with the entry ${JSON.stringify(name)}`, () => oddTree(name));
    await tap('links that lead out of the tree are not followed', async () => {
        const link = (content) => ({ mode: '120000', content });
        await taken({
            'a.yaml': link('../../../../etc/passwd'), 'b.yaml': link('/proc/self/environ'),
            'c.yaml': link('.git/config'), folder: link('/etc'), '.vedette.yaml': link('base.yaml'),
        }, /a\.yaml.*warning/s).catch(async (error) => {
            if (!/\.vedette\.yaml/.test(error.message)) throw error; // this one may be refused
            await taken({ 'a.yaml': link('../../../../etc/passwd'), 'b.yaml': link('/proc/self/environ') },
                /a\.yaml.*warning/s);
        });
        await taken({});
    });
    await tap('a submodule is not followed', async () => {
        await taken({
            sub: { mode: '160000', content: '1'.repeat(40) },
            '.gitmodules': `[submodule "s"]\n\tpath = sub\n\turl = http://127.0.0.1:1/x\n`,
        });
        await refused({
            sub: { mode: '160000', content: '1'.repeat(40) },
            '.gitmodules': `[submodule "s"]\n\tpath = sub\n\turl = --upload-pack=touch ${folder}/pwned\n`,
        }, /gitmodules|fsck/);
        await taken({});
    });
    await tap('configuration in the tree is not read', async () => {
        await taken({
            config: `[core]\n\tfsmonitor = touch ${folder}/pwned\n\thooksPath = hooks\n`,
            '.gitconfig': `[alias]\n\tx = !touch ${folder}/pwned\n`,
            '.gitattributes': '* filter=evil diff=evil\n',
            'hooks/pre-receive': { mode: '100755', content: `#!/bin/sh\ntouch ${folder}/pwned\n` },
        });
        await taken({});
    });
    await tap('file names that look like something else', async () => {
        const list = ['--upload-pack=touch pwned.yaml', '-rf.yaml', '$(touch pwned).yaml',
            '`touch pwned`.yaml', 'a;touch pwned.yaml', 'a|b.yaml', ' leading.yaml', 'a\tb.yaml',
            'a\nb.yaml', '"quoted".yaml', "it's.yaml", 'back\\slash.yaml', 'ümläut.yaml', '%2e%2e.yaml',
            ':(glob)**.yaml', '*.yaml', '~.yaml', 'HEAD', 'refs/heads/main.yaml'];
        const all = Object.fromEntries(list.map((name, i) => [name, name === 'HEAD' ? 'x' : map(`odd-${i}`)]));
        await taken(all, /admitted 18 resources/);
        const got = (await server.must('GET', MAPS)).items
            .filter((item) => item.metadata.name.startsWith('odd-'))
            .map((item) => item.metadata.annotations['vedette.dev/git-path']);
        equal(got.sort(), list.filter((name) => name !== 'HEAD').sort());
        await taken({});
    });
    await tap('names in another encoding', async () => {
        const name = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x2e, 0x79, 0x61, 0x6d, 0x6c]);
        const { id, entries } = history([['100644', name, map('latin')]], [head]);
        const text = await pushBytes([[head, id, 'refs/heads/main']], pack(entries));
        let now = head;
        if (/ok refs\/heads\/main/.test(text)) {
            now = id;
            if (!(await names()).includes('latin')) throw new Error(text);
            const { items } = await server.must('GET', MAPS);
            if (!items.length) throw new Error('no list');
        } else mustSay(text, /caf/);
        const wrong = history([['100644', name, 'kind: [']]);
        mustSay(await pushBytes([[now, wrong.id, 'refs/heads/main']], pack(wrong.entries)), /caf.*yaml/);
        await taken({});
    });
    await tap('names with control characters do not reach the terminal', () => refused({
        'a\x1b]0;title\x07\x1b[31m.yaml': 'kind: [', 'b\rremote: admitted.yaml': 'kind: [',
        'nl\nremote: admitted 5 resources.yaml': 'kind: [',
    }, /refused for 3 errors/));
    await tap('nor do values', () => refused({
        'a.yaml': 'apiVersion: v1\nkind: "Config\\e[31mMap"\nmetadata: {name: "x\\e]0;t\\a"}\n"k\\e[2J": 1\n',
    }, /a\.yaml:/));
    await tap('case twins', async () => {
        await taken({ 'A.yaml': map('upper'), 'a.yaml': map('lower') }, /admitted 2 resources/);
        await refused({ 'A.yaml': map('upper'), 'a.yaml': map('upper') }, /describes the same object/);
        await taken({});
    });
    await tap('CRLF, a BOM, UTF-16 and bytes that are no text', async () => {
        await taken({ 'crlf.yaml': map('crlf').replaceAll('\n', '\r\n'), 'bom.yaml': `\ufeff${map('bom')}` });
        equal((await names()).filter((name) => /crlf|bom/.test(name)).sort(), ['bom', 'crlf']);
        await refused({ 'nul.yaml': Buffer.from('apiVersion: v1\0\nkind: ConfigMap\n') }, /nul\.yaml/);
        await refused({ 'bad.yaml': Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe, 0x0a]) }, /bad\.yaml/);
        const wide = await push({ 'wide.yaml': Buffer.from(`\ufeff${map('wide')}`, 'utf16le') });
        mustSay(wide.text, /wide\.yaml|admitted/);
        await taken({});
    });
    await tap('YAML that grows', async () => {
        await refused({ 'laughs.yaml': laughs() }, /laughs\.yaml/);
        await refused({ 'deep.yaml': '['.repeat(200_000) }, /deep\.yaml/);
        await refused({ 'deep.json': `{"a":${'['.repeat(200_000)}` }, /deep\.json/);
        await refused({ 'keys.yaml': `${map('keys')}${Array.from({ length: 50_000 }, (_, i) => `  k${i}: 1\n`).join('')}` },
            /keys\.yaml/);
        const documents = `---\n${map('many')}`.repeat(20_000);
        await refused({ 'documents.yaml': documents }, /documents\.yaml/);
    });
    await tap('a manifest of 10 MB', () => refused({ 'large.yaml': `${map('large')}  y: "${'a'.repeat(10e6)}"\n` },
        /large\.yaml/));
    await tap('another file of 10 MB is kept', () => taken({ 'large.bin': Buffer.alloc(10e6, 'a') }));
    await tap('a thousand levels of folders', async () => {
        await taken({ [`${'a/'.repeat(1000)}x.yaml`]: map('deep') }, /admitted 1 resource/);
        const { ok, text } = await push({ [`${'abcde/'.repeat(1000)}x.yaml`]: map('deeper') });
        if (ok || !/4096|long/.test(text)) throw new Error(text.slice(-2000));
        await taken({});
    });
    await tap('very many files', async () => {
        const many = (n, ending, content) => Object.fromEntries(Array.from({ length: n },
            (_, i) => [`${i % 100}/${i}.${ending}`, content(i)]));
        await taken(many(long ? 100_000 : 3000, 'txt', () => 'x'));
        await refused(many(long ? 100_000 : 20_001, 'yaml', () => 'x: 1\n'), /more than 20000 files/);
        await taken({});
    });
    await tap('a file that is large out of its pack', zipBomb);
    await tap('deltas of deltas', deltaBomb);
    await tap('a pack that is too large is refused early', async () => {
        const { id, entries } = history([['100644', 'x', crypto.randomBytes(3 * MIB)]]);
        mustSay(await pushBytes([[ZERO, id, 'refs/heads/main']], pack(entries), { name: 'small' }),
            /large|limit|exceed|maximum/i);
    });

    /* refs */
    await tap('refs with odd names', async () => {
        const good = ['refs/heads/a;b', 'refs/heads/$(x)', 'refs/heads/ünï', `refs/heads/${'n'.repeat(200)}`, 'refs/tags/--x'];
        const bad = ['HEAD', 'refs/heads/../../config', 'refs/heads/x.lock', 'refs/heads/a..b', 'refs/notes/x',
            'refs/heads/', 'refs/heads/a\x01b', 'refs/heads/a b', 'refs/stash', 'config', '../config',
            'refs/heads/@{', 'refs/heads/--upload-pack=touch', 'refs/heads/-x', 'refs/heads/HEAD',
            `refs/heads/${'n'.repeat(201)}`, `refs/heads/${'n'.repeat(5000)}`, 'refs/replace/x', 'refs/keep-around/x'];
        const empty = history([['100644', 'x.txt', 'x']]);
        for (const ref of [...good, ...bad]) {
            const text = await pushBytes([[ZERO, empty.id, ref]], pack(empty.entries), { checks: false });
            const isOk = text.includes(`ok ${Buffer.from(ref).toString('latin1')}\n`);
            if (bad.includes(ref) && isOk) throw new Error(`${ref}: ${text}`);
            if (good.includes(ref) && !isOk) throw new Error(`${ref}: ${text}`);
        }
        mustSay(await pushBytes(good.map((ref) => [empty.id, ZERO, ref])), /ok refs/);
    });
    await tap('refs that exclude each other', async () => {
        const one = history([['100644', 'one.yaml', map('df-one')]]);
        const two = history([['100644', 'two.yaml', map('df-two')]]);
        const bytes = pack([...one.entries, ...two.entries]);
        mustSay(await pushBytes([[ZERO, one.id, 'refs/heads/odd/x'], [ZERO, two.id, 'refs/heads/odd/x/y']], bytes), /ng /);
        mustSay(await pushBytes([[ZERO, one.id, 'refs/heads/odd/x'], [ZERO, two.id, 'refs/heads/odd/x']], bytes), /ng /);
        if ((await names()).some((name) => name.startsWith('df-'))) throw new Error('a part was admitted');
        mustSay(await pushBytes([[ZERO, one.id, 'refs/heads/odd/x']], bytes), /ok refs/);
        mustSay(await pushBytes([[ZERO, two.id, 'refs/heads/odd/x/y']], bytes), /ng /);
        mustSay(await pushBytes([[one.id, ZERO, 'refs/heads/odd/x']]), /ok refs/);
        if ((await names()).some((name) => name.startsWith('df-'))) throw new Error('objects are left');
    });
    await tap('branches of what is no commit', async () => {
        const { id, entries } = history([['100644', 'x.yaml', map('no-commit')]]);
        const tag = Buffer.from(`object ${id}\ntype commit\ntag t\ntagger A <a@b> 1700000000 +0000\n\nt\n`);
        const bytes = pack([...entries, { type: 'tag', content: tag }]);
        for (const one of [idOf('tag', tag), idOf('tree', entries[1].content), idOf('blob', entries[0].content)]) {
            mustSay(await pushBytes([[ZERO, one, 'refs/heads/odd/what']], bytes), /ng |unpack /);
        }
        mustSay(await pushBytes([[ZERO, '2'.repeat(40), 'refs/heads/odd/what']], bytes), /ng |unpack /);
        if ((await names()).includes('no-commit')) throw new Error('it was admitted');
    });
    await tap('a history with holes', async () => {
        const { id, entries } = history([['100644', 'x.yaml', map('holes')]], ['3'.repeat(40)]);
        mustSay(await pushBytes([[ZERO, id, 'refs/heads/odd/holes']], pack(entries)), /ng |unpack /);
        const without = entries.slice(1);
        mustSay(await pushBytes([[ZERO, id, 'refs/heads/odd/holes']], pack(without)), /ng |unpack /);
        if ((await names()).includes('holes')) throw new Error('it was admitted');
    });
    await tap('old values that lie', async () => {
        const { id, entries } = history([['100644', 'x.yaml', map('lies')]]);
        for (const old of [ZERO, '4'.repeat(40), id]) {
            mustSay(await pushBytes([[old, id, 'refs/heads/main']], pack(entries)), /ng |declined|fetch first/);
        }
        if ((await names()).includes('lies')) throw new Error('it was admitted');
    });
    await tap('ten thousand refs, and one more', async () => {
        const { id, entries } = history([['100644', 'x.txt', 'x']]);
        const refs = Array.from({ length: 10_001 }, (_, i) => [ZERO, id, `refs/tags/t${i}`]);
        mustSay(await pushBytes(refs, pack(entries)), /too many refs|ng /);
    });

    await tap('the server stays small', () => {
        const after = server.residentKb();
        console.log(`# resident: ${before} kB before, at most ${after} kB`);
        if (!sanitized && after > RESIDENT_KB) throw new Error(`${after} kB`);
    });
    watching = false;
    await asking;
    await tap('/readyz was answered all the time', () => {
        const sorted = [...answers].sort((a, b) => a - b);
        const late = answers.filter((ms) => ms > 1000).length;
        console.log(`# ${answers.length} answers, the slowest in ${sorted.at(-1)} ms, ${late} above a second`);
        if (late > answers.length / 50 || sorted.at(-1) === Infinity) throw new Error(`${late} late`);
    });
    await tap('no process and no quarantine is left', () => until('nothing is left', () => {
        const left = [...server.children(), ...server.files(/^(tmp_objdir|incoming)-/)];
        if (left.length) throw new Error(left.join(' '));
        return true;
    }));
    await tap('an honest push works as before', () => taken({ 'last.yaml': map('last') }, /admitted 1/));
    await tap('the server stops in order', async () => equal((await server.stop()).code, 0));
    finish();
}

process.on('exit', () => { if (server.child) server.child.kill('SIGKILL'); });
main().catch((error) => {
    console.log(`not ok - ${error.stack}`);
    process.exit(1);
});
