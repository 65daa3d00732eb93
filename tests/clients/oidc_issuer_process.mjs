// A small issuer (tests/api/oidc_issuer.mjs) as a process of its own: writes the file of issuers for
// `vedette serve` and two tokens, and serves its keys until it is killed.
//
//     node oidc_issuer_process.mjs FOLDER
import fs from 'node:fs';
import { Issuer, Key, configuration } from '../api/oidc_issuer.mjs';

const [folder] = process.argv.slice(2);
const key = new Key('RS256', 'one');
const issuer = await new Issuer([key]).listen();
fs.writeFileSync(`${folder}/issuers.json`, configuration([[issuer.url]]));
fs.writeFileSync(`${folder}/good.token`, key.sign(issuer.claims()));
fs.writeFileSync(`${folder}/old.token`, key.sign(issuer.claims({ exp: 1700000000 })));
fs.writeFileSync(`${folder}/issuer.ready`, '');
