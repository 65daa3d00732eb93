// For tests of pushes that are programs: a server of their own in a folder of their own, its API,
// and a git client that knows no settings of this machine.
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Waits until `test` gives something; what it throws last is told when it never does.
export async function until(what, test, seconds = 60) {
    const deadline = Date.now() + seconds * 1000;
    let last = '';
    for (;;) {
        try {
            const got = await test();
            if (got) return got;
        } catch (error) {
            last = `: ${error.message}`;
        }
        if (Date.now() > deadline) throw new Error(`never: ${what}${last}`);
        await sleep(20);
    }
}

// A generator of numbers that can be had again from its seed (mulberry32).
export class Random {
    constructor(seed) {
        this.state = seed >>> 0;
    }

    next() {
        this.state = (this.state + 0x6d2b79f5) >>> 0;
        let t = this.state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    }

    below(n) {
        return Math.floor(this.next() * n);
    }

    chance(p) {
        return this.next() < p;
    }

    pick(list) {
        return list[this.below(list.length)];
    }
}

const gitEnvironment = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ann',
    GIT_AUTHOR_EMAIL: 'ann@example.com',
    GIT_COMMITTER_NAME: 'Ann',
    GIT_COMMITTER_EMAIL: 'ann@example.com',
};

// git ARGUMENTS...: never throws for what git says; {code, out, err}, `out` as a Buffer if asked.
export function git(folder, args, { input, timeout = 120_000, env = {}, binary = false } = {}) {
    return new Promise((resolve) => {
        const child = execFile('git', ['-C', folder, ...args], {
            env: { ...gitEnvironment, ...env },
            encoding: 'buffer',
            maxBuffer: 1 << 28,
            timeout,
            killSignal: 'SIGKILL',
        }, (error, out, err) => resolve({
            code: error ? (error.code ?? 128) : 0,
            out: binary ? out : String(out),
            err: String(err),
        }));
        child.stdin.on('error', () => {});
        child.stdin.end(input);
    });
}

// The same, of what must succeed; its output.
export async function gitMust(folder, args, options) {
    const done = await git(folder, args, options);
    if (done.code) throw new Error(`git ${args.join(' ')}: ${done.code}: ${done.err}${done.out}`);
    return done.out;
}

// The path as git's fast-import wants it.
const quoted = (name) => `"${name.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;

// commit FOLDER REF FILES PARENTS: a commit of exactly these files (path -> text or Buffer, or
// {mode, content}), at `ref` of a local repository; its id.
export async function commit(folder, ref, files, parents = [], message = 'a change') {
    const parts = [];
    const data = (content) => {
        const bytes = Buffer.from(content);
        parts.push(Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n'));
    };
    const line = (text) => parts.push(Buffer.from(`${text}\n`));
    line(`reset ${ref}\n`);
    line(`commit ${ref}`);
    line(`committer Ann <ann@example.com> ${Math.floor(Date.now() / 1000)} +0000`);
    data(message);
    parents.forEach((parent, i) => line(`${i ? 'merge' : 'from'} ${parent}`));
    line('deleteall');
    for (const [name, file] of Object.entries(files)) {
        const { mode = '100644', content = file } = file?.mode ? file : {};
        if (mode === '160000') {
            line(`M 160000 ${content} ${quoted(name)}`);
            continue;
        }
        line(`M ${mode} inline ${quoted(name)}`);
        data(content);
    }
    line('done');
    await gitMust(folder, ['fast-import', '--quiet', '--force', '--done'], {
        input: Buffer.concat(parts),
    });
    return (await gitMust(folder, ['rev-parse', ref])).trim();
}

export class Server {
    constructor(vedette, folder) {
        this.vedette = vedette;
        this.folder = folder;
        this.door = null;
        this.child = null;
        this.limit = []; // what is put before the command: prlimit
    }

    async start({ failpoint, options = [] } = {}) {
        const env = { ...process.env, HOME: this.folder };
        delete env.VEDETTE_FAILPOINT;
        if (failpoint) env.VEDETTE_FAILPOINT = failpoint;
        const command = [...this.limit, this.vedette, 'serve', '--data', `${this.folder}/data`,
            '--listen', this.door ?? '127.0.0.1:0', '--tls-listen', 'off', ...options];
        const log = fs.openSync(`${this.folder}/err`, 'a');
        const child = spawn(command[0], command.slice(1), {
            env, cwd: this.folder, stdio: ['ignore', 'pipe', log],
        });
        fs.closeSync(log);
        this.child = child;
        this.exit = new Promise((resolve) => child.on('exit', (code, signal) => {
            if (this.child === child) this.child = null;
            resolve({ code, signal });
        }));
        let out = '';
        child.stdout.on('data', (bytes) => { out += bytes; });
        await until('the server is ready', () => {
            if (out.includes('ready ')) return true;
            return !this.child;
        });
        const found = /http:\/\/([^ \n]*)/.exec(out);
        if (!found) return false; // a failpoint was sooner
        this.door = found[1];
        this.port = Number(this.door.split(':').pop());
        return true;
    }

    get pid() {
        return this.child?.pid;
    }

    get isUp() {
        return this.child !== null;
    }

    async kill() {
        if (this.child) this.child.kill('SIGKILL');
        await this.exit;
    }

    async stop() {
        this.child.kill('SIGTERM');
        return this.exit;
    }

    token(user, groups) {
        return new Promise((resolve, reject) => {
            execFile(this.vedette, ['token', 'create', '--data', `${this.folder}/data`, '--user',
                user, ...(groups ? ['--groups', groups] : [])], (error, out) => (error
                ? reject(error) : resolve(out.trim())));
        });
    }

    async openShop() {
        this.admin = await this.token('ann', 'system:masters');
        await this.must('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    }

    // {status, body, headers}; the body is JSON where it can be.
    call(method, where, body, { token = this.admin, timeout = 60_000, type, headers = {} } = {}) {
        return new Promise((resolve, reject) => {
            const asked = http.request({
                host: '127.0.0.1', port: this.port, method, path: where, timeout,
                headers: {
                    ...(token ? { authorization: `Bearer ${token}` } : {}),
                    'content-type': type ?? 'application/json',
                    ...headers,
                },
            }, (answer) => {
                const pieces = [];
                answer.on('data', (piece) => pieces.push(piece));
                answer.on('error', reject);
                answer.on('end', () => {
                    const text = Buffer.concat(pieces).toString();
                    let parsed = text;
                    try {
                        parsed = JSON.parse(text);
                    } catch { /* it is text */ }
                    resolve({ status: answer.statusCode, body: parsed, headers: answer.headers });
                });
            });
            asked.on('error', reject);
            asked.on('timeout', () => asked.destroy(new Error(`no answer: ${method} ${where}`)));
            asked.end(body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
                ? body : JSON.stringify(body));
        });
    }

    async must(...all) {
        const answer = await this.call(...all);
        if (answer.status >= 300) {
            throw new Error(`${all[0]} ${all[1]}: ${answer.status} ${JSON.stringify(answer.body)}`);
        }
        return answer.body;
    }

    async repository(name, spec = {}, namespace = 'shop') {
        await this.must('POST', `/apis/git.vedette.dev/v1/namespaces/${namespace}/repositories`, {
            apiVersion: 'git.vedette.dev/v1', kind: 'Repository', metadata: { name }, spec,
        });
        return until(`repository ${name} is ready`, async () => {
            const r = await this.readRepository(name, namespace);
            return r.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') && r;
        });
    }

    readRepository(name, namespace = 'shop') {
        return this.must('GET', `/apis/git.vedette.dev/v1/namespaces/${namespace}/repositories/${name}`);
    }

    url(name, token = this.admin, namespace = 'shop') {
        const user = token ? `x:${token}@` : '';
        return `http://${user}${this.door}/${namespace}/${name}.git`;
    }

    // What the server's refs are: name -> commit; null if it does not answer.
    async refs(name) {
        const said = await git('/', ['ls-remote', this.url(name)], { timeout: 30_000 });
        if (said.code) return null;
        return Object.fromEntries(said.out.trim().split('\n').filter(Boolean)
            .map((line) => line.split('\t').reverse()));
    }

    // Events of a resource from a version on; stops when the connection ends. `each` gets {type,
    // object}. Gives a function that ends it.
    watch(where, each, version) {
        const asked = http.request({
            host: '127.0.0.1', port: this.port,
            path: `${where}?watch=1&resourceVersion=${version}&allowWatchBookmarks=true`,
            headers: { authorization: `Bearer ${this.admin}` },
        }, (answer) => {
            let rest = '';
            answer.setEncoding('utf8');
            answer.on('error', () => {});
            answer.on('data', (piece) => {
                const lines = (rest + piece).split('\n');
                rest = lines.pop();
                for (const line of lines) if (line) each(JSON.parse(line));
            });
        });
        asked.on('error', () => {});
        asked.end();
        return () => asked.destroy();
    }

    residentKb(field = 'VmHWM') {
        const text = fs.readFileSync(`/proc/${this.pid}/status`, 'utf8');
        return Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(text)[1]);
    }

    // The processes that the server has started, and theirs.
    children(of = this.pid) {
        const found = [];
        let tasks = [];
        try {
            tasks = fs.readdirSync(`/proc/${of}/task`);
        } catch { /* it is gone */ }
        for (const task of tasks) {
            let list = '';
            try {
                list = fs.readFileSync(`/proc/${of}/task/${task}/children`, 'utf8');
            } catch { /* likewise */ }
            for (const child of list.split(' ').filter(Boolean).map(Number)) {
                found.push(child, ...this.children(child));
            }
        }
        return found;
    }

    // Files below the data folder whose name matches.
    files(pattern) {
        const found = [];
        const walk = (folder) => {
            let entries = [];
            try {
                entries = fs.readdirSync(folder, { withFileTypes: true });
            } catch { /* it is gone */ }
            for (const entry of entries) {
                const where = path.join(folder, entry.name);
                if (pattern.test(entry.name)) found.push(where);
                if (entry.isDirectory()) walk(where);
            }
        };
        walk(`${this.folder}/data/git`);
        return found;
    }
}

// A ConfigMap's manifest.
export const map = (name, text = '1', labels = {}) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  labels: ${JSON.stringify(labels)}
data:
  x: ${JSON.stringify(text)}
`;

export const product = (name, title, more = '') => `apiVersion: catalog.gitstore.dev/v1beta1
kind: Product
metadata:
  name: ${name}
spec:
  title: ${JSON.stringify(title)}
${more}`;

export const MAPS = '/api/v1/namespaces/shop/configmaps';
export const PRODUCTS = '/apis/catalog.gitstore.dev/v1beta1/namespaces/shop/products';
export const REPOSITORIES = '/apis/git.vedette.dev/v1/namespaces/shop/repositories';
export const mark = (object, name) => object.metadata.annotations?.[`vedette.dev/git-${name}`];
