// The dual form: kernel values, and the pass over them by the package's kernel, as dual/ has it.

import { arrayAt } from "./engine.js";
import { thresholds } from "./run.js";

/** Computes kernel values, in the order of operations of `Gram`. */
export class Kernel {
	constructor({ kernel, gamma = 1, degree = 2, coef0 = 1 }) {
		Object.assign(this, { kernel, gamma, degree, coef0 });
	}

	value(x, z) {
		const product = x[0] * z[0] + x[1] * z[1];
		if (this.kernel === "linear") return product;
		if (this.kernel === "rbf") {
			const square = x[0] * x[0] + x[1] * x[1] + (z[0] * z[0] + z[1] * z[1]) - 2 * product;
			return Math.exp(-this.gamma * Math.max(square, 0));
		}
		const shaped = product * this.gamma + this.coef0;
		return this.kernel === "sigmoid" ? Math.tanh(shaped) : power(shaped, this.degree);
	}

	/** The kernel values of one row with many. */
	line(x, X) {
		return Float64Array.from(X, (z) => this.value(x, z));
	}

	/** All kernel values of some rows with each other. */
	gram(X) {
		return X.map((x) => this.line(x, X));
	}
}

/** A value to a power, by squaring when it is whole. */
export function power(value, degree) {
	if (!Number.isInteger(degree) || degree < 1) return value ** degree;
	let found = value;
	for (const bit of degree.toString(2).slice(1)) {
		found *= found;
		if (bit === "1") found *= value;
	}
	return found;
}

/** What is learnt in the dual form, for two classes: a solution for `Run`. */
export class DualState {
	constructor(engine, X, y, settings) {
		const { memory } = engine, n = X.length;
		Object.assign(this, { engine, memory, y, n });
		this.kernel = new Kernel(settings);
		this.gram = this.kernel.gram(X);
		Object.assign(this, thresholds(settings));
		this.interceptStep = settings.intercept_step === "radius" ? Math.max(...this.gram.map((line, i) => line[i])) : Number(settings.intercept_step);
		this.lines = memory.allocate(8 * n * n);
		this.places = memory.allocate(8 * n);
		this.steps = memory.allocate(8 * n);
		this.scoresAt = memory.allocate(8 * n);
		this.b = memory.put(Float64Array, [0]);
		this.log = memory.allocate(64 * (n + 1));
		this.learning = memory.put(Uint8Array, [1]);
		this.scores = new Float64Array(n); // of all rows, in their own order
		this.seen = this.mistakes = 0;
	}

	stopReason(clean) {
		return clean ? (this.mistakes ? "separated" : "zero_weights") : "";
	}

	*sweep(task, { rows }) {
		const view = (type, at, length) => this.memory.view(type, at, length);
		view(BigInt64Array, this.places, this.n).fill(-1n);
		view(Float64Array, this.steps, this.n).set(Float64Array.from(rows, (i) => (this.y[i] > 0 ? 1 : -1)));
		view(Float64Array, this.scoresAt, this.n).set(Float64Array.from(rows, (i) => this.scores[i]));
		let start = 0, used = 0, before = 0;
		while (start < this.n) {
			this.engine.call("replay", arrayAt(this.lines, this.n, this.n), arrayAt(this.places, this.n), arrayAt(this.steps, 1, this.n),
				arrayAt(0, 0), arrayAt(this.learning, 1), BigInt(start), arrayAt(this.scoresAt, 1, this.n), arrayAt(this.b, 1),
				this.above, this.below, this.interceptStep, arrayAt(this.log, this.n));
			const position = this.engine.whole(0), made = this.engine.whole(1);
			let update = null;
			if (made) {
				const [at] = view(Int32Array, this.log, 1), [step, , margin] = view(Float64Array, this.log + 40, 3);
				update = { position: at, rival: 0, margin, step };
				this.mistakes += 1;
			}
			if (position < this.n && view(BigInt64Array, this.places + 8 * position, 1)[0] >= 0n) {
				throw new Error(`The scores of row ${rows[position] + 1} are beyond what a number can hold; use a smaller degree or γ.`);
			}
			const scores = view(Float64Array, this.scoresAt, this.n);
			rows.forEach((i, t) => (this.scores[i] = scores[t]));
			if (made || position === this.n) {
				const errors = update ? Number(update.margin <= 0) : 0;
				yield { position, update, errors, loss: update && update.margin < 0 ? -update.margin : 0, rows: position - before };
				before = position;
			}
			start = position;
			if (start === this.n) break;
			const line = this.gram[rows[start]];
			view(Float64Array, this.lines + 8 * used * this.n, this.n).set(Float64Array.from(rows, (i) => line[i]));
			view(BigInt64Array, this.places + 8 * start, 1)[0] = BigInt(used++);
		}
		this.seen += this.n;
	}

	bias() {
		return this.memory.view(Float64Array, this.b, 1)[0];
	}
}
