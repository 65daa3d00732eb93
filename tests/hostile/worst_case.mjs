// The worst case of the whole process, as docs/limits.md states it: the same terms, from the
// limits of src/base/limits.h and the configuration that the server runs with.
import fs from 'node:fs';

const KIB = 1024;
const MIB = 1024 * KIB;

// {VD_NAME: number}
export function readLimits(path) {
    const lines = fs.readFileSync(path, 'utf8').matchAll(/X\((VD_[A-Z0-9_]+),\s*([0-9]+),/g);
    return Object.fromEntries([...lines].map(([, name, value]) => [name, Number(value)]));
}

const units = { B: 1, KiB: KIB, MiB: MIB, GiB: 1024 * MIB };
const sizeOf = (text) => {
    const [, number, unit] = /^([0-9]+)([KMG]iB|B)?$/.exec(text);
    return Number(number) * units[unit ?? 'B'];
};

// {name: text} of what `vedette config print` says, as "limits.requests".
export function readConfig(text) {
    const config = {};
    let group = '';
    for (const line of text.split('\n')) {
        const [, indent, name, value] = /^( *)([a-z0-9-]+): *([^#]*)/.exec(line) ?? [];
        if (!name) continue;
        if (!indent) group = '';
        if (value.trim() === '') group = `${name}.`;
        else config[(indent ? group : '') + name] = value.trim().replaceAll('"', '');
    }
    return config;
}

// What Git takes beside all else, in the same form. `git` is false where there are no
// repositories, 'read' where the hostile users may clone, 'push' where they may push.
export function gitTerms(limits, { git = false, users = Infinity }) {
    const reads = git ? 1 : 0;
    const pushes = git === 'push' ? 1 : 0;
    const of = (all, one) => reads * Math.min(limits[all], users * limits[one]);
    const processes = of('VD_GIT_PROCESSES_MAX', 'VD_GIT_USER_PROCESSES_MAX');
    return [
        ['git transfers: what waits for git and for the client, and what unpacks a body',
            processes * (2 * limits.VD_HTTP_BODY_BUFFER_LEN + limits.VD_PROCESS_BACKLOG_MAX
                + limits.VD_GIT_BACKLOG_LEN_MAX + 128 * KIB), 'git'],
        ['requests that wait for a git process, 16 KiB each',
            of('VD_GIT_WAITING_MAX', 'VD_GIT_USER_WAITING_MAX') * 16 * KIB, 'git'],
        ['hook channels of git pushes: names of refs, and the answers',
            pushes * (processes + limits.VD_PUSHES_MAX)
                * (6 * limits.VD_PUSH_COMMANDS_LEN_MAX + 4 * limits.VD_GIT_REPORT_LEN_MAX), 'hook'],
        ['manifests of git pushes: those that wait, and twice more those that are parsed or written',
            pushes * (2 * limits.VD_PUSHES_MEMORY_MAX + 2 * limits.VD_PUSH_MEMORY_MAX), 'push'],
        ['fetches of followers: credentials, and what git says',
            reads * limits.VD_GIT_FETCHES_MAX * (10 * limits.VD_GIT_CREDENTIAL_LEN_MAX + 64 * KIB), 'follow'],
        ['calls of webhooks that are remembered, 64 bytes each', limits.VD_GIT_WEBHOOKS_KEPT * 64],
    ];
}

// The terms, in bytes: [what, bytes, use], where `use` says what only some attacks can make use
// of. `stored`: bytes of the objects; `objects`: how many;
// `git`: as above; `descriptors`: RLIMIT_NOFILE; `users`: ordinary users who are hostile, Infinity for any number.
export function terms(limits, config, { stored, objects, descriptors, loops, users = Infinity, largest, git }) {
    const total = (name) => sizeOf(config[`limits.${name}`]);
    const number = (name) => Number(config[`limits.${name}`]);
    const of = (name, read) => Math.min(read(name), users * read(`user-${name}`));
    const workers = limits.VD_WORK_LOOP_MAX;
    const object = largest ?? limits.VD_BODY_LEN_MAX;
    return [
        ['code, libraries, threads and the slack of the allocator', 64 * MIB],
        ['objects, and 2 KiB of index for each', stored + objects * 2 * KIB],
        ['a list of everything that each loop is making', loops * 2 * stored, 'list'],
        ['tail.bytes, and 256 bytes for each of tail.events', sizeOf(config['tail.bytes']) +
            Math.min(Number(config['tail.events']), 1000 * objects) * 256],
        ['one and a half times limits.queued-bytes; twice, of one user',
            Math.min(1.5 * total('queued-bytes'), users * 2 * total('user-queued-bytes'))],
        ['twice limits.body-bytes: buffers grow by doubling', 2 * of('body-bytes', total), 'body'],
        ['objects in work: each loop and worker, 16 times the largest', (loops + workers) * 16 * object, 'work'],
        ['CEL: each loop and worker', (loops + workers) * limits.VD_CEL_MEMORY_MAX, 'rules'],
        ['a group of writes, and what it replaces', 2 * limits.VD_GROUP_BYTES_MAX],
        ['requests in flight: what is read ahead, and what nothing is reserved for',
            of('requests', number) * (limits.VD_HTTP_AHEAD_LEN_MAX + limits.VD_HTTP_BODY_FREE_LEN)],
        ['watches, 8 KiB each', of('watches', number) * 8 * KIB],
        ['connections: 48 KiB for each descriptor', descriptors * 48 * KIB],
        ['requests of strangers', limits.VD_HTTP_STRANGERS_LEN_MAX, 'strangers'],
        ['log lines that wait', limits.VD_LOG_QUEUE_MAX * limits.VD_LOG_LINE_MAX, 'log'],
        ['audit events that wait', config['audit-log'] ? limits.VD_AUDIT_QUEUE_LEN_MAX : 0],
        ...gitTerms(limits, { git, users }),
    ];
}

export const sum = (list) => list.reduce((all, [, bytes]) => all + bytes, 0);
