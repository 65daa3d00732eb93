// Requests that are good HTTP and wrong for the API: [name, request, status, reason, more], where
// `more` may name a text that the answer has ({says}) or its Warning header ({warning}). Writes
// that are taken are trials (dryRun), so that nothing changes.

export const maps = '/api/v1/namespaces/default/configmaps';
const reviews = '/apis/authorization.k8s.io/v1';

// The bytes of a request; without a token when `anonymous`.
export function requestOf({ method = 'GET', path, type, body, headers = {}, anonymous }, token) {
    const payload = body === undefined ? undefined : Buffer.from(body);
    const all = {
        Host: 'x',
        ...(anonymous ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
    };
    if (payload) {
        if (type !== null) all['Content-Type'] = type ?? 'application/json';
        all['Content-Length'] = payload.length;
    }
    const head = Object.entries(all).map(([key, value]) => `${key}: ${value}\r\n`);
    return Buffer.concat([
        Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n`, 'latin1'),
        payload ?? Buffer.alloc(0),
    ]);
}

// One object to patch and delete. What went wrong.
export async function prepare(ask) {
    const answer = await ask({
        method: 'POST',
        path: maps,
        body: '{"metadata":{"name":"x"},"data":{"a":"1"}}',
    });
    return answer.status === 201 ? [] : [answer.body];
}

const bad = (name, request, more) => [name, request, 400, 'BadRequest', more];
const invalid = (name, request, more) => [name, request, 422, 'Invalid', more];
const fine = (name, request, status = 200, more = {}) => [name, request, status, undefined, more];

// ---- bodies ----

const create = (body, more) => ({ method: 'POST', path: `${maps}?dryRun=All`, body, ...more });
const named = (fields) => create(`{"metadata":{"name":"new"}${fields ? `,${fields}` : ''}}`);
const meta = (fields) => create(`{"metadata":{${fields}}}`);
const utf8 = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part, 'latin1')));

const json = [
    bad('nothing', create('')),
    bad('a blank', create(' ')),
    bad('a brace', create('{')),
    bad('two braces too many', create('{"metadata":{"name":"new"}}}}')),
    bad('two documents', create('{"metadata":{"name":"new"}}{}')),
    bad('a missing colon', create('{"metadata" {}}')),
    bad('single quotes', create("{'metadata':{}}")),
    bad('no quotes', create('{metadata:{}}')),
    bad('a trailing comma', create('{"metadata":{"name":"new"},}')),
    bad('a comment', create('{/* */}')),
    bad('NaN', named('"data":NaN')),
    bad('half a word', named('"data":nul')),
    bad('a zero too many', named('"x":01')),
    bad('a lone minus', named('"x":-')),
    bad('a number without an end', named('"x":1e')),
    bad('a hexadecimal number', named('"x":0x10')),
    bad('a long number', named(`"x":${'9'.repeat(2000)}`)),
    bad('a text without an end', create('{"metadata":{"name":"new')),
    bad('a bad escape', named('"x":"\\q"')),
    bad('half an escape', named('"x":"\\u12"')),
    bad('a NUL in a text', named('"x":"a\0b"')),
    bad('a line end in a text', named('"x":"a\nb"')),
    bad('a NUL behind', create('{"metadata":{"name":"new"}}\0')),
    bad('invalid UTF-8', create(utf8('{"metadata":{"name":"new"},"data":{"a":"\xff"}}'))),
    bad(
        'an overlong character',
        create(utf8('{"metadata":{"name":"new"},"data":{"a":"\xc0\xaf"}}')),
    ),
    bad('half a character', create(utf8('{"metadata":{"name":"new"},"data":{"a":"\xe2\x82"}}'))),
    bad(
        'a surrogate in UTF-8',
        create(utf8('{"metadata":{"name":"new"},"data":{"a":"\xed\xa0\x80"}}')),
    ),
    bad('UTF-16', create(Buffer.from('{"metadata":{"name":"new"}}', 'utf16le'))),
    bad('513 arrays', named(`"x":${'['.repeat(513)}${']'.repeat(513)}`)),
    bad('100,000 arrays', create('['.repeat(100000))),
    bad('100,000 objects', create('{"a":'.repeat(100000))),
    bad('an array', create('[]')),
    bad('a number', create('5')),
    bad('a text', create('"new"')),
    bad('null', create('null')),
    bad('true', create('true')),
    ['a body that is too large', create(Buffer.alloc(3145729, ' ')), 413, 'RequestEntityTooLarge'],
];

const objects = [
    invalid('no name', create('{}')),
    invalid('an empty name', meta('"name":""')),
    invalid('a name in capitals', meta('"name":"New"')),
    invalid('a name with an underscore', meta('"name":"a_b"')),
    invalid('a name with a slash', meta('"name":"a/b"')),
    invalid('dots for a name', meta('"name":".."')),
    invalid('a name with a percent sign', meta('"name":"a%2fb"')),
    invalid('a name with a NUL', meta('"name":"a\\u0000b"')),
    invalid('a name with a line end', meta('"name":"a\\nb"')),
    invalid('a name in another script', meta('"name":"имя"')),
    invalid('a long name', meta(`"name":"${'a'.repeat(254)}"`)),
    bad('a number for a name', meta('"name":5')),
    bad('a number for metadata', create('{"metadata":5}')),
    bad('an array for metadata', create('{"metadata":[]}')),
    bad('a number for a label', meta('"name":"new","labels":{"a":5}')),
    bad('an array for labels', meta('"name":"new","labels":[]')),
    invalid('a bad label', meta('"name":"new","labels":{"a b":"c"}')),
    invalid('a bad value of a label', meta('"name":"new","labels":{"a":"b c"}')),
    invalid('a long value of a label', meta(`"name":"new","labels":{"a":"${'b'.repeat(64)}"}`)),
    invalid('large annotations', meta(`"name":"new","annotations":{"a":"${'b'.repeat(262145)}"}`)),
    bad('a text for finalizers', meta('"name":"new","finalizers":"a"')),
    invalid('a bad finalizer', meta('"name":"new","finalizers":["a b"]')),
    bad('a text for owners', meta('"name":"new","ownerReferences":"a"')),
    invalid(
        'an owner without a kind',
        meta('"name":"new","ownerReferences":[{"name":"a","uid":"b"}]'),
    ),
    bad('a resourceVersion', meta('"name":"new","resourceVersion":"5"')),
    bad('another kind', named('"kind":"Secret"')),
    bad('a number for a kind', named('"kind":5')),
    bad('another version', named('"apiVersion":"v2"')),
    bad('another namespace', meta('"name":"new","namespace":"kube-system"')),
    invalid('a number for data', named('"data":5')),
    invalid('a number in data', named('"data":{"a":5}')),
    invalid('a bad key of data', named('"data":{"a/b":"c"}')),
    invalid('data that is too large', named(`"data":{"a":"${'b'.repeat(1048577)}"}`)),
    [
        'a namespace that is not there',
        create('{"metadata":{"name":"new"}}', { path: '/api/v1/namespaces/nowhere/configmaps' }),
        404,
        'NotFound',
    ],
    [
        'what is there already',
        { method: 'POST', path: maps, body: '{"metadata":{"name":"x"}}' },
        409,
        'AlreadyExists',
    ],
    [
        'what is not there',
        { method: 'PUT', path: `${maps}/nothing`, body: '{"metadata":{"name":"nothing"}}' },
        404,
        'NotFound',
    ],
    bad('another name', { method: 'PUT', path: `${maps}/x`, body: '{"metadata":{"name":"y"}}' }),
    bad('a version that is none', {
        method: 'PUT',
        path: `${maps}/x`,
        body: '{"metadata":{"name":"x","resourceVersion":"a"}}',
    }),
    [
        'an old version',
        {
            method: 'PUT',
            path: `${maps}/x`,
            body: '{"metadata":{"name":"x","resourceVersion":"1"}}',
        },
        409,
        'Conflict',
    ],
    [
        'another uid',
        {
            method: 'PUT',
            path: `${maps}/x`,
            body: '{"metadata":{"name":"x","uid":"00000000-0000-4000-8000-000000000000"}}',
        },
        409,
        'Conflict',
    ],
];

const reviewed = ['selfsubjectaccessreviews', 'subjectaccessreviews', 'selfsubjectrulesreviews'];
const questions = [
    ...['[]', '5', 'null', '"x"', '{"metadata":5}', '{"kind":"Pod"}'].flatMap((body) => [
        ...reviewed.map((name) =>
            bad(`${name}: ${body}`, { method: 'POST', path: `${reviews}/${name}`, body }),
        ),
        bad(`a token for an account: ${body}`, {
            method: 'POST',
            path: '/api/v1/namespaces/default/serviceaccounts/default/token',
            body,
        }),
        bad(`tokenreviews: ${body}`, {
            method: 'POST',
            path: '/apis/authentication.k8s.io/v1/tokenreviews',
            body,
        }),
        bad(`selfsubjectreviews: ${body}`, {
            method: 'POST',
            path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
            body,
        }),
    ]),
    ...reviewed.map((name) =>
        invalid(`${name}: no spec`, { method: 'POST', path: `${reviews}/${name}`, body: '{}' }),
    ),
    ...['{}', '{"kind":"Secret"}', '{"kind":"Pod/x","apiVersion":"v1"}'].map((ref) =>
        bad(`a token bound to ${ref}`, {
            method: 'POST',
            path: '/api/v1/namespaces/default/serviceaccounts/default/token',
            body: `{"spec":{"boundObjectRef":${ref}}}`,
        }),
    ),
    invalid('a review of nothing', {
        method: 'POST',
        path: `${reviews}/selfsubjectaccessreviews`,
        body: '{"spec":{}}',
    }),
    invalid('a review of nobody', {
        method: 'POST',
        path: `${reviews}/subjectaccessreviews`,
        body: '{"spec":{"resourceAttributes":{"verb":"get"}}}',
    }),
    bad('rules of no namespace', {
        method: 'POST',
        path: `${reviews}/selfsubjectrulesreviews`,
        body: '{"spec":{}}',
    }),
    bad('a review of no token', {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: '{"spec":{}}',
    }),
];

// ---- other forms ----

const yaml = (body) => create(body, { type: 'application/yaml' });
const laughs = [
    'a: &a [x,x,x,x,x,x,x,x,x,x]',
    ...'bcdefghij'.split('').map((c, i) => {
        const before = `*${'abcdefghij'[i]}`;
        return `${c}: &${c} [${Array(10).fill(before)}]`;
    }),
].join('\n');
const yamls = [
    bad('a tab', yaml('metadata:\n\tname: new')),
    bad('a bracket', yaml('metadata: [')),
    bad('a quote', yaml('metadata: "')),
    bad('an alias of nothing', yaml('metadata: *a')),
    bad('two documents', yaml('metadata: {name: new}\n---\nmetadata: {name: old}')),
    bad('a billion laughs', yaml(laughs)),
    bad('an alias of itself', yaml('metadata: &a {name: new, b: *a}')),
    bad('a NUL', yaml('metadata: {name: "a\0b"}')),
    bad('invalid UTF-8', yaml(utf8('metadata: {name: "\xff"}'))),
    bad('a list', yaml('- a')),
    bad('nothing', yaml('')),
    bad('10,000 brackets', yaml('['.repeat(10000))),
];

const pb = (body) => create(body, { type: 'application/vnd.kubernetes.protobuf' });
const protobufs = [
    bad('nothing', pb('')),
    bad('no magic', pb('hello')),
    bad('magic alone', pb('k8s\0')),
    bad('garbage', pb(utf8('k8s\0', '\xff'.repeat(100)))),
    bad('a length that is too long', pb(utf8('k8s\0\x0a\xff\xff\xff\xff\x0f'))),
    bad('JSON', pb('{"metadata":{"name":"new"}}')),
];

const types = [
    ...[
        'text/plain',
        'application/xml',
        'application/cbor',
        'application',
        'json',
        '/',
        'application/json;',
        'multipart/form-data; boundary=x',
        'application/x-www-form-urlencoded',
        'application/json-patch+json',
        'application/merge-patch+json',
        '*/*',
    ]
        .filter((type) => type !== 'application/json;')
        .map((type) => [
            `create: ${type}`,
            create('{"metadata":{"name":"new"}}', { type }),
            415,
            'UnsupportedMediaType',
        ]),
    ...[
        'application/json',
        'application/yaml',
        'text/plain',
        'application/vnd.kubernetes.protobuf',
    ].map((type) => [
        `patch: ${type}`,
        { method: 'PATCH', path: `${maps}/x`, body: '{}', type },
        415,
        'UnsupportedMediaType',
    ]),
    [
        'patch without a type',
        { method: 'PATCH', path: `${maps}/x`, body: '{}', type: null },
        415,
        'UnsupportedMediaType',
    ],
    [
        'update: a patch',
        { method: 'PUT', path: `${maps}/x`, body: '{}', type: 'application/merge-patch+json' },
        415,
        'UnsupportedMediaType',
    ],
    [
        'delete: a patch',
        {
            method: 'DELETE',
            path: `${maps}/nothing`,
            body: '{}',
            type: 'application/merge-patch+json',
        },
        415,
        'UnsupportedMediaType',
    ],
    fine(
        'a charset',
        create('{"metadata":{"name":"new"}}', { type: 'application/json; charset=utf-8' }),
        201,
    ),
    fine('capitals', create('{"metadata":{"name":"new"}}', { type: 'Application/JSON' }), 201),
    fine('Accept: 100 ranges', { path: maps, headers: { Accept: Array(100).fill('*/*').join() } }),
    fine('Accept: not a list', { path: maps, headers: { Accept: ';;;,,,/' } }),
    ['Accept: XML', { path: maps, headers: { Accept: 'application/xml' } }, 406, 'NotAcceptable'],
    [
        'Accept: nothing',
        { path: maps, headers: { Accept: 'application/json;q=0' } },
        406,
        'NotAcceptable',
    ],
    [
        'Accept: a Table of nobody',
        { path: maps, headers: { Accept: 'application/json;as=Table;v=v9;g=meta.k8s.io' } },
        406,
        'NotAcceptable',
    ],
];

// ---- patches ----

const patch = (kind, body, path = `${maps}/x?dryRun=All`) => ({
    method: 'PATCH',
    path,
    body,
    type: `application/${kind}-patch+json`,
});
const ops = (...list) => patch('json', JSON.stringify(list));
const fails = (name, request) => [name, request, 422, 'Invalid'];
const patches = [
    bad('JSON patch: a brace', patch('json', '[{')),
    bad('JSON patch: an object', patch('json', '{}')),
    bad('JSON patch: a number', patch('json', '5')),
    bad('JSON patch: nothing', patch('json', '')),
    fails('JSON patch: an empty operation', ops({})),
    fails('JSON patch: an unknown operation', ops({ op: 'mend', path: '/data' })),
    fails('JSON patch: no path', ops({ op: 'add', value: 1 })),
    fails('JSON patch: no value', ops({ op: 'add', path: '/data/b' })),
    fails('JSON patch: a path without a slash', ops({ op: 'remove', path: 'data' })),
    fails('JSON patch: a bad escape', ops({ op: 'remove', path: '/data/~2' })),
    fails('JSON patch: a test that fails', ops({ op: 'test', path: '/data/a', value: '2' })),
    fails('JSON patch: removing nothing', ops({ op: 'remove', path: '/data/b' })),
    fails('JSON patch: replacing nothing', ops({ op: 'replace', path: '/data/b', value: '2' })),
    fails('JSON patch: copying nothing', ops({ op: 'copy', from: '/data/b', path: '/data/c' })),
    fails('JSON patch: moving into itself', ops({ op: 'move', from: '/data', path: '/data/a' })),
    fails('JSON patch: below a text', ops({ op: 'add', path: '/data/a/b', value: '2' })),
    [
        'JSON patch: 10,001 operations',
        ops(...Array(10001).fill({ op: 'test', path: '/kind', value: 'ConfigMap' })),
        413,
        'RequestEntityTooLarge',
    ],
    bad('JSON patch: removing metadata', ops({ op: 'remove', path: '/metadata' })),
    bad('JSON patch: everything away', ops({ op: 'replace', path: '', value: 5 })),
    bad('JSON patch: another name', ops({ op: 'replace', path: '/metadata/name', value: 'y' })),
    bad('JSON patch: another kind', ops({ op: 'replace', path: '/kind', value: 'Secret' })),
    invalid('JSON patch: a number into data', ops({ op: 'add', path: '/data/b', value: 5 })),
    bad('merge patch: a brace', patch('merge', '{')),
    bad('merge patch: nothing', patch('merge', '')),
    bad('merge patch: a number', patch('merge', '5')),
    bad('merge patch: an array', patch('merge', '[]')),
    bad('merge patch: null', patch('merge', 'null')),
    bad('merge patch: no metadata', patch('merge', '{"metadata":null}')),
    bad('merge patch: another name', patch('merge', '{"metadata":{"name":"y"}}')),
    bad('merge patch: metadata that is none', patch('merge', '{"metadata":5}')),
    bad('merge patch: invalid UTF-8', patch('merge', utf8('{"data":{"a":"\xff"}}'))),
    invalid('merge patch: a number into data', patch('merge', '{"data":{"b":5}}')),
    [
        'merge patch: an old version',
        patch('merge', '{"metadata":{"resourceVersion":"1"}}'),
        409,
        'Conflict',
    ],
    bad('strategic patch: a brace', patch('strategic-merge', '{')),
    bad('strategic patch: an array', patch('strategic-merge', '[]')),
    bad('strategic patch: null', patch('strategic-merge', 'null')),
    bad(
        'strategic patch: an unknown directive',
        patch('strategic-merge', '{"data":{"$patch":"mend"}}'),
    ),
    bad('strategic patch: a number for one', patch('strategic-merge', '{"$patch":5}')),
    bad('strategic patch: another name', patch('strategic-merge', '{"metadata":{"name":"y"}}')),
    ['a patch of nothing', patch('merge', '{}', `${maps}/nothing`), 404, 'NotFound'],
];

// ---- fieldValidation ----

const validated = (mode, fields) => ({
    ...named(fields),
    path: `${maps}?dryRun=All${mode ? `&fieldValidation=${mode}` : ''}`,
});
const warned = (...texts) => ({
    warning: texts.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`).join(', ') || undefined,
});
const unknown = 'unknown field "oops"';
const twice = 'duplicate field "data"';
const fields = [
    fine('unknown, by default', validated('', '"oops":1'), 201, warned(unknown)),
    fine('unknown, Warn', validated('Warn', '"oops":1'), 201, warned(unknown)),
    fine('unknown, Ignore', validated('Ignore', '"oops":1'), 201, warned()),
    fine('a header in a name', validated('', '"a\\r\\nX: y":1'), 201, {
        warning: '299 - "unknown field \\"a  X: y\\""',
    }),
    bad('unknown, Strict', validated('Strict', '"oops":1'), {
        says: 'strict decoding error: unknown field \\"oops\\"',
    }),
    bad('unknown and deep, Strict', validated('Strict', '"metadata":{"name":"new","oops":1}'), {
        says: 'unknown field \\"metadata.oops\\"',
    }),
    fine('twice, by default', validated('', '"data":{},"data":{}'), 201, warned(twice)),
    fine('twice, Ignore', validated('Ignore', '"data":{},"data":{}'), 201, warned()),
    bad('twice, Strict', validated('Strict', '"data":{},"data":{}'), {
        says: 'duplicate field \\"data\\"',
    }),
    bad('unknown and twice, Strict', validated('Strict', '"oops":1,"data":{},"data":{}'), {
        says: twice.replaceAll('"', '\\"'),
    }),
    invalid('another word', validated('strict', ''), {
        says: 'fieldValidation: Unsupported value: \\"strict\\"',
    }),
    invalid(
        'another word, with a patch',
        patch('merge', '{}', `${maps}/x?fieldValidation=x&dryRun=All`),
        { says: 'PatchOptions' },
    ),
    invalid(
        'another word for dryRun',
        { ...named(''), path: `${maps}?dryRun=all` },
        { says: 'dryRun: Unsupported value' },
    ),
    invalid(
        'two of them',
        { ...named(''), path: `${maps}?dryRun=All&dryRun=x` },
        { says: 'dryRun: Unsupported value' },
    ),
    invalid(
        'in a delete',
        { method: 'DELETE', path: `${maps}/x?dryRun=true` },
        { says: 'DeleteOptions' },
    ),
    bad('a text in its body', { method: 'DELETE', path: `${maps}/x`, body: '{"dryRun":"All"}' }),
    invalid(
        'in its body',
        { method: 'DELETE', path: `${maps}/x`, body: '{"dryRun":["true"]}' },
        { says: 'dryRun' },
    ),
];

// ---- options ----

const list = (query) => ({ path: `${maps}?${query}` });
const watch = (query) => list(`watch=1&${query}`);
const label = (text) => list(`labelSelector=${encodeURIComponent(text)}`);
const field = (text) => list(`fieldSelector=${encodeURIComponent(text)}`);
const options = [
    ...[
        'a in',
        'a in (',
        'a in b',
        'a notin',
        '=',
        '=b',
        ',,a',
        'a=b=c',
        'a b',
        '!',
        '!a=b',
        '-a',
        'a=-',
        'a/b/c',
        '/a',
        'a=b,',
        '(a)',
        'a>b',
        'a=\0',
        'a=\u00e9',
        `a=${'b'.repeat(64)}`,
        `${'a'.repeat(64)}=b`,
    ].map((text) => bad(`labels: ${JSON.stringify(text)}`, label(text))),
    bad('labels: not UTF-8', list('labelSelector=a%3D%ff')),
    ...[
        'metadata.name',
        'metadata.name in (a)',
        'data.a=b',
        'metadata.labels.a=b',
        'metadata.uid=a',
        '=a',
        'metadata.name=a\\',
        'metadata.name=\0',
    ].map((text) => bad(`fields: ${JSON.stringify(text)}`, field(text))),
    fine('limit: negative', list('limit=-1')),
    fine('limit: huge', list('limit=9223372036854775807')),
    ...['', '9223372036854775808', '1e3', 'abc', '0x10', '1.5', '--1', ' 1'].map((n) =>
        bad(`limit: ${n}`, list(`limit=${encodeURIComponent(n)}`)),
    ),
    ...['', 'abc', '1.5', '99999999999999999999'].flatMap((n) => [
        bad(`timeoutSeconds of a watch: ${n}`, watch(`timeoutSeconds=${n}`)),
        bad(`timeoutSeconds of a list: ${n}`, list(`timeoutSeconds=${n}`)),
    ]),
    ...[
        list('timeout=abc'),
        { path: `${maps}/x?timeout=abc` },
        { path: '/version?timeout=abc' },
        { path: '/apis?timeout=abc' },
        { method: 'DELETE', path: `${maps}/x?timeout=abc` },
        { method: 'POST', path: `${maps}?dryRun=All&timeout=abc`, body: '{}' },
    ].map((request) =>
        bad(`timeout: abc, ${request.method ?? 'GET'} ${request.path}`, request, {
            says:
                '"message":"invalid timeout specified in the request URL - ' +
                'time: invalid duration \\"abc\\""',
        }),
    ),
    ...['30', '2d', '1h 2m', '9999999h'].map((text) =>
        bad(`timeout: ${text}`, list(`timeout=${encodeURIComponent(text)}`)),
    ),
    ...['', '32s', '0', '1m0.5s'].map((text) => fine(`timeout: ${text}`, list(`timeout=${text}`))),
    fine('timeout of a watch', { method: 'HEAD', ...watch('timeout=abc&timeoutSeconds=1') }),
    ...[
        'x',
        '%25%25',
        'e30',
        'bnVsbA',
        'eyJ2IjoxfQ',
        'AAAA',
        '%00',
        encodeURIComponent(
            Buffer.from('{"v":"meta.k8s.io/v1","rv":-5,"start":"../../secrets/x"}').toString(
                'base64url',
            ),
        ),
    ].map((token) => bad(`continue: ${token}`, list(`limit=1&continue=${token}`))),
    ...['abc', '-1', '1.5', '0x1', ' 1', '18446744073709551616', '%00'].flatMap((v) => [
        bad(`list of resourceVersion ${v}`, list(`resourceVersion=${encodeURIComponent(v)}`)),
        bad(`watch from resourceVersion ${v}`, watch(`resourceVersion=${encodeURIComponent(v)}`)),
    ]),
    [
        'list of a future version',
        list('resourceVersion=999999999'),
        504,
        'Timeout',
        { says: 'Too large resource version' },
    ],
    invalid('match without a version', list('resourceVersionMatch=Exact')),
    invalid('match that is none', list('resourceVersion=1&resourceVersionMatch=Newest')),
    invalid('match that is not UTF-8', list('resourceVersion=1&resourceVersionMatch=%ff%22')),
    invalid('match Exact of 0', list('resourceVersion=0&resourceVersionMatch=Exact')),
    invalid('initial events of a list', list('sendInitialEvents=true')),
    invalid('initial events without match', watch('sendInitialEvents=true')),
    invalid(
        'initial events with Exact',
        watch('sendInitialEvents=true&resourceVersion=1&resourceVersionMatch=Exact'),
    ),
    invalid('match of a watch', watch('resourceVersion=1&resourceVersionMatch=NotOlderThan')),
    ...['name', 'resource%ff', 'a"b', 'x'.repeat(3000)].map((word) =>
        bad(
            `a selector of ${word.slice(0, 12)}`,
            list(`fieldSelector=${word.replaceAll('"', '%22')}%3D1`),
        ),
    ),
    bad('a selector of 1,025 labels', list(`labelSelector=${Array(1025).fill('a').join()}`)),
    invalid('initial events of a list: perhaps', list('sendInitialEvents=perhaps')),
    invalid('initial events: perhaps', watch('sendInitialEvents=perhaps')),
    ...['', 'false', 'perhaps'].map((word) => fine(`pretty: ${word}`, list(`pretty=${word}`))),
];

// ---- URLs and methods ----

const page = (name, path, more) => [name, { path, ...more }, 404, 'page'];
const urls = [
    bad('a percent sign', { path: '/api/v1/%' }),
    bad('half an escape', { path: '/api/v1/%2' }),
    bad('no digits', { path: '/api/v1/%zz' }),
    bad('a NUL', { path: `${maps}/%00` }),
    bad('dots', { path: '/api/v1/../v1' }),
    bad('a dot', { path: '/api/./v1' }),
    bad('escaped dots', { path: '/api/%2e%2e/v1' }),
    bad('half escaped dots', { path: '/api/.%2e/v1' }),
    bad('an escaped slash', { path: '/api%2fv1' }),
    bad('two slashes', { path: '//api/v1' }),
    bad('two slashes within', { path: '/api//v1' }),
    bad('two slashes at the end', { path: '/api/v1//' }),
    bad('65 segments', { path: '/a'.repeat(65) }),
    bad('a percent sign in the query', list('limit=%')),
    bad('a NUL in the query', list('limit=%00')),
    bad('257 parameters', list(Array(257).fill('a=b').join('&'))),
    ['an escape twice', { path: `${maps}/%252e%252e` }, 404, 'NotFound'],
    ['a name that is not UTF-8', { path: `${maps}/%ff` }, 404, 'NotFound'],
    ['a backslash', { path: `${maps}/..%5c..` }, 404, 'NotFound'],
    ['a long name', { path: `${maps}/${'a'.repeat(4000)}` }, 404, 'NotFound'],
    [
        'a long namespace',
        { path: `/api/v1/namespaces/${'a'.repeat(4000)}/configmaps/x` },
        404,
        'NotFound',
    ],
    fine('a list of a long namespace', {
        path: `/api/v1/namespaces/${'a'.repeat(4000)}/configmaps`,
    }),
    fine('a list of a namespace that is not UTF-8', {
        path: '/api/v1/namespaces/%ff%0a/configmaps',
    }),
    ['a name with a line end', { path: `${maps}/a%0d%0aX:%20y` }, 404, 'NotFound'],
    page('no such group', '/apis/nothing/v1/configmaps'),
    page('no such version', '/api/v2/configmaps'),
    ['no such resource', { path: '/api/v1/nothings' }, 404, 'NotFound'],
    ['no such subresource', { path: `${maps}/x/nothing` }, 404, 'NotFound'],
    ['too deep', { path: `${maps}/x/status/more` }, 404, 'NotFound'],
    ['a resource in capitals', { path: '/api/v1/ConfigMaps' }, 404, 'NotFound'],
    page('nothing at all', '/nothing'),
    page('another case', '/API/v1'),
];

const no = (name, request) => [name, request, 405, 'MethodNotAllowed'];
const none = (name, request) => [name, { anonymous: true, ...request }, 401, 'Unauthorized'];
const methods = [
    ...['FOO', 'get', 'TRACE', 'OPTIONS', 'PROPFIND', 'M'.repeat(32)].flatMap((method) => [
        no(`${method} of a collection`, { method, path: maps }),
        no(`${method} of a name`, { method, path: `${maps}/x` }),
    ]),
    no('POST of a name', { method: 'POST', path: `${maps}/x`, body: '{"metadata":{"name":"y"}}' }),
    no('POST of a watch', {
        method: 'POST',
        path: '/api/v1/watch/namespaces/default/configmaps',
        body: '{"metadata":{"name":"y"}}',
    }),
    no('POST to all namespaces', {
        method: 'POST',
        path: '/api/v1/configmaps',
        body: '{"metadata":{"name":"y"}}',
    }),
    no('PUT of a collection', { method: 'PUT', path: maps, body: '{}' }),
    no('PATCH of a collection', patch('merge', '{}', maps)),
    no('DELETE of all namespaces', { method: 'DELETE', path: '/api/v1/namespaces' }),
    no('DELETE of a status', {
        method: 'DELETE',
        path: '/api/v1/namespaces/default/services/kubernetes/status',
    }),
    no('a list of reviews', { path: `${reviews}/selfsubjectaccessreviews` }),
    fine('HEAD of a collection', { method: 'HEAD', path: maps }),
    fine('HEAD of a name', { method: 'HEAD', path: `${maps}/x` }),
    fine('HEAD of a watch', { method: 'HEAD', path: `${maps}?watch=1&timeoutSeconds=1` }),
    fine('HEAD of nothing', { method: 'HEAD', path: `${maps}/nothing` }, 404),
    page('POST of a document', '/version/nothing', { method: 'POST', body: '{}' }),
    bad('delete: a brace', { method: 'DELETE', path: `${maps}/x`, body: '{' }),
    bad('delete: an array', { method: 'DELETE', path: `${maps}/x`, body: '[]' }),
    bad('delete: another kind', {
        method: 'DELETE',
        path: `${maps}/x`,
        body: '{"kind":"ConfigMap","apiVersion":"v1"}',
    }),
    [
        'delete: another uid',
        { method: 'DELETE', path: `${maps}/x`, body: '{"preconditions":{"uid":"a"}}' },
        409,
        'Conflict',
    ],
    invalid('delete: another policy', {
        method: 'DELETE',
        path: `${maps}/x?propagationPolicy=Some`,
    }),
    invalid('delete: another policy in the body', {
        method: 'DELETE',
        path: `${maps}/x`,
        body: '{"propagationPolicy":"Some"}',
    }),
    invalid('delete: two policies', {
        method: 'DELETE',
        path: `${maps}/x`,
        body: '{"propagationPolicy":"Orphan","orphanDependents":true}',
    }),
    ...['uid=a', 'resourceVersion=1'].map((query) => [
        `delete: ${query}`,
        { method: 'DELETE', path: `${maps}/x?${query}` },
        409,
        'Conflict',
    ]),
    invalid('delete: two policies in the query', {
        method: 'DELETE',
        path: `${maps}/x?propagationPolicy=Orphan&orphanDependents=1`,
    }),
    ...[`${maps}/x`, maps].map((path) =>
        bad(
            `delete: gracePeriodSeconds of ${path}`,
            { method: 'DELETE', path: `${path}?gracePeriodSeconds=abc` },
            { says: 'strconv.ParseInt: parsing \\"abc\\": invalid syntax' },
        ),
    ),
    fine('delete: a grace period', {
        method: 'DELETE',
        path: `${maps}/x?gracePeriodSeconds=-1&dryRun=All`,
    }),
    bad('delete of many: a brace', { method: 'DELETE', path: maps, body: '{' }),
    bad('delete of many: bad labels', { method: 'DELETE', path: `${maps}?labelSelector=%21` }),
    none('no credential', { path: maps }),
    ...[
        'Bearer',
        'Bearer ',
        'Bearer x',
        'Bearer a b',
        'Basic eDp5',
        'bearer',
        'x',
        'Bearer vd_',
        'Bearer a.b.c',
        `Bearer ${'x'.repeat(16000)}`,
        'Bearer \xff',
    ].map((text) =>
        none(`Authorization: ${text.slice(0, 20)}`, {
            path: maps,
            headers: { Authorization: text },
        }),
    ),
];

export const badRequests = {
    json,
    objects,
    questions,
    yamls,
    protobufs,
    types,
    patches,
    fields,
    options,
    urls,
    methods,
};
