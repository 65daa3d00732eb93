// Requests that are wrong as HTTP, before anybody asks what they mean: [name, bytes, status]. The
// server answers once, with a Status, and closes the connection: what follows cannot be trusted.

const host = 'Host: x\r\n';
const get = (target, headers = host) => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
const next = get('/livez'); // what somebody tries to smuggle in
const post = (headers, body = '') =>
    `POST /api/v1/namespaces HTTP/1.1\r\n${host}${headers}\r\n${body}${next}`;
const chunked = (body) => post('Transfer-Encoding: chunked\r\n', body);
const header = (line) => get('/livez', `${host}${line}\r\n`);
const start = (line) => `${line}\r\n${host}\r\n`;

const framing = [
    [
        'a length and chunks',
        post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
        400,
    ],
    [
        'chunks and a length',
        post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n'),
        400,
    ],
    [
        'chunks and a length of 0',
        post('Transfer-Encoding: chunked\r\nContent-Length: 0\r\n', '0\r\n\r\n'),
        400,
    ],
    ['two lengths', post('Content-Length: 0\r\nContent-Length: 5\r\n'), 400],
    ['two equal lengths', post('Content-Length: 0\r\nContent-Length: 0\r\n'), 400],
    ['two lengths in capitals', post('Content-Length: 0\r\nCONTENT-LENGTH: 5\r\n'), 400],
    ['a list of lengths', post('Content-Length: 0, 0\r\n'), 400],
    ['a length with a sign', post('Content-Length: +0\r\n'), 400],
    ['a negative length', post('Content-Length: -1\r\n'), 400],
    ['a hexadecimal length', post('Content-Length: 0x0\r\n'), 400],
    ['an octal length', post('Content-Length: 00\r\n'), 400],
    ['an empty length', post('Content-Length:\r\n'), 400],
    ['a length with a point', post('Content-Length: 1.0\r\n'), 400],
    ['a length in two parts', post('Content-Length: 1 2\r\n'), 400],
    ['a length above 2^64', post('Content-Length: 18446744073709551616\r\n'), 413],
    ['a length of 30 digits', post(`Content-Length: ${'9'.repeat(30)}\r\n`), 413],
    ['a length that is too large', post('Content-Length: 3145729\r\n'), 413],
    ['a coding that is none', post('Transfer-Encoding: xchunked\r\n'), 501],
    ['two codings', post('Transfer-Encoding: gzip, chunked\r\n'), 501],
    ['chunked, and then not', post('Transfer-Encoding: chunked, identity\r\n'), 501],
    ['chunked twice in one', post('Transfer-Encoding: chunked, chunked\r\n'), 501],
    ['a coding with a parameter', post('Transfer-Encoding: chunked;q=1\r\n'), 501],
    ['a quoted coding', post('Transfer-Encoding: "chunked"\r\n'), 501],
    ['a coding with a control character', post('Transfer-Encoding: \x0bchunked\r\n'), 400],
    ['an empty coding', post('Transfer-Encoding:\r\n'), 501],
    [
        'two headers of codings',
        post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'),
        400,
    ],
    [
        'a coding and none',
        post('Transfer-Encoding: chunked\r\nTransfer-encoding: identity\r\n'),
        400,
    ],
    ['a blank before the colon', post('Transfer-Encoding : chunked\r\n'), 400],
    ['a tab before the colon', post('Content-Length\t: 5\r\n'), 400],
    ['a blank before the name', post(' Transfer-Encoding: chunked\r\n'), 400],
    ['a folded coding', post('Transfer-Encoding:\r\n chunked\r\n'), 501],
    ['a folded header', post('X: a\r\n b\r\n'), 400],
    ['a header folded with a tab', post('X: a\r\n\tb\r\n'), 400],
    [
        'chunks in HTTP/1.0',
        `POST / HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${next}`,
        400,
    ],
];

const chunks = [
    ['a chunk of 17 digits', chunked('00000000000000005\r\nhello\r\n0\r\n\r\n'), 400],
    ['a chunk above 2^64', chunked(`1${'0'.repeat(16)}\r\n`), 400],
    ['a chunk of 2^64 - 1', chunked('FFFFFFFFFFFFFFFF\r\n'), 413],
    ['a chunk that is too large', chunked('300001\r\n'), 413],
    ['a chunk with 0x', chunked('0x5\r\nhello\r\n0\r\n\r\n'), 400],
    ['a chunk with a sign', chunked('+5\r\nhello\r\n0\r\n\r\n'), 400],
    ['a negative chunk', chunked('-5\r\nhello\r\n0\r\n\r\n'), 400],
    ['a chunk after a blank', chunked(' 5\r\nhello\r\n0\r\n\r\n'), 400],
    ['no size', chunked('\r\nhello\r\n0\r\n\r\n'), 400],
    ['no digit', chunked('g\r\nhello\r\n0\r\n\r\n'), 400],
    ['a chunk with LF alone', chunked('5\nhello\n0\n\n'), 400],
    ['data that ends with LF', chunked('5\r\nhello\n0\r\n\r\n'), 400],
    ['more data than said', chunked('5\r\nhello!\r\n0\r\n\r\n'), 400],
    ['less data than said', chunked('9\r\nhello\r\n0\r\n\r\n'), 400],
    ['a long extension', chunked(`5;${'x'.repeat(2000)}\r\nhello\r\n0\r\n\r\n`), 400],
    ['a control character in an extension', chunked('5;\x01\r\nhello\r\n0\r\n\r\n'), 400],
    ['a CR in an extension', chunked('5;a\rb\r\nhello\r\n0\r\n\r\n'), 400],
    ['a trailer that is none', chunked('0\r\nnot a header\r\n\r\n'), 400],
    ['a folded trailer', chunked('0\r\nX: a\r\n b\r\n\r\n'), 400],
    ['a long trailer', chunked(`0\r\nX: ${'x'.repeat(9000)}\r\n\r\n`), 431],
];

const lines = [
    ['LF alone', 'GET /livez HTTP/1.1\nHost: x\n\n', 400],
    ['LF alone after a header', `GET /livez HTTP/1.1\r\nHost: x\n\r\n`, 400],
    ['LF alone at the end', `GET /livez HTTP/1.1\r\nHost: x\r\n\n`, 400],
    ['a CR in a header', header('X: a\rY: b'), 400],
    ['a CR before CR LF', header('X: a\r'), 400],
    ['a NUL in a header', header('X: a\0b'), 400],
    ['a NUL in a name', header('X\0: a'), 400],
    ['a NUL in the target', get('/livez\0'), 400],
    ['a NUL in the method', start('GE\0T /livez HTTP/1.1'), 400],
    ['a bell in a header', header('X: \x07'), 400],
    ['a DEL in a header', header('X: \x7f'), 400],
    ['a header without a colon', header('nothing'), 400],
    ['a header without a name', header(': nothing'), 400],
    ['a name with a blank', header('A b: c'), 400],
    ['a name with a bracket', header('A(b): c'), 400],
    ['a name with a high byte', header('A\xff: c'), 400],
    ['two empty lines first', `\r\n\r\n${next}`, 400],
    ['an LF first', `\n${next}`, 400],
    ['a blank first', ` ${next}`, 400],
];

const requestLines = [
    ['no version (HTTP/0.9)', 'GET /livez\r\n\r\n', 400],
    ['HTTP/1.2', start('GET /livez HTTP/1.2'), 505],
    ['HTTP/0.9, said', start('GET /livez HTTP/0.9'), 505],
    ['HTTP/3.0', start('GET /livez HTTP/3.0'), 505],
    ['HTTP/11', start('GET /livez HTTP/11'), 400],
    ['HTTP/1.10', start('GET /livez HTTP/1.10'), 400],
    ['http/1.1', start('GET /livez http/1.1'), 400],
    ['two blanks', start('GET  /livez HTTP/1.1'), 400],
    ['two blanks before the version', start('GET /livez  HTTP/1.1'), 400],
    ['a blank at the end', start('GET /livez HTTP/1.1 '), 400],
    ['tabs', start('GET\t/livez\tHTTP/1.1'), 400],
    ['no target', start('GET HTTP/1.1'), 400],
    ['a blank in the target', start('GET /live z HTTP/1.1'), 400],
    ['a high byte in the target', start('GET /\xff HTTP/1.1'), 400],
    ['a method with a bracket', start('G(T /livez HTTP/1.1'), 400],
    ['a long method', start(`${'M'.repeat(33)} /livez HTTP/1.1`), 501],
    ['CONNECT', start('CONNECT x:80 HTTP/1.1'), 501],
    ['a star for GET', get('*'), 400],
    ['a target without a slash', get('livez'), 400],
    ['another scheme', get('ftp://x/livez'), 400],
    ['a user in the target', get('http://u@x/livez'), 400],
    ['no host in the target', get('http:///livez'), 400],
    ['another host in the target', get('http://y/livez'), 400],
    ['no Host', get('/livez', ''), 400],
    ['two Hosts', get('/livez', 'Host: x\r\nHost: x\r\n'), 400],
    ['an empty Host', get('/livez', 'Host:\r\n'), 400],
    ['a Host with a path', get('/livez', 'Host: x/y\r\n'), 400],
    ['a Host with a user', get('/livez', 'Host: u@x\r\n'), 400],
    ['a Host with a blank', get('/livez', 'Host: x y\r\n'), 400],
    ['two Authorizations', header('Authorization: Bearer a\r\nAuthorization: Bearer b'), 400],
    ['two Content-Types', header('Content-Type: a/b\r\nContent-Type: c/d'), 400],
    ['another Expect', header('Expect: miracles'), 417],
];

const sizes = [
    ['a long target', get(`/livez?${'a'.repeat(8192)}`), 414],
    ['a long target without an end', `GET /${'a'.repeat(70000)}`, 414],
    ['a long header', header(`X: ${'a'.repeat(16384)}`), 431],
    ['a long name', header(`${'X'.repeat(16384)}: a`), 431],
    ['a header without an end', `GET /livez HTTP/1.1\r\n${host}X: ${'a'.repeat(70000)}`, 431],
    ['many headers', header(Array.from({ length: 100 }, (_, i) => `X-${i}: a`).join('\r\n')), 431],
    [
        'a long head',
        header(Array.from({ length: 5 }, (_, i) => `X-${i}: ${'a'.repeat(15000)}`).join('\r\n')),
        431,
    ],
];

const garbage = [
    [
        'a TLS hello on the plain door',
        '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + '\x00'.repeat(600),
        400,
    ],
    ['an SSH greeting', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 400],
    ['an SMTP greeting', 'EHLO example\r\n\r\n', 400],
    ['a JSON document', '{"kind":"ConfigMap"}\r\n\r\n', 400],
    ['high bytes', '\xff'.repeat(100) + '\r\n\r\n', 400],
    ['zeros', '\0'.repeat(5000), 400],
];

export const badHttp = { framing, chunks, lines, requestLines, sizes, garbage };

// What looks odd and is fine: [name, bytes, statuses, options for converse()].
export const oddHttp = [
    ['one empty line first', `\r\n${next}`, [200]],
    ['no blank after the colon', get('/livez', 'host:x\r\n'), [200]],
    ['tabs around a value', get('/livez', 'Host: \tx\t \r\n'), [200]],
    ['a high byte in a value', header('X: \xff'), [200]],
    ['an absolute target', get('http://x/livez'), [200]],
    ['one in capitals', get('HTTP://X/livez', 'Host: x\r\n'), [200]],
    ['a length of 0', header('Content-Length: 0'), [200]],
    ['a GET with a body', header('Content-Length: 5') + 'hello', [200]],
    [
        'chunks with extensions and a trailer',
        header('Transfer-Encoding: chunked') + '5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n',
        [200],
    ],
    [
        'chunk sizes with zeros',
        header('Transfer-Encoding: chunked') + '0005\r\nhello\r\n000\r\n\r\n',
        [200],
    ],
    [
        '99 headers more',
        header(Array.from({ length: 99 }, (_, i) => `X-${i}: a`).join('\r\n')),
        [200],
    ],
    ['three at once', next.repeat(3), [200, 200, 200]],
    ['HTTP/1.0', 'GET /livez HTTP/1.0\r\n\r\n', [200], { closes: true }],
    [
        'HTTP/1.0 that stays',
        'GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'.repeat(2),
        [200, 200],
    ],
    ['Connection: close', header('Connection: close') + next, [200], { closes: true }],
    [
        'HEAD',
        `HEAD /livez HTTP/1.1\r\n${host}\r\n${next}`,
        [200, 200],
        { methods: ['HEAD', 'GET'] },
    ],
    [
        'a good one before a bad one',
        `${next}${header('X : y')}${next}`,
        [200, 400],
        { closes: true },
    ],
    ['an upgrade that nobody offers', header('Connection: Upgrade\r\nUpgrade: nothing/1'), [200]],
    ['a WebSocket', header('Connection: Upgrade\r\nUpgrade: websocket'), [400]],
    ['an upgrade that is not meant', header('Upgrade: websocket'), [200]],
    ['Expect: 100-continue', header('Expect: 100-continue\r\nContent-Length: 5') + 'hello', [200]],
];
