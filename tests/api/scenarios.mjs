// The scenarios of Kubernetes' own storage tests (k8s.io/apiserver/pkg/storage/testing), by their
// names, asked over REST. Prints TAP.
//
//   node scenarios.mjs PORT PKI_DIR NAMES...
//
// NAMES are those of the tables in scenarios_*.mjs: `watch`, `store`, `compacted`.
import fs from 'node:fs';
import { Api, Space } from './rest.mjs';

const [port, pki, ...tables] = process.argv.slice(2);
const file = (name) => fs.readFileSync(`${pki}/${name}`);
const files = { ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') };
const api = new Api({ port: Number(port), tls: files });

let count = 0;
let failed = 0;
async function play(table, name, run) {
    const number = ++count;
    try {
        await run(api, await Space.make(api, `${table}-${number}`));
        console.log(`ok ${number} - ${name}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${number} - ${name}`);
        console.log(String(error.stack).slice(0, 3000).replace(/^/gm, '# '));
    }
}

const later = []; // those that wait for the server's time: they are played at the same time
for (const table of tables) {
    const { scenarios, waiting = [] } = await import(`./scenarios_${table}.mjs`);
    for (const [name, run] of Object.entries(scenarios)) {
        if (waiting.includes(name)) {
            later.push([table, name, run]);
            continue;
        }
        await play(table, name, run);
        api.closeStreams();
    }
}
await Promise.all(later.map((scenario) => play(...scenario)));
console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
