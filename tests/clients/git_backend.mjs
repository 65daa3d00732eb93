// A host of Git repositories that is not always kind, for git_remotes_test.sh. It serves the
// folder of the first argument by `git http-backend`, and prints its port.
//
//     /plain/X.git     as it should be
//     /cut/X.git       breaks off a long answer in its middle
//     /drip/X.git      sends 100 bytes in 200 ms, of the list of refs, without an end
//     /locked/X.git    wants a password, and takes none
import { spawn } from 'node:child_process';
import http from 'node:http';

const root = process.argv[2];

function drip(response) {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
    const name = 'a'.repeat(40);
    response.write('001e# service=git-upload-pack\n0000');
    let i = 0;
    const timer = setInterval(() => response.write(`0050${name} refs/heads/${
        String(i++).padStart(23, '0')}\n`), 200);
    response.on('close', () => clearInterval(timer));
}

function lock(response) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="locked"' });
    response.end();
}

// The head of a CGI answer, and the rest.
function split(bytes) {
    const at = bytes.indexOf('\r\n\r\n');
    const head = { status: 200, fields: {} };
    for (const line of bytes.subarray(0, at).toString().split('\r\n')) {
        const [key, value] = line.split(': ');
        if (key === 'Status') head.status = parseInt(value, 10);
        else head.fields[key] = value;
    }
    return [head, bytes.subarray(at + 4)];
}

function answer(response, bytes, cuts) {
    const [head, body] = split(bytes);
    response.writeHead(head.status, { ...head.fields, 'content-length': body.length });
    if (!cuts || body.length < 1000000) response.end(body);
    else response.write(body.subarray(0, body.length * 2 / 3), () => response.destroy());
}

function serve(request, response, path, query, cuts) {
    const backend = spawn('git', ['http-backend'], { env: { ...process.env,
        GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1', PATH_INFO: path, QUERY_STRING: query,
        REQUEST_METHOD: request.method, CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: request.headers['git-protocol'] ?? '' } });
    const pieces = [];
    request.pipe(backend.stdin);
    backend.stdout.on('data', (piece) => pieces.push(piece));
    backend.on('close', () => answer(response, Buffer.concat(pieces), cuts));
}

const server = http.createServer((request, response) => {
    const [whole, query = ''] = request.url.split('?');
    const [, kind, ...rest] = whole.split('/');
    if (kind === 'drip') drip(response);
    else if (kind === 'locked') lock(response);
    else serve(request, response, `/${rest.join('/')}`, query, kind === 'cut');
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
