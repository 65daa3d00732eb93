// What the tests of fairness share: the users, what they may, and what the server says of them.
//
//   node SCRIPT FOLDER HTTP HTTPS PID    FOLDER has ca.crt, tokens.json
import fs from 'node:fs';
import { ApiClient } from './api_client.mjs';

const [folder, httpUrl, httpsUrl, pid] = process.argv.slice(2);
export { folder };
const file = (name) => fs.readFileSync(`${folder}/${name}`, 'utf8');
export const door = { http: httpUrl, https: httpsUrl, ca: file('ca.crt') };
export const tokens = JSON.parse(file('tokens.json'));
export const maps = '/api/v1/namespaces/default/configmaps';
export const port = Number(new URL(httpUrl).port);
export const tlsPort = Number(new URL(httpsUrl).port);

// A client of a user with connections of its own.
export function clientOf(user, maxSockets = 64) {
    const client = new ApiClient(door, user ? { token: tokens[user] } : {});
    client.agent.maxSockets = maxSockets;
    return client;
}
export const root = clientOf('root');

export const configMap = (name, text = '') => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { text },
});

export async function must(client, status, method, path, body) {
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
    const answer = await client.ask(method, path, body, headers);
    if (answer.status !== status)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
}

// Everybody in the group crew may edit.
export async function bindCrew() {
    const group = 'rbac.authorization.k8s.io';
    await must(root, 201, 'POST', `/apis/${group}/v1/clusterrolebindings`, {
        apiVersion: `${group}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'crew' },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'edit' },
        subjects: [{ apiGroup: group, kind: 'Group', name: 'crew' }],
    });
    for (const user of ['ann', 'bob']) {
        const client = clientOf(user);
        while ((await client.ask('GET', maps)).status === 403);
        client.close();
    }
}

// The problems of something that must be good: none, or what was found.
export const wrong = (good, found) => (good ? [] : [JSON.stringify(found) ?? 'it is not']);

// The value of a metric, with its labels as they are written; NaN if there is none.
export async function metric(name) {
    const { text } = await must(root, 200, 'GET', '/metrics');
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return line ? Number(line.slice(name.length + 1)) : NaN;
}

export async function usageOf(user) {
    const { json } = await must(root, 200, 'GET', '/debug/usage');
    return json.users.find((one) => one.user === user);
}

// Whether the server runs under a sanitizer.
export function isSanitized() {
    return /lib[at]san/.test(fs.readFileSync(`/proc/${pid}/maps`, 'utf8'));
}

export function residentMb() {
    const line = fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+([0-9]+) kB/);
    return Number(line[1]) / 1024;
}
