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
for (const table of tables) {
    const { scenarios } = await import(`./scenarios_${table}.mjs`);
    for (const [name, run] of Object.entries(scenarios)) {
        count++;
        const spaceName = `${table}-${count}`;
        try {
            await run(api, await Space.make(api, spaceName));
            console.log(`ok ${count} - ${name}`);
        } catch (error) {
            failed++;
            console.log(`not ok ${count} - ${name}`);
            console.log(String(error.stack).slice(0, 3000).replace(/^/gm, '# '));
        }
        api.closeStreams();
    }
}
console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
