// What the programs of this folder share: TAP lines, and waiting with an end.
let count = 0;
let failed = 0;

export async function tap(name, run) {
    count++;
    try {
        await run();
        console.log(`ok ${count} - ${name}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${count} - ${name}`);
        console.log(String(error.stack ?? error).replace(/^/gm, '# '));
    }
}

export function equal(got, want) {
    const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
    if (a !== b) throw new Error(`got ${a}, wanted ${b}`);
}

export async function until(what, test) {
    const deadline = Date.now() + 30000;
    while (!(await test())) {
        if (Date.now() > deadline) throw new Error(`never: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

export function finish() {
    console.log(`1..${count}`);
    process.exit(failed ? 1 : 0);
}
