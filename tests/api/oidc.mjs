// Tokens of other issuers (docs/security.md, "Single sign-on"): good ones are let in under their
// claims, the known attacks are not, keys rotate, and issuers that misbehave do no harm.
//
//     node oidc.mjs VEDETTE FOLDER
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { Issuer, Key, configuration, signWithSecret, signature, unsigned } from './oidc_issuer.mjs';
import { ServerProcess } from './server_process.mjs';
import { tap, tapEnd, untilTrue } from './tap.mjs';

const [binary, folder] = process.argv.slice(2);
const file = `${folder}/issuers.json`;
const jwksFile = `${folder}/keys.json`;
const keys = {};
for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'])
    keys[alg] = new Key(alg, `key-${alg}`);
const issuer = await new Issuer(Object.values(keys)).listen();
// What an issuer may do instead of telling its keys.
const misbehaviours = {
    'status 500': (path, response) => response.writeHead(500).end(),
    'a redirect': (path, response, { url }) =>
        response.writeHead(302, { Location: `${url}/elsewhere` }).end(),
    'no JSON': (path, response) => response.end('<html>'),
    'an empty set': (path, response) => path === '/keys' && response.end('{"keys":[]}'),
    'an endless set': (path, response) =>
        path === '/keys' && response.end(`{"keys":[],"x":"${'x'.repeat(2 << 20)}"}`),
    'a deep set': (path, response) =>
        path === '/keys' && response.end(`{"keys":${'['.repeat(1e5)}${']'.repeat(1e5)}}`),
    'a cut answer': (path, response) => {
        response.writeHead(200, { 'Content-Length': 1000 });
        response.write('{');
        response.socket.destroy();
    },
    "another issuer's discovery": (path, response, { url }) =>
        path !== '/keys' &&
        response.end(
            JSON.stringify({ issuer: 'https://elsewhere.example', jwks_uri: `${url}/keys` }),
        ),
    'keys over plain HTTP elsewhere': (path, response, { url }) =>
        path !== '/keys' &&
        response.end(JSON.stringify({ issuer: url, jwks_uri: 'http://192.0.2.1/keys' })),
};
const liars = {};
for (const name of Object.keys(misbehaviours))
    liars[name] = await new Issuer([keys.RS256]).listen();
const server = new ServerProcess(binary, `${folder}/data`, ['--authentication-config', file]);

// ---- asking ----

function request(token, path, options = {}) {
    return new Promise((resolve, reject) => {
        const headers = {
            ...(token ? { Authorization: `Bearer ${token}` } : {}),
            ...options.headers,
        };
        const port = server.http.port;
        const asked = http.request(
            { host: '127.0.0.1', port, path, headers, method: options.method },
            (response) => {
                if (options.stream) return resolve(response);
                let text = '';
                response.on('data', (piece) => (text += piece));
                response.on('end', () => resolve({ status: response.statusCode, text }));
            },
        );
        asked.on('error', reject);
        asked.setTimeout(20000, () => asked.destroy(new Error('no answer')));
        asked.end(options.body);
    });
}

const whoPath = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const discovery = '/api';
const status = async (token) => (await request(token, discovery)).status;
const isLetIn = async (token) => (await status(token)) === 200;
const letIn = async (name, token) =>
    tap(name, (await untilTrue(() => isLetIn(token))) ? [] : ['it is not let in']);
async function refused(name, token, wanted = 401) {
    const got = await status(token);
    tap(name, got === wanted ? [] : [`status ${got}`]);
}

async function admin(path, body, method = 'POST') {
    const answer = await request(root, path, {
        method,
        body: body && JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
    });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return JSON.parse(answer.text);
}

// Whom the server takes the token's bearer for.
async function userOf(token) {
    const review = await admin('/apis/authentication.k8s.io/v1/tokenreviews', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token },
    });
    return review.status.user ?? {};
}

async function metric(line) {
    const { text } = await request(root, '/metrics');
    const found = text.split('\n').find((each) => each.startsWith(line));
    return found ? Number(found.split(' ').pop()) : 0;
}

const log = () => fs.readFileSync(`${folder}/data.log`, 'utf8');
const write = (issuers) => fs.writeFileSync(file, configuration(issuers));
const reload = () => server.process.kill('SIGHUP');
const binding = (name, subject) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
});

write([issuer, ...Object.values(liars)].map(({ url }) => [url]));
await server.start();
const root = server.token('root', 'system:masters');

// ---- good tokens ----

for (const [alg, key] of Object.entries(keys))
    await letIn(`${alg} is let in`, key.sign(issuer.claims()));
{
    const user = await userOf(keys.ES256.sign(issuer.claims()));
    tap(
        'claims become a user with prefixes',
        [
            user.username === 'oidc:ann' ? '' : `name ${user.username}`,
            JSON.stringify(user.groups) === '["oidc:dev","system:authenticated"]'
                ? ''
                : `groups ${user.groups}`,
        ].filter(Boolean),
    );
    const other = await userOf(keys.ES256.sign(issuer.claims({ groups: 'solo' })));
    tap(
        'one group may be a text',
        other.groups?.includes('oidc:solo') ? [] : [JSON.stringify(other)],
    );
    await admin(
        '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
        binding('dev', { kind: 'Group', name: 'oidc:dev' }),
    );
    const path = '/api/v1/namespaces/default/configmaps';
    await letIn('a token is still good', keys.ES256.sign(issuer.claims()));
    const may = await untilTrue(
        async () => (await request(keys.ES256.sign(issuer.claims()), path)).status === 200,
    );
    const not = await request(keys.ES256.sign(issuer.claims({ groups: ['ops'] })), path);
    tap('rights come with groups', may && not.status === 403 ? [] : [`${may} ${not.status}`]);
}
await letIn(
    'a token without kid is tried with each key of its algorithm',
    keys.RS256.sign(issuer.claims(), { kid: undefined }),
);
await letIn('so is one with an empty kid', keys.ES256.sign(issuer.claims(), { kid: '' }));
await letIn(
    'jku, jwk and x5u are not looked at',
    keys.ES256.sign(issuer.claims(), {
        jku: `${issuer.url}/evil`,
        x5u: `${issuer.url}/evil`,
        jwk: new Key('ES256', 'evil').jwk,
    }),
);

// ---- claims that are no good ----

const now = Math.floor(Date.now() / 1000);
const badClaims = {
    'another audience': { aud: 'elsewhere' },
    'no audience': { aud: undefined },
    'another issuer': { iss: 'https://elsewhere.example' },
    'no issuer': { iss: undefined },
    "the server's own issuer": { iss: 'https://kubernetes.default.svc.cluster.local' },
    expired: { exp: now - 60 },
    'no expiry': { exp: undefined },
    'an expiry that is text': { exp: 'never' },
    'an expiry beyond all times': { exp: 1e300 },
    'not yet valid': { nbf: now + 600 },
    'issued in the future': { iat: now + 600 },
    'no user': { sub: undefined },
    'an empty user': { sub: '' },
    'a user that is a number': { sub: 7 },
    'groups that are numbers': { groups: [1, 2] },
    'groups that are a map': { groups: { a: 'b' } },
    'too many groups': { groups: Array.from({ length: 1025 }, (unused, i) => `${i}`) },
};
for (const [name, claims] of Object.entries(badClaims))
    await refused(`claims: ${name}`, keys.ES256.sign(issuer.claims(claims)));
{
    let deep = 'x';
    for (let i = 0; i < 40; i++) deep = [deep];
    await refused('claims: nested too deep', keys.ES256.sign(issuer.claims({ deep })));
    await refused(
        'claims: too long',
        keys.ES256.sign(issuer.claims({ long: 'x'.repeat(20000) })),
        431,
    );
    await letIn('an audience alone', keys.ES256.sign(issuer.claims({ aud: 'vedette' })));
}

// ---- attacks on the signature ----

const good = keys.RS256.sign(issuer.claims());
const [head, body, signed] = good.split('.');
for (const alg of ['none', 'None', 'NONE', ''])
    await refused(`alg ${alg || 'empty'}`, unsigned(issuer.claims(), alg));
await refused('no signature', `${head}.${body}.`);
await refused('two parts', `${head}.${body}`);
await refused(
    'another body',
    `${head}.${keys.RS256.sign(issuer.claims({ sub: 'root' })).split('.')[1]}.${signed}`,
);
for (const format of ['pem', 'der']) {
    const secret = keys.RS256.publicKey.export({ type: 'spki', format });
    await refused(
        `HS256 with the public key as secret (${format})`,
        signWithSecret(secret, issuer.claims(), { kid: keys.RS256.kid }),
    );
}
await refused(
    'HS256 with an empty secret',
    signWithSecret('', issuer.claims(), { kid: keys.RS256.kid }),
);
await refused(
    'RS512 with the key of RS256',
    (() => {
        const text = keys.RS256.sign(issuer.claims(), { alg: 'RS512' })
            .split('.')
            .slice(0, 2)
            .join('.');
        return `${text}.${signature('RS512', keys.RS256.privateKey, Buffer.from(text))}`;
    })(),
);
await refused(
    "another's key under a known kid",
    new Key('ES256', keys.ES256.kid).sign(issuer.claims()),
);
await refused('critical extensions', keys.ES256.sign(issuer.claims(), { crit: ['exp'] }));
for (const kid of [
    '../../../../etc/passwd',
    "' OR 1=1 --",
    '/dev/null',
    'key-ES256\u0000',
    'x'.repeat(8000),
    '\u2028',
])
    await refused(
        `kid ${JSON.stringify(kid.slice(0, 24))}`,
        keys.ES256.sign(issuer.claims(), { kid }),
    );
await refused('a kid that is a number', keys.ES256.sign(issuer.claims(), { kid: 7 }));
tap(
    'nobody asked the issuer for anything else',
    issuer.paths.filter((path) => !['/keys', '/.well-known/openid-configuration'].includes(path)),
);
{
    const crowd = await Promise.all(
        Array.from({ length: 200 }, (unused, i) =>
            status(new Key('EdDSA', `made-up-${i}`).sign(issuer.claims())),
        ),
    );
    const before = issuer.fetches;
    tap('unknown kids are refused', crowd.every((each) => each === 401) ? [] : [`${crowd}`]);
    tap('and do not flood the issuer', before < 30 ? [] : [`${before} fetches`]);
}

// ---- rotation ----

const next = new Key('ES256', 'next');
issuer.keys = [next, keys.RS256];
await letIn('a new key is found when a token names it', next.sign(issuer.claims()));
await letIn('one that stayed is good', keys.RS256.sign(issuer.claims()));
await refused('one that went is not', keys.ES256.sign(issuer.claims()));
const twins = [new Key('ES256', 'twin'), new Key('ES256', 'twin')];
issuer.keys = [...twins, keys.RS256, next];
await letIn('of two keys with one kid, the first', twins[0].sign(issuer.claims()));
await letIn('and the second', twins[1].sign(issuer.claims()));
{
    const odd = new Key('RS256', 'odd');
    issuer.keys = [
        { kty: 'oct', k: 'c2VjcmV0', kid: 'secret', alg: 'HS256', use: 'sig' },
        { kty: 'RSA', kid: 'empty' },
        { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'off' },
        { ...odd.jwk, use: 'enc', kid: 'enc' },
        'text',
        null,
        { kty: 'new' },
        { ...odd.jwk, alg: undefined },
        keys.RS256,
    ];
    await letIn(
        'odd keys beside it do no harm, and RSA without alg is RS256',
        odd.sign(issuer.claims()),
    );
    await refused(
        'a secret in the set is none',
        signWithSecret('secret', issuer.claims(), { kid: 'secret' }),
    );
    await refused('a key for encryption does not sign', odd.sign(issuer.claims(), { kid: 'enc' }));
}

// ---- issuers that misbehave: the old keys stay ----

// The server asks an issuer for unknown keys every two seconds at most, so each misbehaviour has an
// issuer of its own (liars), and all of them misbehave at the same time.
async function misbehaves(name, liar) {
    const { url } = liar;
    const errors = () => metric(`vedette_oidc_refreshes_total{issuer="${url}",result="error"}`);
    const old = keys.RS256.sign(liar.claims());
    const known = await untilTrue(() => isLetIn(old));
    const before = await errors();
    liar.answer = (path, response) => {
        misbehaviours[name](path, response, liar);
        return response.writableEnded || response.destroyed || response.headersSent;
    };
    const unknown = new Key('ES256', `after ${name}`).sign(liar.claims());
    const noticed = await untilTrue(
        async () => (await status(unknown)) === 401 && (await errors()) > before,
    );
    return { name, known, noticed, stays: await untilTrue(() => isLetIn(old)) };
}
for (const { name, known, noticed, stays } of await Promise.all(
    Object.entries(liars).map(([name, liar]) => misbehaves(name, liar)),
)) {
    tap(`${name}: is counted`, known && noticed ? [] : ['no']);
    tap(`${name}: old keys stay`, stays ? [] : ['they do not']);
}
tap(
    'redirects were not followed',
    liars['a redirect'].paths.filter((path) => path === '/elsewhere'),
);
tap(
    'the log tells',
    log().includes("an issuer's keys could not be fetched; those that there are stay")
        ? []
        : ['it does not'],
);
{
    const sockets = [];
    issuer.answer = (path, response) => sockets.push(response); // never answers
    const slow = new Key('ES256', 'slow').sign(issuer.claims());
    const hangs = await untilTrue(async () => (await status(slow)) === 401 && sockets.length > 0);
    const begun = Date.now();
    for (let i = 0; i < 20; i++) await status(slow);
    tap(
        'a slow issuer makes nobody wait',
        hangs && Date.now() - begun < 8000 ? [] : [`${Date.now() - begun} ms`],
    );
    await letIn('and old keys stay', keys.RS256.sign(issuer.claims()));
    for (const each of sockets) each.destroy();
    issuer.answer = null;
}

// ---- streams ----

function watch(token) {
    const stream = { text: '', ended: false };
    request(token, '/api/v1/namespaces/default/configmaps?watch=1', { stream: true }).then(
        (response) => {
            stream.status = response.statusCode;
            response.on('data', (piece) => (stream.text += piece));
            response.on('end', () => (stream.ended = true));
            response.on('error', () => {});
        },
        () => {},
    );
    return stream;
}
const begins = (stream) => untilTrue(() => stream.status === 200);
const endsWith401 = (stream) => untilTrue(() => stream.ended && stream.text.includes('"code":401'));
{
    const soon = Math.floor(Date.now() / 1000) - 6; // 10 s of skew are left
    const short = watch(keys.RS256.sign(issuer.claims({ exp: soon })));
    issuer.keys = [next, keys.RS256];
    await letIn('the issuer is well again', next.sign(issuer.claims()));
    tap(
        'a watch with a token that ends soon',
        (await begins(short)) ? [] : [`status ${short.status}`],
    );
    const staying = watch(keys.RS256.sign(issuer.claims()));
    const rotated = watch(next.sign(issuer.claims()));
    tap(
        'two others',
        (await begins(staying)) && (await begins(rotated)) ? [] : ['they do not begin'],
    );
    tap('ends with the token', (await endsWith401(short)) ? [] : [short.text]);
    const last = new Key('ES256', 'last');
    issuer.keys = [last, keys.RS256];
    await letIn('a key goes', last.sign(issuer.claims()));
    tap('its watch ends', (await endsWith401(rotated)) ? [] : [rotated.text]);
    tap('the other does not', staying.ended ? [staying.text] : []);

    // ---- configuration ----

    fs.writeFileSync(
        file,
        'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwts: []\n',
    );
    reload();
    const told = await untilTrue(() =>
        log().includes('could not load the issuers again; the old ones stay'),
    );
    tap(
        'a bad file is told',
        told && log().includes("issuers.json:3:1: there is no field 'jwts' (did you mean 'jwt'?)")
            ? []
            : [log().slice(-500)],
    );
    await letIn('and changes nothing', last.sign(issuer.claims()));
    const fileKey = new Key('EdDSA', 'from-file');
    fs.writeFileSync(jwksFile, JSON.stringify({ keys: [fileKey.jwk] }));
    write([
        ['https://file.example', { jwksFile }],
        [
            `${issuer.url}`,
            { jwksURL: `${issuer.url}/keys` },
            {
                claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com' }],
                claimMappings: {
                    username: { claim: 'email', prefix: '' },
                    groups: { claim: 'roles', prefix: '' },
                },
            },
        ],
    ]);
    reload();
    tap(
        'an issuer that is changed ends its watches',
        (await endsWith401(staying)) ? [] : [staying.text],
    );
    await letIn('keys of a file', fileKey.sign(issuer.claims({ iss: 'https://file.example' })));
    const second = new Key('ES256', 'second-of-file');
    fs.writeFileSync(jwksFile, JSON.stringify({ keys: [second.jwk] }));
    await letIn('which is read again', second.sign(issuer.claims({ iss: 'https://file.example' })));
    await refused(
        'an issuer does not speak for another',
        last.sign(issuer.claims({ iss: 'https://file.example' })),
    );
    const mail = {
        hd: 'example.com',
        email: 'ann@example.com',
        roles: ['a', 'system:masters', 'b'],
    };
    await letIn('with what is required', last.sign(issuer.claims(mail)));
    const user = await userOf(last.sign(issuer.claims(mail)));
    tap(
        'groups of the system are left out',
        user.username === 'ann@example.com' &&
            JSON.stringify(user.groups) === '["a","b","system:authenticated"]'
            ? []
            : [JSON.stringify(user)],
    );
    await refused(
        'a required claim is missing',
        last.sign(issuer.claims({ ...mail, hd: undefined })),
    );
    await refused('or another', last.sign(issuer.claims({ ...mail, hd: 'evil.example' })));
    await refused(
        'an email that is not verified',
        last.sign(issuer.claims({ ...mail, email_verified: false })),
    );
    await refused(
        'a user of the system',
        last.sign(issuer.claims({ ...mail, email: 'system:admin' })),
    );
    const goes = watch(last.sign(issuer.claims({ ...mail, roles: ['dev'] })));
    await untilTrue(() => goes.status);
    write([]);
    reload();
    const out = await untilTrue(async () => (await status(last.sign(issuer.claims(mail)))) === 401);
    tap('an issuer that is taken out is out', out ? [] : ['it is not']);
}

// ---- TLS ----

{
    const pki = (name) => fs.readFileSync(`${folder}/data/pki/${name}`, 'utf8');
    const secure = await new Issuer([keys.ES256], {
        key: pki('server.key'),
        cert: pki('server.crt'),
    }).listen();
    write([[secure.url]]);
    reload();
    const failing = await untilTrue(
        async () =>
            (await metric(`vedette_oidc_refreshes_total{issuer="${secure.url}",result="error"}`)) >
            0,
    );
    tap(
        'a certificate of nobody who is trusted',
        failing && !secure.fetches ? [] : ['it was believed'],
    );
    write([[secure.url, { certificateAuthority: pki('ca.crt') }]]);
    reload();
    await letIn('with its CA', keys.ES256.sign(secure.claims()));
    const wrong = secure.url.replace('127.0.0.1', 'localhost.localdomain');
    const names = new crypto.X509Certificate(pki('server.crt'));
    tap('the certificate is good for the address', names.checkIP('127.0.0.1') ? [] : [wrong]);
    await secure.close();
    await letIn('a dead issuer leaves its keys', keys.ES256.sign(secure.claims()));
}

await server.stop('SIGTERM');
tap('the server stops', []);
tapEnd();
