// Hostile clients beside an honest one: whatever they do, the server's memory stays below the sum
// that docs/limits.md states, and the honest one is served.
//
//   node memory.mjs FOLDER HTTP HTTPS PID TOP CONFIG CONNECTIONS PATTERN
//
// TOP is the source's folder; CONFIG is what `vedette config print` says of the server; an attack
// is CONNECTIONS strong, or some times that; PATTERN picks attacks.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import {
    bindCrew, clientOf, configMap, isSanitized, maps, must, residentMb, root,
} from '../api/fair_setting.mjs';
import { tap, tapEnd, untilTrue } from '../api/tap.mjs';
import { attacks, olderThings, usesOf } from './attacks.mjs';
import { closeAll } from './clients.mjs';
import { readConfig, readLimits, sum, terms } from './worst_case.mjs';

const [, , , , , pid, top, configFile, connections, pattern] = process.argv;
const OBJECTS = 20;
const OBJECT_LEN = 1_000_000;
const THINGS = 8; // of a custom kind
const DESCRIPTORS = 3000;
const ADDRESSES = 1 << 30; // what is reserved and not used: stacks, arenas, maps of files
const MIB = 1 << 20;

const sanitized = isSanitized();
const config = readConfig(fs.readFileSync(configFile, 'utf8'));
const stored = (OBJECTS + THINGS) * OBJECT_LEN;
const setting = { stored, objects: OBJECTS, descriptors: DESCRIPTORS, loops: Number(config.threads) };
const limits = readLimits(`${top}/src/base/limits.h`);
const whole = sum(terms(limits, config, setting));
const largest = OBJECT_LEN;
// A sanitizer keeps what is freed, and a shadow of everything.
const slack = (bytes) => (bytes / MIB) * (sanitized ? 3 : 1) + (sanitized ? 1000 : 0);
// What one hostile user may make of it, who does this and nothing else.
function boundOf(name) {
    const used = usesOf(name);
    const all = terms(limits, config, { ...setting, users: 1, largest, descriptors: 1000 });
    return slack(sum(all.filter(([, , use]) => !use || used.includes(use))));
}
for (const [what, bytes] of terms(limits, config, setting))
    console.log(`# ${(bytes / MIB).toFixed(0).padStart(5)} MiB ${what}`);
console.log(`# ${(whole / MIB).toFixed(0).padStart(5)} MiB in all`);

// ---- the setting ----

execFileSync('prlimit', ['--pid', pid, `--nofile=${DESCRIPTORS}:${DESCRIPTORS}`]);
if (!sanitized) execFileSync('prlimit', ['--pid', pid, `--as=${whole + ADDRESSES}`]);
await bindCrew();
for (let i = 0; i < OBJECTS; i++)
    await must(root, 201, 'POST', maps, configMap(`large-${i}`, 'x'.repeat(OBJECT_LEN - 1000)));
await must(root, 201, 'POST', maps, configMap('small', 'x'));
for (const [method, path, body, status] of olderThings(THINGS, OBJECT_LEN))
    await must(root, status, method, path, body);
const { json } = await must(root, 200, 'GET', `${maps}?limit=1`);
const revision = Math.max(1, Number(json.metadata.resourceVersion) - OBJECTS);

const peakMb = () => {
    const line = fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmHWM:\s+([0-9]+) kB/);
    return Number(line[1]) / 1024;
};
const forgetPeak = () => fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');

// ---- the honest one ----

const bob = clientOf('bob');
const patience_ms = sanitized ? 20_000 : 5_000;

// Reads and writes once, and has an administrator look; the problems.
async function isServed() {
    const start = performance.now();
    const problems = [];
    const asks = [
        [bob, 'GET', `${maps}/small`, undefined],
        [bob, 'PUT', `${maps}/small`, configMap('small', String(start))],
        [root, 'GET', '/debug/usage', undefined],
    ];
    for (const [client, method, path, body] of asks) {
        const late = new Promise((resolve) => setTimeout(resolve, patience_ms, { status: 'no answer' }));
        const { status } = await Promise.race([
            client.ask(method, path, body).catch((error) => ({ status: error.message })),
            late,
        ]);
        const who = client === bob ? 'another user' : 'an administrator';
        if (status !== 200) problems.push(`${method} ${path} by ${who}: ${status}`);
    }
    return problems;
}

// Whether memory has not grown for a while.
async function settle(mb_max) {
    let last = 0;
    let since = Date.now();
    await untilTrue(() => {
        const now = residentMb();
        if (now > last + 1) since = Date.now();
        last = Math.max(last, now);
        return Date.now() - since > 100 || now > mb_max;
    }, 5);
}

// ---- the document ----

const document = fs.readFileSync(`${top}/docs/limits.md`, 'utf8');
const unsaid = terms(limits, config, setting).filter(([what]) => !document.includes(`| ${what} |`));
tap(
    'docs/limits.md states every term of the worst case',
    unsaid.map(([what]) => what),
);

// ---- the attacks ----

async function attack(name, act) {
    const mb_max = boundOf(name);
    const start = Date.now();
    forgetPeak();
    act(Number(connections), { revision });
    const problems = await isServed();
    await settle(mb_max);
    problems.push(...(await isServed()));
    const peak = peakMb();
    closeAll();
    if (peak > mb_max) problems.push(`${peak.toFixed(0)} MiB, more than ${mb_max.toFixed(0)}`);
    let use;
    const isOver = async () => {
        const answer = await root.ask('GET', '/debug/usage');
        if (answer.status !== 200) return false;
        use = answer.json.users.find(({ user }) => user === 'ann');
        return !use || (use.requests === 0 && use.watches === 0 && use.queuedBytes === 0);
    };
    if (!(await untilTrue(isOver, sanitized ? 60 : 20)))
        problems.push(`is not over: ${JSON.stringify(use)}`);
    const seconds = ((Date.now() - start) / 1000).toFixed(1);
    console.log(`# ${peak.toFixed(0)} of ${mb_max.toFixed(0)} MiB, ${seconds} s: ${name}`);
    tap(`${name}: memory is bounded, and another user is served`, problems);
}

for (const [name, act] of Object.entries(attacks)) {
    if (!new RegExp(pattern).test(name)) continue;
    try {
        await attack(name, act);
    } catch (error) {
        tap(name, [`the server is gone: ${error.message}`]);
        break;
    }
}
tapEnd();
