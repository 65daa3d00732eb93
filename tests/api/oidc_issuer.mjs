// A small issuer of OpenID Connect for tests: an HTTP(S) server on a free port of 127.0.0.1 with a
// discovery document and a JWK set, and keys to sign tokens with, well or badly.
import crypto from 'node:crypto';
import http from 'node:http';
import https from 'node:https';

const kinds = {
    RS256: () => crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ES256: () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ES384: () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    EdDSA: () => crypto.generateKeyPairSync('ed25519'),
};
kinds.RS384 = kinds.RS512 = kinds.PS256 = kinds.RS256;

const base64 = (value) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

// In base64url, as a token has it.
export function signature(alg, privateKey, text) {
    if (alg === 'EdDSA') return crypto.sign(null, text, privateKey).toString('base64url');
    const options = { key: privateKey, dsaEncoding: 'ieee-p1363' };
    if (alg.startsWith('PS'))
        Object.assign(options, { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
    return crypto.sign(`sha${alg.slice(2)}`, text, options).toString('base64url');
}

export class Key {
    constructor(alg, kid) {
        Object.assign(this, kinds[alg]());
        this.alg = alg;
        this.kid = kid;
    }

    get jwk() {
        return {
            ...this.publicKey.export({ format: 'jwk' }),
            kid: this.kid,
            alg: this.alg,
            use: 'sig',
        };
    }

    // A token with these claims; `header` says what else the header has, or has differently.
    sign(claims, header = {}) {
        const head = { alg: this.alg, kid: this.kid, typ: 'JWT', ...header };
        const text = `${base64(head)}.${base64(claims)}`;
        return `${text}.${signature(this.alg, this.privateKey, Buffer.from(text))}`;
    }
}

// A token that is signed with a secret, as HS256 has it.
export function signWithSecret(secret, claims, header) {
    const text = `${base64({ alg: 'HS256', typ: 'JWT', ...header })}.${base64(claims)}`;
    return `${text}.${crypto.createHmac('sha256', secret).update(text).digest('base64url')}`;
}

export function unsigned(claims, alg) {
    return `${base64({ alg, typ: 'JWT' })}.${base64(claims)}.`;
}

export class Issuer {
    constructor(keys, tls) {
        this.keys = keys;
        this.fetches = 0; // of the JWK set
        this.paths = []; // all that was asked for
        this.answer = null; // (path, response) => true: has answered in its own way
        const handle = (request, response) => this.handle(request, response);
        this.server = tls ? https.createServer(tls, handle) : http.createServer(handle);
        this.scheme = tls ? 'https' : 'http';
    }

    async listen() {
        await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
        this.url = `${this.scheme}://127.0.0.1:${this.server.address().port}`;
        return this;
    }

    close() {
        this.server.closeAllConnections();
        return new Promise((resolve) => this.server.close(resolve));
    }

    get jwks() {
        return { keys: this.keys.map((key) => key?.jwk ?? key) };
    }

    handle(request, response) {
        this.paths.push(request.url);
        if (request.url === '/keys') this.fetches++;
        if (this.answer?.(request.url, response)) return;
        const documents = {
            '/.well-known/openid-configuration': () => ({
                issuer: this.url,
                jwks_uri: `${this.url}/keys`,
            }),
            '/keys': () => this.jwks,
        };
        const document = documents[request.url];
        response.writeHead(document ? 200 : 404, { 'Content-Type': 'application/json' });
        response.end(document ? JSON.stringify(document()) : '{}');
    }

    // Claims of a good token; undefined takes one away.
    claims(others = {}) {
        const now = Math.floor(Date.now() / 1000);
        const all = {
            iss: this.url,
            aud: ['other', 'vedette'],
            sub: 'ann',
            groups: ['dev'],
            iat: now,
            nbf: now,
            exp: now + 600,
            jti: crypto.randomUUID(),
            ...others,
        };
        return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    }
}

// A file of issuers for vedette; each is [url, fields of the issuer, fields of the entry].
export function configuration(issuers) {
    return JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AuthenticationConfiguration',
        jwt: issuers.map(([url, issuer = {}, entry = {}]) => ({
            issuer: { url, audiences: ['vedette'], ...issuer },
            claimMappings: {
                username: { claim: 'sub', prefix: 'oidc:' },
                groups: { claim: 'groups', prefix: 'oidc:' },
            },
            ...entry,
        })),
    });
}
