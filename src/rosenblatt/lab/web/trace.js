// A run, written down: every update with the weights that it left, and every row that was met.

import { DualRun, Kernel } from "./dual.js";
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

/** Every row that a run met, the epoch, and how many updates there had been after it; written out when it is asked for. */
class Visits {
	constructor(run) {
		Object.assign(this, { run, pieces: [], order: null, position: 0, last: Infinity, known: null });
	}

	add(order, learnt) {
		if (!learnt.rows) return;
		const again = order === this.order && this.position < order.rows.length;
		const start = again ? this.position : 0;
		this.order = order;
		this.position = start + learnt.rows;
		const place = learnt.update ? learnt.update.position - start : -1;
		this.pieces.push({ rows: order.rows, start, end: this.position, place, epoch: this.run.epoch });
	}

	endEpoch(mistakes, everything) {
		if (this.run.order === "first" && !mistakes) this.pieces.push({ rows: everything, start: 0, end: everything.length, place: -1, epoch: this.run.epoch, isAll: true });
	}

	/** Leave out what came after the last update that is shown. */
	upTo(moment) {
		this.last = moment;
		return this;
	}

	get row() {
		return this.written.row;
	}

	get epoch() {
		return this.written.epoch;
	}

	get moment() {
		return this.written.moment;
	}

	get written() {
		return (this.known ??= this.write());
	}

	write() {
		const found = { row: [-1], epoch: [0], moment: [0] };
		let updates = 0;
		for (const { rows, start, end, place, epoch, isAll } of this.pieces) {
			const skipped = this.run.order === "first" && !isAll ? rows[start] : 0; // those before it were right
			const some = skipped ? Array.from({ length: skipped + 1 }, (_, i) => i) : rows.subarray?.(start, end) ?? rows.slice(start, end);
			for (let t = 0; t < some.length; t++) {
				if (t === place + (place < 0 ? 0 : skipped)) updates += 1;
				if (updates > this.last || found.row.length > MOST_VISITS) return found;
				found.row.push(some[t]);
				found.epoch.push(epoch);
				found.moment.push(updates);
			}
		}
		return found;
	}
}

/** Go through a run and write down each update; `look` adds what belongs to the kind of run. */
function record(run, y, look) {
	const trace = { epoch: [0], row: [-1], position: [-1], rival: [-1], activation: [NaN], seen: [0], time: [0] };
	const batches = run.order === "batch" ? [[]] : null;
	const visits = new Visits(run);
	const everything = y.map((_, i) => i);
	let end = null;
	run.afterEpoch = () => {
		visits.endEpoch(run.epochs.at(-1).mistakes, everything);
		end = { count: trace.row.length - 1, seen: run.state?.seen ?? run.seen, epochs: run.epochs.length };
		look(trace.row.length - 1, 0, true);
	};
	look(0, 0, false);
	for (const { order, learnt } of run.updates()) {
		visits.add(order, learnt);
		const { update } = learnt;
		if (!update) continue;
		const row = batches ? -1 : order.rows[update.position], seen = run.state?.seen ?? run.seen;
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
		const found = ["last", "vote"].includes(settings.solution) ? last : { weights: [], bias: [] };
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

/** Three problems, each of one class against the rest, that go through the rows side by side. */
export function traceOneVsRest(engine, points, settings, classes) {
	const runs = Array.from({ length: classes }, (_, c) => {
		const y = points.y.map((label) => (label === c ? 1 : -1));
		return traceLinear(engine, { X: points.X, y }, settings);
	});
	const made = [];
	runs.forEach((run, c) => {
		for (let k = 1; k <= run.last; k++) made.push({ epoch: run.epoch[k], time: run.time[k], c, k });
	});
	made.sort((one, other) => one.epoch - other.epoch || one.time - other.time || one.c - other.c);
	const done = new Array(classes).fill(0), width = points.X[0].length;
	const trace = { epoch: [0], row: [-1], position: [-1], towards: [-1], away: [-1], activation: [NaN] };
	const found = { weights: [], bias: [] };
	const look = () => {
		const weights = new Float64Array(width * classes), bias = new Float64Array(classes);
		runs.forEach((run, c) => {
			for (let j = 0; j < width; j++) weights[j * classes + c] = run.found.weights[done[c]][j];
			bias[c] = run.found.bias[done[c]][0];
		});
		found.weights.push(weights);
		found.bias.push(bias);
	};
	look();
	for (const { epoch, c, k } of made) {
		const row = runs[c].row[k], isOwn = points.y[row] === c;
		done[c] = k;
		trace.epoch.push(epoch);
		trace.row.push(row);
		trace.position.push(runs[c].position[k]);
		trace.towards.push(isOwn ? c : -1);
		trace.away.push(isOwn ? -1 : c);
		trace.activation.push(runs[c].activation[k]);
		look();
	}
	const longest = runs.reduce((one, other) => (other.epochs.length > one.epochs.length ? other : one));
	const reasons = runs.map((run) => run.stopReason);
	const stopReason = reasons.every((reason) => reason === "separated") ? "separated" : reasons.every(Boolean) ? "max_iter" : "";
	const visits = { row: trace.row, epoch: trace.epoch, moment: trace.row.map((_, k) => k) };
	return {
		kind: "classes", ...trace, rival: [], last: made.length, epochs: longest.epochs, stopReason, cut: !stopReason,
		visits, X: points.X, y: points.y, interceptStep: runs[0].interceptStep, lines: found, found, runs,
	};
}

/** Three classes at once: a mistake moves the right class towards the row, the best other away. */
export function traceClasses(engine, points, settings, classes) {
	if (settings.multi_class === "ovr") return traceOneVsRest(engine, points, settings, classes);
	const trace = traceLinear(engine, points, settings, classes);
	const towards = trace.row.map((row) => (row < 0 ? -1 : points.y[row]));
	return { ...trace, kind: "classes", towards, away: trace.rival };
}

/** The dual form with a kernel. */
export function traceKernel(engine, points, settings) {
	const mark = engine.memory.mark();
	try {
		const interceptStep = settings.intercept_step === "radius" ? "radius" : Number(settings.intercept_step);
		const run = new DualRun(engine, points.X, points.y, { ...settings, ...runOptions(settings), interceptStep });
		const bias = [];
		const trace = record(run, points.y, (moment) => (bias[moment] = run.bias()));
		bias.length = trace.last + 1;
		return { kind: "kernel", ...trace, X: points.X, y: points.y, gram: run.gram, kernel: run.kernel, bias, interceptStep: run.interceptStep };
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

/** The share of the votes at some places, from -1 (all against) to 1, for a line or a kernel. */
export function countVotes(engine, trace, settings, moment, places) {
	const mark = engine.memory.mark(), { memory } = engine, count = places.length;
	try {
		const rows = [...new Set(trace.row.slice(1, moment + 1))], place = new Map(rows.map((row, i) => [row, i]));
		const kernel = trace.kernel ?? new Kernel({ kernel: "linear" });
		const value = trace.kernel ? (x, z) => kernel.value(x, z) : (x, z) => x.reduce((sum, each, j) => sum + each * z[j], 0);
		const products = new Float64Array(rows.length * count);
		rows.forEach((row, i) => places.forEach((z, r) => (products[i * count + r] = value(trace.X[row], z))));
		const which = [], steps = [], survived = [];
		let before = 0;
		for (let k = 1; k <= moment; k++) {
			which.push(place.get(trace.row[k]));
			steps.push((settings.eta0 ?? 1) * (trace.y[trace.row[k]] > 0 ? 1 : -1));
			survived.push(trace.time[k] - before);
			before = trace.time[k];
		}
		survived.push(trace.seen[moment] - before);
		const start = trace.kernel ? null : trace.lines;
		const first = places.map((z) => (start ? z.reduce((sum, each, j) => sum + each * start.weights[0][j], start.bias[0][0]) : 0));
		const scores = memory.put(Float64Array, first), out = memory.put(Float64Array, new Float64Array(count));
		const zero = { positive: 1, negative: -1 }[settings.ties] ?? 0;
		engine.call("perceptron_votes", scores, memory.put(Float64Array, products), rows.length, count,
			memory.put(Uint32Array, which), memory.put(Float64Array, steps),
			memory.put(Float64Array, which.map(() => trace.interceptStep)), which.length, memory.put(Float64Array, survived), zero, out);
		return memory.view(Float64Array, out, count).map((share) => share / (trace.seen[moment] || 1));
	} finally {
		memory.release(mark);
	}
}
