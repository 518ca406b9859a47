// The outer loop, as training/run.py, training/orders.py and training/solutions.py of the package
// have it: epochs over the rows in an order until a stop rule holds. The kernels do the rest.

import { Rows } from "./engine.js";

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
		this.demanding = this.above > 0 || this.below < 0;
	}

	/** Learn from an order, from a position on, until there is one update, or without any (most = 0). */
	learn(state, order, start, most, end = order.length) {
		const { engine, rows } = this, { w, b } = state;
		const { address } = order, { above, below, interceptStep, classes } = this, { X, size, n, d, steps, labels, log } = rows;
		if (classes) engine.call("multiclass", X, size, n, d, classes, steps, labels, address, end, start, w, b, above, interceptStep, log, most, engine.out);
		else engine.call("perceptron", X, size, n, d, steps, address, end, start, w, b, above, below, interceptStep, log, most, engine.out);
		const position = engine.result(0), count = engine.result(1), loss = engine.result(2);
		if (count < most && position < end) throw new NotFiniteError(order.rows[position]);
		const update = count ? rows.logged() : null;
		const errors = update && this.demanding ? Number(update.margin <= 0) : count;
		return { position, update, errors, loss, rows: position - start };
	}

	/** Every row's label times activation, or the lead of its class, under weights at an address. */
	margins({ w, b }) {
		const { engine, rows, everything, marginsAt } = this;
		const range = [everything.address, everything.length, w, b, marginsAt];
		if (this.classes) engine.call("multiclass_margins", ...rows.given, this.classes, rows.labels, ...range);
		else engine.call("perceptron_margins", ...rows.given, rows.steps, ...range);
		return engine.memory.view(Float64Array, marginsAt, rows.n);
	}

	/** What the margin of a row must exceed to be right. */
	required(i) {
		return this.classes || this.rows.stepSizes[i] > 0 ? this.above : -this.below;
	}

	/** Sum what the weights before an update lack of it. */
	addMissing(state, order) {
		const { engine, rows } = this;
		const range = [order.address, order.length, state.seen, rows.log, 1, state.u, state.ub, this.interceptStep];
		if (this.classes) engine.call("multiclass_missing", ...rows.given, this.classes, rows.labels, ...range);
		else engine.call("perceptron_missing", ...rows.given, ...range);
	}
}

/** A task whose rows are all judged by the same weights, which then move once (training/batch.py). */
export class BatchTask {
	constructor(task) {
		this.task = task;
		this.log = task.engine.memory.allocate(32 * Math.max(task.rows.n, 1));
	}

	learn(state, order) {
		const { task } = this, { rows } = task, k = task.classes || 1;
		const batch = task.classes ? this.findRivals(state, order) : this.findMistakes(state);
		this.total = new Float64Array(state.size);
		this.totalOfBias = new Float64Array(k);
		let errors = 0, loss = 0;
		for (const { position, rival, margin, step } of batch) {
			const i = order.rows[position], own = task.classes ? rows.labelAt(i) : 0;
			rows.row(i).forEach((value, j) => {
				this.total[j * k + own] += step * value;
				if (task.classes) this.total[j * k + rival] -= step * value;
			});
			this.totalOfBias[own] += step * task.interceptStep;
			if (task.classes) this.totalOfBias[rival] -= step * task.interceptStep;
			errors += !task.demanding || margin <= 0 ? 1 : 0;
			loss += Math.max(-margin, 0);
		}
		state.move(this.total, this.totalOfBias);
		const update = batch.length ? { position: order.length - 1, rival: -1, margin: NaN, batch } : null;
		return { position: order.length, update, errors, loss, rows: order.length };
	}

	findMistakes(state) {
		const { task } = this, { stepSizes } = task.rows, found = [];
		task.margins(state).forEach((margin, position) => {
			if (!Number.isFinite(margin)) throw new NotFiniteError(position);
			if (!(margin > task.required(position))) found.push({ position, rival: 0, margin, step: stepSizes[position] });
		});
		return found;
	}

	/** A kernel without steps changes nothing, and tells the rivals. */
	findRivals(state, order) {
		const { task, log } = this, { engine, rows } = task, { memory } = engine, mark = memory.mark();
		const still = memory.put(Float64Array, new Float64Array(rows.n));
		engine.call("multiclass", ...rows.given, task.classes, still, rows.labels, order.address, order.length, 0,
			state.w, state.b, task.above, task.interceptStep, log, rows.n, engine.out);
		const position = engine.result(0), count = engine.result(1);
		memory.release(mark);
		if (position < order.length) throw new NotFiniteError(order.rows[position]);
		return Array.from({ length: count }, (_, t) => {
			const update = rows.logged(log + 32 * t);
			return { ...update, step: rows.stepSizes[order.rows[update.position]] };
		});
	}

	/** Each pass counts with the weights that it led to. */
	addMissing(state) {
		state.lack(this.total, this.totalOfBias, state.seen);
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

	record(task, order, update) {
		super.record(task, order, update);
		task.addMissing(this, order);
	}

	/** Sum what past weights lack of an update that comes after so many rows. */
	lack(total, totalOfBias, rows) {
		const u = this.memory.view(Float64Array, this.u, this.size), ub = this.memory.view(Float64Array, this.ub, this.outputs);
		total.forEach((value, j) => (u[j] += rows * value));
		totalOfBias.forEach((value, c) => (ub[c] += rows * value));
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

/** The last weights; the votes follow from the updates (see `countVotes`). */
class Vote extends Last {}

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

const SOLUTIONS = { last: Last, average: Average, vote: Vote, pocket: Pocket };

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
	*replacement(run) {
		yield run.draw(run.epoch);
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
	constructor(task, { order = "each", solution = "last", maxIter = 100, seed = 0, start = null }) {
		this.task = task;
		this.learns = order === "batch" ? new BatchTask(task) : task;
		this.memory = task.engine.memory;
		this.state = new SOLUTIONS[solution](task, start);
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

	/** As many rows as there are, drawn with replacement; what would favour a row is drawn again. */
	draw(number) {
		const { engine, everything } = this.task, n = BigInt(everything.length), drawn = [];
		let state = engine.mix(BigInt(this.seed)) ^ engine.mix(~BigInt(number));
		while (drawn.length < everything.length) {
			state += 0x9e3779b97f4a7c15n;
			const product = (engine.mix(state) >> 32n) * n;
			if ((product & 0xffffffffn) >= 2n ** 32n % n) drawn.push(everything.rows[Number(product >> 32n)]);
		}
		return this.orderOf(Uint32Array.from(drawn));
	}

	/** Whether every row is right. */
	get isClean() {
		return this.task.margins(this.state).every((margin, i) => margin > this.task.required(i));
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
		const clean = this.count.mistakes === 0 && (this.order !== "replacement" || this.isClean); // a draw may miss rows
		const reason = this.state.stopReason(clean);
		this.epochs.push({ epoch: this.epoch, ...this.count });
		this.stopReason = reason || (this.epochs.length >= this.maxIter ? "max_iter" : "");
		this.newCount();
		this.afterEpoch?.();
	}
}
