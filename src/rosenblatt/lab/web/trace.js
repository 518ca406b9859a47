// A run, written down: every update with the weights that it left, and every row that was met.

import { DualState } from "./dual.js";
import { arrayAt } from "./engine.js";
import { LinearTask, Run } from "./run.js";

export const MOST_UPDATES = 5000;
export const MOST_VISITS = 50000;

const FEATURES = {
	product: ([x, y]) => [x, y, x * y],
	square: ([x, y]) => [x, y, x * x + y * y],
};

/** Points of the plane as the estimator sees them. */
export function featuresOf(settings, X) {
	return settings.form === "lifted" ? X.map(FEATURES[settings.third]) : X;
}

/** Whether the bias is learnt. */
export function hasBias(settings) {
	return settings.form !== "origin";
}

/** How far a mistake moves the bias: 0, 1, or R². */
export function interceptStepOf(settings, X) {
	if (!hasBias(settings)) return 0;
	if (settings.intercept_step !== "radius") return Number(settings.intercept_step);
	return Math.max(...X.map((x) => x.reduce((sum, value) => sum + value * value, 0)));
}

function runOptions(settings) {
	const { order, solution, max_iter: maxIter, random_state: seed } = settings;
	return { order, solution, maxIter, seed };
}

/** Every row that a run met, the epoch, and how many updates there had been after it. */
class Visits {
	constructor() {
		Object.assign(this, { row: [-1], epoch: [0], moment: [0], order: null, at: 0 });
	}

	add(rows, epoch, moment) {
		for (const row of rows) {
			if (this.row.length > MOST_VISITS) return;
			this.row.push(row);
			this.epoch.push(epoch);
			this.moment.push(moment);
		}
	}

	/** Add what was met of an order: its rows, the last of which may have led to an update. */
	follow({ order, learnt }, run, updates) {
		if (order !== this.order || this.at >= order.rows.length) [this.order, this.at] = [order, 0];
		const start = this.at, end = (this.at += learnt.rows), place = learnt.update ? learnt.update.position : end;
		if (run.order === "first" && end > start) this.add(Array(order.rows[start]).keys(), run.epoch, updates); // those before it were right
		this.add(order.rows.slice(start, place), run.epoch, updates);
		this.add(order.rows.slice(place, end), run.epoch, updates + 1);
	}

	/** Leave out what came after the last update that is shown. */
	upTo(moment) {
		const end = this.moment.findIndex((each) => each > moment);
		if (end >= 0) for (const name of ["row", "epoch", "moment"]) this[name].length = end;
		return { row: this.row, epoch: this.epoch, moment: this.moment };
	}
}

/** Go through a run and write down each update; `look` adds what belongs to the kind of run. */
function record(run, y, look) {
	const trace = { epoch: [0], row: [-1], position: [-1], rival: [-1], activation: [NaN], seen: [0], time: [0] };
	const batches = run.order === "batch" ? [[]] : null;
	const visits = new Visits();
	let end = null;
	run.afterEpoch = () => {
		if (run.order === "first" && !run.epochs.at(-1).mistakes) visits.add(y.keys(), run.epoch, trace.row.length - 1);
		end = { count: trace.row.length - 1, seen: run.state.seen, epochs: run.epochs.length };
		look(trace.row.length - 1, 0, true);
	};
	look(0, 0, false);
	for (const { order, learnt } of run.updates()) {
		visits.follow({ order, learnt }, run, trace.row.length - 1);
		const { update } = learnt;
		if (!update) continue;
		const row = batches ? -1 : order.rows[update.position], seen = run.state.seen;
		batches?.push(update.batch.map(({ position, rival, margin }) => {
			const own = order.rows[position];
			return { row: own, rival, activation: y[own] < 0 ? -margin : margin };
		}));
		trace.epoch.push(run.epoch);
		trace.row.push(row);
		trace.position.push(update.position);
		trace.rival.push(update.rival);
		trace.activation.push(y[row] < 0 ? -update.margin : update.margin); // of a batch, NaN
		trace.time.push(seen + update.position);
		trace.seen.push(seen + learnt.position);
		look(trace.row.length - 1, learnt.position, false);
		if (trace.row.length - 1 > MOST_UPDATES) break;
	}
	for (const name of ["epoch", "row", "position", "rival", "activation", "seen", "time"]) trace[name].length = end.count + 1;
	trace.seen[end.count] = end.seen;
	trace.batches = batches?.slice(0, end.count + 1);
	trace.last = end.count;
	trace.epochs = run.epochs.slice(0, end.epochs);
	trace.stopReason = run.stopReason;
	trace.cut = !run.stopReason;
	trace.visits = visits.upTo(end.count);
	return trace;
}

/** A line, a plane of three features, or the lines of three classes learnt at once. */
export function traceLinear(engine, points, settings, classes = 0) {
	const mark = engine.memory.mark();
	try {
		const X = featuresOf(settings, points.X);
		const interceptStep = interceptStepOf(settings, X);
		const task = new LinearTask(engine, X, points.y, { ...settings, interceptStep }, classes);
		const run = new Run(task, { ...runOptions(settings), start: startOf(settings) });
		const last = { weights: [], bias: [] };
		const found = settings.solution === "last" ? last : { weights: [], bias: [] };
		const look = (moment, more, isEnd) => {
			if (!isEnd) {
				last.weights[moment] = run.state.weights();
				last.bias[moment] = run.state.bias();
			}
			if (found === last) return;
			const now = run.state.coefficients(more);
			found.weights[moment] = now.weights;
			found.bias[moment] = now.bias;
		};
		const trace = record(run, points.y.map((label) => (classes ? 1 : label)), look);
		for (const part of [last, found]) for (const name of ["weights", "bias"]) part[name].length = trace.last + 1;
		return { kind: "linear", ...trace, X, y: points.y, interceptStep, lines: last, found };
	} finally {
		engine.memory.release(mark);
	}
}

/** The line that learning starts from, if there is one. */
export function startOf(settings) {
	if (!settings.start || !["bias", "origin"].includes(settings.form)) return null;
	const [w1, w2, b] = settings.start.split(",").map(Number);
	return { weights: Float64Array.of(w1, w2), bias: Float64Array.of(settings.form === "origin" ? 0 : b) };
}

/** The latest moment before another one with the very same weights and bias, or -1. */
export function findRepeat(trace, k) {
	if (trace.kind !== "linear") return -1;
	trace.repeats ??= findRepeats(trace.lines);
	return trace.repeats[k];
}

function findRepeats({ weights, bias }) {
	const known = new Map();
	return weights.map((values, moment) => {
		const key = `${values.join()};${bias[moment].join()}`;
		const before = known.get(key) ?? -1;
		known.set(key, moment);
		return before;
	});
}

/** Three classes at once: a mistake moves the right class towards the row, the best other away. */
export function traceClasses(engine, points, settings, classes) {
	const trace = traceLinear(engine, points, settings, classes);
	const towards = trace.row.map((row) => (row < 0 ? -1 : points.y[row]));
	return { ...trace, kind: "classes", towards, away: trace.rival };
}

/** The dual form with a kernel. */
export function traceKernel(engine, points, settings) {
	const mark = engine.memory.mark();
	try {
		const { X, y } = points, state = new DualState(engine, X, y, settings), bias = [];
		const run = new Run(new LinearTask(engine, X, y, { interceptStep: 0 }), { ...runOptions(settings), state });
		const trace = record(run, y, (moment) => (bias[moment] = state.bias()));
		bias.length = trace.last + 1;
		return { kind: "kernel", ...trace, X, y, gram: state.gram, kernel: state.kernel, bias, interceptStep: state.interceptStep };
	} finally {
		engine.memory.release(mark);
	}
}

// What a run predicts with at a moment

/** How often each row was mistaken, up to a moment. */
export function countMistakes(trace, moment, n) {
	const counts = new Int32Array(n);
	for (let k = 1; k <= moment; k++) for (const row of rowsAt(trace, k)) counts[row] += 1;
	return counts;
}

/** The rows that update k was made by: one, or all of a batch. */
export function rowsAt(trace, k) {
	return trace.batches ? trace.batches[k].map(({ row }) => row) : trace.row[k] < 0 ? [] : [trace.row[k]];
}

/** The coefficients of rows in the dual form at a moment: the last ones or their average. */
export function dualCoefficients(trace, moment, average) {
	const coef = new Float64Array(trace.X.length), missing = new Float64Array(trace.X.length);
	const seen = trace.seen[moment] || 1, step = trace.interceptStep;
	let bias = 0, missingBias = 0;
	for (let k = 1; k <= moment; k++) {
		const row = trace.row[k], y = trace.y[row] > 0 ? 1 : -1, time = trace.time[k];
		coef[row] += y;
		missing[row] += y * time;
		bias += y * step;
		missingBias += y * time * step;
	}
	if (!average) return { coef, bias };
	return { coef: coef.map((value, i) => value - missing[i] / seen), bias: bias - missingBias / seen };
}

/** The share of the votes at some places, from -1 (all against) to 1, in the dual form. */
export function countVotes(engine, trace, settings, moment, places) {
	const mark = engine.memory.mark(), { memory } = engine, count = places.length;
	try {
		const rows = [...new Set(trace.row.slice(1, moment + 1))], place = new Map(rows.map((row, i) => [row, i]));
		const products = rows.flatMap((row) => places.map((z) => trace.kernel.value(trace.X[row], z)));
		const made = trace.row.slice(1, moment + 1), times = trace.time.slice(1, moment + 1), ends = [...times, trace.seen[moment]];
		const zero = { positive: 1, negative: -1 }[settings.ties] ?? 0, put = (values) => memory.put(Float64Array, values);
		const putWhole = (values) => memory.put(BigInt64Array, values.map(BigInt)), none = putWhole(made.map(() => 0));
		const line = (address) => arrayAt(address, made.length), lasted = ends.map((time, k) => time - (k ? ends[k - 1] : 0));
		const scores = put(new Float64Array(count)), out = put(new Float64Array(count));
		engine.call("vote", arrayAt(put(products), rows.length, count), line(putWhole(made.map((row) => place.get(row)))),
			line(put(made.map((row) => (trace.y[row] > 0 ? 1 : -1)))), line(put(made.map(() => trace.interceptStep))), line(none), line(none),
			line(put(lasted)), zero, arrayAt(scores, 1, count), arrayAt(putWhole(places.map(() => 0)), count), arrayAt(out, 1, count));
		const activations = memory.view(Float64Array, scores, count), last = lasted.at(-1); // of the weights after the last update
		return memory.view(Float64Array, out, count).map((votes, r) => (votes + last * (Math.sign(activations[r]) || zero)) / (trace.seen[moment] || 1));
	} finally {
		memory.release(mark);
	}
}
