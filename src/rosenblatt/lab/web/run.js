// The outer loop, as training/training.py and training/linear_state.py of the package
// have it: epochs over the rows in an order until a stop rule holds. The kernels do the rest.

import { Rows, arrayAt } from "./engine.js";

const TINIEST = Number.MIN_VALUE; // the number next to 0

/** When a row is right: thresholds that include 0 or not, as `ties` says. */
export function thresholds({ margin = 0, ties = "mistake" }) {
	let above = margin, below = -margin;
	if (margin === 0 && (ties === "positive" || ties === "correct")) above = -TINIEST;
	if (margin === 0 && (ties === "negative" || ties === "correct")) below = TINIEST;
	return { above, below };
}

/** Row numbers in an order, in the engine's memory. */
class Order {
	constructor(memory, rows, address = null) {
		this.rows = rows;
		this.length = rows.length;
		this.address = address ?? memory.put(Uint32Array, rows);
	}
}

/** Rows and labels of one problem, and the kernels that learn from them. */
export class LinearTask {
	/**
	 * @param {ArrayLike<number>[]} X
	 * @param {number[]} y labels -1 and +1, or class numbers from 0 when there are `classes`
	 * @param {{eta0?: number, margin?: number, ties?: string, interceptStep: number}} settings
	 * @param {number} classes how many are learnt at once, or 0 for two
	 */
	constructor(engine, X, y, settings, classes = 0) {
		const eta0 = settings.eta0 ?? 1;
		const steps = classes ? y.map(() => eta0) : y.map((label) => (label > 0 ? eta0 : -eta0));
		this.engine = engine;
		this.rows = new Rows(engine, X, steps, classes ? y : null);
		this.classes = classes;
		this.interceptStep = settings.interceptStep;
		Object.assign(this, thresholds(settings));
		this.everything = new Order(engine.memory, Uint32Array.from(X, (_, i) => i));
		this.marginsAt = engine.memory.allocate(8 * Math.max(X.length, 1));
		this.kind = classes ? "classes" : "two";
		this.target = classes ? arrayAt(engine.memory.allocate(8 * classes), classes) : [];
		this.demanding = this.above > 0 || this.below < 0;
	}

	/** Learn from an order, from a position on, until there is one update, or without any (most = 0). */
	learn(state, order, start, most, end = order.length) {
		const { engine, rows } = this;
		this.call(state, order, start, end, rows.log, most, false);
		const position = engine.whole(0), count = engine.whole(1), loss = engine.number(2);
		if (count < most && position < end) throw new NotFiniteError(order.rows[position]);
		const update = count ? rows.logged() : null;
		const errors = update && this.demanding ? Number(update.margin <= 0) : count;
		return { position, update, errors, loss, rows: position - start };
	}

	/** Call the kernel, which sums for an average if the state has sums; only them, if the weights rest. */
	call({ w, b, u = 0, ub = 0, seen }, order, start, end, log, most, rest) {
		const { engine, rows, above, below, interceptStep, kind, target } = this;
		engine.call(`${rest ? "batch" : "learn"}_${kind}`, target, above, below, interceptStep, rows.examples,
			arrayAt(order.address, end), BigInt(start), this.state(w, b, u, ub), seen, 0, 0, arrayAt(log, most));
	}

	/** Weights and biases, and their sums, if there are any. */
	state(w, b, u, ub) {
		const outputs = this.classes || 1, size = this.rows.d * outputs, sums = u ? 1 : 0;
		return [arrayAt(w, size), arrayAt(b, outputs), arrayAt(u, size * sums), arrayAt(ub, outputs * sums)].flat();
	}

	/** Every row's label times activation, or the lead of its class, under weights at an address. */
	margins({ w, b }) {
		const { engine, rows, everything, marginsAt } = this;
		engine.call(`margins_${this.kind}`, this.target, rows.examples, arrayAt(everything.address, everything.length),
			this.state(w, b, 0, 0), arrayAt(marginsAt, rows.n));
		return engine.memory.view(Float64Array, marginsAt, rows.n);
	}

	/** What the margin of a row must exceed to be right. */
	required(i) {
		return this.classes || this.rows.stepSizes[i] > 0 ? this.above : -this.below;
	}
}

/** A task whose rows are all judged by the same weights, which then move once (order="batch"). */
export class BatchTask {
	constructor(task) {
		const { memory } = task.engine, { n, d } = task.rows, k = task.classes || 1;
		this.task = task;
		this.log = memory.allocate(32 * Math.max(n, 1));
		this.u = memory.allocate(8 * d * k);
		this.ub = memory.allocate(8 * k);
	}

	learn(state, order) {
		const { task, u, ub, log } = this, { engine, rows } = task, { memory } = engine;
		const total = memory.view(Float64Array, u, state.size), totalOfBias = memory.view(Float64Array, ub, state.outputs);
		total.fill(0);
		totalOfBias.fill(0);
		task.call({ w: state.w, b: state.b, u, ub, seen: 0 }, order, 0, order.length, log, rows.n, true);
		const position = engine.whole(0), count = engine.whole(1), loss = engine.number(2);
		if (position < order.length) throw new NotFiniteError(order.rows[position]);
		const batch = Array.from({ length: count }, (_, t) => {
			const update = rows.logged(log + 32 * t);
			return { ...update, step: rows.stepSizes[order.rows[update.position]] };
		});
		state.move(total, totalOfBias);
		const errors = batch.filter(({ margin }) => !task.demanding || margin <= 0).length;
		const update = count ? { position: order.length - 1, rival: -1, margin: NaN, batch } : null;
		return { position: order.length, update, errors, loss, rows: order.length };
	}
}

export class NotFiniteError extends Error {
	constructor(row) {
		super(`The activation of row ${row + 1} is beyond what a number can hold; use smaller numbers.`);
	}
}

// Solutions: which of the weights that were tried become the model.

class Last {
	constructor(task, start = null) {
		const { memory } = task.engine, k = task.classes || 1;
		this.task = task;
		this.size = task.rows.d * k;
		this.outputs = k;
		this.w = memory.put(Float64Array, start?.weights ?? new Float64Array(this.size));
		this.b = memory.put(Float64Array, start?.bias ?? new Float64Array(k));
		this.seen = 0;
		this.mistakes = 0;
		this.memory = memory;
	}

	*sweep(task, order) {
		let position = 0;
		while (position < order.length) {
			const learnt = task.learn(this, order, position, 1);
			position = learnt.position;
			if (learnt.update) this.record(task, order, learnt.update);
			yield learnt;
		}
		this.seen += order.length;
	}

	record(task, order, update) {
		this.mistakes += update?.batch?.length ?? 1;
	}

	/** Add to the weights and the bias. */
	move(total, totalOfBias) {
		const w = this.memory.view(Float64Array, this.w, this.size), b = this.memory.view(Float64Array, this.b, this.outputs);
		total.forEach((value, j) => (w[j] += value));
		totalOfBias.forEach((value, c) => (b[c] += value));
	}

	stopReason(clean) {
		return clean ? cleanReason(this.weights()) : "";
	}

	weights() {
		return this.memory.numbers.slice(this.w >> 3, (this.w >> 3) + this.size);
	}

	bias() {
		return this.memory.numbers.slice(this.b >> 3, (this.b >> 3) + this.outputs);
	}

	/** The weights and bias to predict with, after so many rows of the order at hand. */
	coefficients() {
		return { weights: this.weights(), bias: this.bias() };
	}
}

class Average extends Last {
	constructor(task, start) {
		super(task, start);
		this.u = this.memory.put(Float64Array, new Float64Array(this.size));
		this.ub = this.memory.put(Float64Array, new Float64Array(this.outputs));
	}

	/** Move the weights after a pass that counts with those that it led to. */
	move(total, totalOfBias) {
		super.move(total, totalOfBias);
		const u = this.memory.view(Float64Array, this.u, this.size), ub = this.memory.view(Float64Array, this.ub, this.outputs);
		total.forEach((value, j) => (u[j] += this.seen * value));
		totalOfBias.forEach((value, c) => (ub[c] += this.seen * value));
	}

	coefficients(more = 0) {
		const total = this.seen + more || 1;
		const u = this.memory.view(Float64Array, this.u, this.size);
		const ub = this.memory.view(Float64Array, this.ub, this.outputs);
		return {
			weights: this.weights().map((value, j) => value - u[j] / total),
			bias: this.bias().map((value, c) => value - ub[c] / total),
		};
	}
}

class Pocket extends Last {
	constructor(task, start) {
		super(task, start);
		this.best = { weights: this.weights(), bias: this.bias() };
		this.bestRun = this.run = 0;
		this.errors = Infinity;
		this.measured = false;
	}

	*sweep(task, order) {
		let position = 0, start = 0;
		for (;;) {
			start = position;
			position = task.learn(this, order, start, 0).position;
			this.run += position - start;
			this.offer(task);
			if (position === order.length || this.errors === 0) break;
			const learnt = task.learn(this, order, position, 1, position + 1);
			learnt.update.position = position;
			this.record();
			this.run = 0;
			this.measured = false;
			position += 1;
			yield { ...learnt, position, rows: position - start };
		}
		this.seen += position;
		yield { position, update: null, errors: 0, loss: 0, rows: order.length - start };
	}

	offer(task) {
		if (this.run <= this.bestRun || this.measured) return;
		this.measured = true;
		let errors = 0;
		task.margins(this).forEach((margin, i) => {
			if (!(margin > Math.min(task.required(i), 0))) errors += Math.abs(task.rows.stepSizes[i]);
		});
		if (errors < this.errors) this.put(errors);
	}

	put(errors) {
		this.best = { weights: this.weights(), bias: this.bias() };
		this.bestRun = this.run;
		this.errors = errors;
	}

	stopReason(clean) {
		if (clean) this.put(0);
		return this.errors === 0 ? cleanReason(this.best.weights) : "";
	}

	coefficients() {
		return this.best;
	}
}

const SOLUTIONS = { last: Last, average: Average, pocket: Pocket };

/** What a pass without mistakes shows; where ties are right, weights of 0 make none either. */
function cleanReason(weights) {
	return weights.some((value) => value !== 0) ? "separated" : "zero_weights";
}

// Orders: each gives the sweeps of one epoch.

const READS_OF_HARD_ROWS = 2;

const ORDERS = {
	*each(run) {
		yield run.permutation(run.epoch);
	},
	*once(run) {
		yield run.permutation(0);
	},
	*fixed(run) {
		yield run.task.everything;
	},
	*batch(run) {
		yield run.task.everything;
	},
	*first(run) {
		const { everything } = run.task;
		const found = run.task.learn(run.state, everything, 0, 0).position;
		run.count.rows = found;
		yield run.orderOf(everything.rows.slice(found, found + 1));
	},
	*worst(run) {
		const { everything } = run.task, margins = run.task.margins(run.state);
		let chosen = -1;
		margins.forEach((margin, i) => {
			if (!(margin > run.task.required(i)) && (chosen < 0 || margin < margins[chosen])) chosen = i;
		});
		run.count.rows = everything.length - (chosen >= 0);
		yield run.orderOf(chosen >= 0 ? Uint32Array.of(chosen) : new Uint32Array());
	},
	*active(run) {
		const { everything } = run.task;
		yield everything;
		const hard = run.orderOf(everything.rows.filter((i) => run.mistaken.has(i)));
		let visits = 0;
		while (run.count.mistakes && visits < READS_OF_HARD_ROWS * everything.length) {
			const before = run.count.mistakes;
			yield hard;
			visits += hard.length;
			if (run.count.mistakes === before) break;
		}
	},
};

/** One training run; going through `updates` trains. */
export class Run {
	constructor(task, { order = "each", solution = "last", maxIter = 100, seed = 0, start = null, state = null }) {
		this.task = task;
		this.learns = order === "batch" ? new BatchTask(task) : task;
		this.memory = task.engine.memory;
		this.state = state ?? new SOLUTIONS[solution](task, start);
		this.order = order;
		this.seed = seed;
		this.maxIter = maxIter;
		this.epochs = [];
		this.stopReason = "";
		this.epoch = 0;
		this.mistaken = new Set();
		this.permuted = null;
		this.room = null; // of an order that is written again each epoch
		this.newCount();
	}

	newCount() {
		this.count = { rows: 0, mistakes: 0, errors: 0, loss: 0 };
	}

	/** An order of some rows, in memory that each of them overwrites. */
	orderOf(rows) {
		this.room ??= this.memory.allocate(4 * Math.max(this.task.rows.n, 1));
		this.memory.view(Uint32Array, this.room, rows.length).set(rows);
		return new Order(this.memory, rows, this.room);
	}

	permutation(number) {
		if (this.permuted?.number !== number) {
			const { everything, rows } = this.task;
			const order = this.orderOf(everything.rows);
			this.task.engine.shuffle(this.room, rows.n, this.seed, number);
			order.rows = this.memory.view(Uint32Array, this.room, rows.n).slice();
			this.permuted = { number, order };
		}
		return this.permuted.order;
	}

	/** Train; yield each sweep's order and what was learnt from it, up to an update at a time. */
	*updates() {
		while (!this.stopReason) {
			this.epoch += 1;
			for (const order of ORDERS[this.order](this)) {
				for (const learnt of this.state.sweep(this.learns, order)) {
					this.tally(order, learnt);
					yield { order, learnt };
				}
			}
			this.endEpoch();
		}
	}

	train() {
		for (const _ of this.updates());
		return this;
	}

	tally(order, learnt) {
		this.count.rows += learnt.rows;
		this.count.mistakes += learnt.update ? (learnt.update.batch?.length ?? 1) : 0;
		this.count.errors += learnt.errors;
		this.count.loss += learnt.loss;
		if (learnt.update) this.mistaken.add(order.rows[learnt.update.position]);
	}

	endEpoch() {
		const reason = this.state.stopReason(this.count.mistakes === 0);
		this.epochs.push({ epoch: this.epoch, ...this.count });
		this.stopReason = reason || (this.epochs.length >= this.maxIter ? "max_iter" : "");
		this.newCount();
		this.afterEpoch?.();
	}
}
