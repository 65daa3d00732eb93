// A `vedette serve` that a test may kill and start again on the same data. Each start takes free
// ports, so that nobody else's can be in the way; clients look at `http` and `tls` each time.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import readline from 'node:readline';

export class ServerProcess {
    constructor(binary, data, options) {
        this.binary = binary;
        this.data = data;
        this.options = options;
        this.process = null; // the last one that was started
        this.child = null; // the one that is up
        this.waiting = []; // for the next start
        this.starts = 0;
        // Rejects when it ends though nobody has told it to.
        this.death = new Promise((unused, reject) => (this.onDeath = reject));
        this.death.catch(() => {});
        this.log = fs.openSync(`${data}.log`, 'a');
    }

    token(user, groups) {
        const options = ['--data', this.data, '--user', user, '--groups', groups];
        return execFileSync(this.binary, ['token', 'create', ...options]).toString().trim();
    }

    async start() {
        const doors = ['--listen', '127.0.0.1:0', '--tls-listen', '127.0.0.1:0'];
        const options = ['serve', '--data', this.data, ...doors, ...this.options];
        const child = spawn(this.binary, options, { stdio: ['ignore', 'pipe', this.log] });
        this.process = child;
        this.gone = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
        const ready = new Promise((resolve, reject) => {
            const lines = readline.createInterface({ input: child.stdout });
            lines.on('line', (line) => line.startsWith('ready ') && resolve(line));
            this.gone.then(() => reject(new Error('the server did not start')));
        });
        const line = await ready;
        const pki = (name) => fs.readFileSync(`${this.data}/pki/${name}`);
        this.tlsFiles ??= { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
        this.http = { port: Number(/http:\/\/127\.0\.0\.1:([0-9]+)/.exec(line)[1]) };
        const port = Number(/https:\/\/127\.0\.0\.1:([0-9]+)/.exec(line)[1]);
        this.tls = { port, tls: this.tlsFiles };
        this.starts++;
        this.child = child;
        this.gone.then((code) => {
            if (this.child === child) this.onDeath(new Error(`the server ended with ${code}`));
        });
        for (const resolve of this.waiting.splice(0)) resolve();
    }

    // Ends it with a signal and waits until it is gone; SIGTERM must end it well.
    async stop(signal) {
        const { child } = this;
        this.child = null;
        child.kill(signal);
        const code = await this.gone;
        if (signal === 'SIGTERM' && code !== 0) throw new Error(`SIGTERM ended it with ${code}`);
    }

    // Nobody knocks while nobody is there.
    async up() {
        if (!this.child) await new Promise((resolve) => this.waiting.push(resolve));
    }
}
