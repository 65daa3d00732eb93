// Random choices that a test can make again: mulberry32, one generator for each actor.
export class Random {
    constructor(seed) {
        this.state = seed >>> 0;
    }

    // A number from 0 to below 1.
    next() {
        this.state = (this.state + 0x6d2b79f5) >>> 0;
        let z = this.state;
        z = Math.imul(z ^ (z >>> 15), z | 1);
        z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
        return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
    }

    below(n) {
        return Math.floor(this.next() * n);
    }

    between(low, high) {
        return low + this.below(high - low + 1);
    }

    percent(n) {
        return this.below(100) < n;
    }

    pick(list) {
        return list[this.below(list.length)];
    }
}

// VEDETTE_SEED, or a new one.
export function seedOfRun() {
    return Number(process.env.VEDETTE_SEED ?? Math.floor(Math.random() * 4294967296));
}
