// TAP from a test in JavaScript, as tests/checks/tap.sh prints it from a shell.
let count = 0;
let failed = 0;

// One line; `problems` (a list of sentences) are shown below it, and fail it when there are any.
export function tap(name, problems) {
    count++;
    if (problems.length) failed++;
    console.log(`${problems.length ? 'not ok' : 'ok'} ${count} - ${name}`);
    for (const problem of problems.slice(0, 20))
        console.log(`# ${problem.replaceAll('\n', '\\n')}`);
    if (problems.length > 20) console.log(`# and ${problems.length - 20} more`);
}

// The plan. The process ends at once: what is still open belongs to the test.
export function tapEnd() {
    console.log(`1..${count}`);
    process.exit(failed || !count ? 1 : 0);
}

// Asks until the answer is true, for some seconds; says whether it became so.
export async function untilTrue(ask, seconds = 60) {
    const deadline = Date.now() + seconds * 1000;
    while (!(await ask())) {
        if (Date.now() > deadline) return false;
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return true;
}
