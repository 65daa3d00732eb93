// A watch for tests: writes what it receives, one JSON object a line, and ends with the stream.
//
//   node watch_client.mjs URL TOKEN >events
//
// Each line is {"type", "name", "version", "value"}; an ERROR event is {"type", "code", "reason"};
// the last one is {"type": "END", "status"} once the server closes or is gone.
import http from 'node:http';

const [url, token] = process.argv.slice(2);
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

function show({ type, object }) {
    if (type === 'ERROR') return say({ type, code: object.code, reason: object.reason });
    const { name, resourceVersion } = object.metadata;
    say({ type, name, version: resourceVersion, value: object.data?.v });
}

let ended = false;
function end(status) {
    if (!ended) say({ type: 'END', status });
    ended = true;
}

const request = http.get(url, { headers: { authorization: `Bearer ${token}` } }, (response) => {
    let rest = '';
    say({ type: 'OPEN', status: response.statusCode });
    response.setEncoding('utf8');
    response.on('data', (text) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines) show(JSON.parse(line));
    });
    response.on('error', () => end(response.statusCode));
    response.on('close', () => end(response.statusCode));
});
request.on('error', () => end(0));
