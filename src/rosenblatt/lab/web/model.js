// One run as the page shows it: what it predicts at each moment, its errors, and what is proved.

import { convexHull, decideInPlane, findCancelling, monomials, toIntegers } from "./exact.js";
import { kernelBound, mistakeBound } from "./margin.js";
import { activations, traceNetwork } from "./network.js";
import { conflictOf, countKinds, splitRows } from "./state.js";
import { countVotes, dualCoefficients, featuresOf, rowsAt, traceClasses, traceKernel, traceLinear } from "./trace.js";
import { thresholds } from "./run.js";

const MOST_EXACT_DEGREE = 6; // of a polynomial kernel, for a verdict in its space
const PATIENCE = 30; // milliseconds that a verdict may take at once

export class ShownRun {
	constructor(engine, points, settings, isHalved) {
		Object.assign(this, { engine, points, settings, trace: null, trouble: "" });
		this.kinds = countKinds(points);
		this.rows = splitRows(points, isHalved);
		const own = this.rows.learnt.map((i) => points[i]);
		this.X = own.map(([x, y]) => [x, y]);
		this.y = own.map(([, , kind]) => (this.kinds > 2 ? kind : kind ? -1 : 1));
		this.isStraight = ["bias", "origin"].includes(settings.form) || (settings.form === "kernel" && settings.kernel === "linear");
		const { above, below } = thresholds(settings);
		this.required = { 1: Math.min(above, 0), [-1]: Math.min(-below, 0) };
		this.trouble = this.learn();
	}

	/** Run the engine; return why it could not, or "". */
	learn() {
		const { engine, settings, kinds, X, y } = this;
		if (new Set(y).size < 2) {
			const have = y.length ? "points of one class only" : "no points";
			return `There are ${have}; place some of both classes, and learning begins.`;
		}
		const conflict = conflictOf(settings, kinds);
		if (conflict) return conflict;
		const points = { X, y };
		try {
			if (kinds > 2) this.trace = traceClasses(engine, points, settings, 3);
			else if (settings.form === "network") this.trace = traceNetwork(engine, points, settings);
			else if (settings.form === "kernel") this.trace = traceKernel(engine, points, settings);
			else this.trace = traceLinear(engine, points, settings);
		} catch (error) {
			return error.message;
		}
		return "";
	}

	get last() {
		return this.trace?.last ?? 0;
	}

	/** The number of the point that update k was made for, or -1. */
	rowOf(k) {
		const row = this.trace.row[k];
		return row < 0 ? -1 : this.rows.learnt[row];
	}

	/** The numbers of the points that update k was made for. */
	rowsOf(k) {
		return rowsAt(this.trace, k).map((row) => this.rows.learnt[row]);
	}

	get isVote() {
		return this.settings.solution === "vote" && this.trace?.kind === "kernel";
	}

	/** The weights and bias of the line that is drawn at a moment, if it is a line. */
	line(k) {
		if (this.trace?.kind !== "linear" || this.settings.form === "lifted") return null;
		return { w: this.trace.found.weights[k], b: this.trace.found.bias[k][0] };
	}

	/** The last weights at a moment, if they differ from what is drawn. */
	lastLine(k) {
		if (this.trace?.kind !== "linear" || this.settings.solution === "last" || this.settings.form === "lifted") return null;
		return { w: this.trace.lines.weights[k], b: this.trace.lines.bias[k][0] };
	}

	/** The weights and bias of each class at a moment. */
	classLines(k) {
		const { weights, bias } = this.trace.found;
		return [0, 1, 2].map((c) => ({ w: [weights[k][c], weights[k][3 + c]], b: bias[k][c] }));
	}

	/** A function that scores places of the plane at a moment: above 0 is the positive class. */
	scorer(k) {
		const { trace, settings } = this;
		if (!k && trace.kind !== "linear") return (places) => new Float64Array(places.length);
		if (this.isVote) return (places) => countVotes(this.engine, trace, settings, k, places);
		if (trace.kind === "linear") {
			const w = trace.found.weights[k], b = trace.found.bias[k][0];
			return (places) => Float64Array.from(featuresOf(settings, places), (x) => x.reduce((sum, value, j) => sum + value * w[j], b));
		}
		if (trace.kind === "network") return networkScorer(trace, k);
		const { coef, bias } = dualCoefficients(trace, k, settings.solution === "average");
		const support = trace.X.flatMap((x, i) => (coef[i] ? [[x, coef[i]]] : []));
		return (places) => Float64Array.from(places, (z) => support.reduce((sum, [x, amount]) => sum + amount * trace.kernel.value(x, z), bias));
	}

	/** What is learnt at a moment of some places: numbers of classes. */
	classify(k, places) {
		if (this.kinds > 2) {
			const lines = this.classLines(k);
			return places.map((z) => argmax(lines.map(({ w, b }) => w[0] * z[0] + w[1] * z[1] + b)));
		}
		const isPositive = this.settings.ties === "positive" ? (score) => score >= 0 : (score) => score > 0;
		return Array.from(this.scorer(k)(places), (score) => (isPositive(score) ? 0 : 1));
	}

	/** Every point's label times activation (or the lead of its class) at a moment. */
	margins(k) {
		if (this.kinds > 2) {
			const lines = this.classLines(k);
			return this.points.map(([x, y, kind]) => {
				const scores = lines.map(({ w, b }) => w[0] * x + w[1] * y + b), own = scores[kind];
				scores[kind] = -Infinity;
				return own - Math.max(...scores);
			});
		}
		const line = this.line(k);
		if (line) {
			const [w1, w2] = line.w;
			return this.points.map(([x, y, kind]) => (kind ? -(x * w1 + y * w2 + line.b) : x * w1 + y * w2 + line.b));
		}
		const places = this.points.map(([x, y]) => [x, y]);
		return Array.from(this.scorer(k)(places), (score, i) => (this.points[i][2] ? -score : score));
	}

	/** Whether a point with this margin counts as misclassified. */
	isWrong(margin, kind) {
		return !(margin > (this.kinds > 2 ? this.required[1] : this.required[kind ? -1 : 1]));
	}

	wrong(k) {
		return this.margins(k).map((margin, i) => this.isWrong(margin, this.points[i][2]));
	}

	/** Errors and loss at a moment, of the points learnt from and of those held out. */
	measure(k) {
		const margins = this.margins(k);
		let errors = 0, loss = 0, held = 0, least = Infinity;
		for (const i of this.rows.learnt) {
			least = Math.min(least, margins[i]);
			if (this.isWrong(margins[i], this.points[i][2])) [errors, loss] = [errors + 1, loss - margins[i]];
		}
		for (const i of this.rows.held) held += this.isWrong(margins[i], this.points[i][2]) ? 1 : 0;
		return { errors, loss: loss + 0, held, least, margins };
	}

	/** What the chart shows over time: one number per moment, or per some moments of a long run. */
	series(name) {
		this.known ??= {};
		if (this.known[name]) return this.known[name];
		const { trace } = this;
		if (name === "length") {
			const lengths = trace.lines?.weights.map((w, k) => lengthOf(w, trace.lines.bias[k], trace.interceptStep, this.kinds));
			return (this.known[name] = lengths ? { moments: lengths.map((_, k) => k), values: lengths } : null);
		}
		if (!this.known.measured) {
			const step = Math.max(1, Math.ceil(((this.last + 1) * this.points.length * this.cost()) / 4e6));
			const moments = [];
			for (let k = 0; k <= this.last; k += step) moments.push(k);
			if (moments.at(-1) !== this.last) moments.push(this.last);
			const found = moments.map((k) => this.measure(k));
			this.known.measured = { moments, found };
		}
		const { moments, found } = this.known.measured;
		const values = found.map((each) => (name === "share" ? each.errors / (this.rows.learnt.length || 1) : each[name]));
		const held = ["errors", "share"].includes(name) && this.rows.held.length ? found.map((each) => (name === "share" ? each.held / this.rows.held.length : each.held)) : null;
		return (this.known[name] = { moments, values, held });
	}

	/** About how many products a score takes. */
	cost() {
		if (this.trace.kind === "network") return 10 * this.last;
		if (this.isVote) return 3 * Math.min(this.last, 500);
		return this.trace.kind === "kernel" ? Math.min(this.last, this.X.length) : 1;
	}

	// What is proved

	/** Whether the points can be separated, in the plane and in the space of the features. */
	get verdict() {
		if (!this.knownVerdict) {
			this.deciding = decide(this);
			this.decideMore();
		}
		return this.knownVerdict;
	}

	/** Go on with a verdict that takes long, for some milliseconds. */
	decideMore() {
		const end = performance.now() + PATIENCE, { X, y, settings } = this;
		for (;;) {
			const { done, value } = this.deciding.next();
			if (done) {
				Object.assign(this, { knownVerdict: value, knownTheorem: undefined, deciding: null });
				return;
			}
			if (performance.now() < end) continue;
			this.knownVerdict = { kind: settings.form, separable: null, why: "deciding", share: value, plane: decideInPlane(X, this.kinds > 2 ? y.map((label) => (label ? -1 : 1)) : y) };
			return;
		}
	}

	/** Leave a verdict open that takes too long. */
	stopDeciding() {
		if (this.deciding) Object.assign(this, { deciding: null, knownVerdict: { ...this.knownVerdict, why: "stopped" } });
	}

	/** R, γ and the most mistakes, where the theorem speaks; it starts at zero and demands no margin. */
	get theorem() {
		if (this.knownTheorem === undefined) this.knownTheorem = boundOf(this);
		return this.knownTheorem;
	}
}

const argmax = (values) => values.reduce((best, value, c) => (value > values[best] ? c : best), 0);

function lengthOf(w, bias, step, kinds) {
	const square = w.reduce((sum, value) => sum + value * value, 0);
	return Math.sqrt(square + (step && kinds < 3 ? (bias[0] * bias[0]) / step : 0));
}

function networkScorer(trace, k) {
	const units = trace.units.slice(0, k);
	return (places) => Float64Array.from(places, (place) => upstartScore(units, activations(units, trace.lift.apply(place))));
}

/** A score that is positive where an upstart network is on, and crosses 0 where that ends. */
function upstartScore(units, own, number = 0) {
	let off = -Infinity, on = -Infinity;
	units.forEach((unit, place) => {
		if (!place || unit.parent !== number) return;
		const score = upstartScore(units, own, place);
		if (unit.sign < 0) off = score;
		else on = score;
	});
	return Math.max(Math.min(own[number], Math.max(-off, on)), Math.min(on, -off));
}

/** Decide in steps, each of which yields the share that is done. */
function* decide(run) {
	const { X, y, kinds, settings } = run, bias = hasFreeBias(settings);
	if (new Set(y).size < 2) return { kind: "none" };
	const twins = findTwins(X, y);
	if (kinds > 2) return yield* decideClasses(run, bias, twins);
	const plane = { kind: "plane", twins, ...decideInPlane(X, y, { bias }), radius: Math.max(...X.map(([a, b]) => Math.hypot(a, b))) };
	if (settings.form === "bias" && !bias && !plane.separable && !twins) return { ...plane, separable: null, why: "threshold" };
	const isCurved = settings.form === "lifted" || (settings.form === "kernel" && settings.kernel !== "linear");
	if (!isCurved) return plane;
	const found = { kind: settings.form, plane, twins };
	if (twins) return { ...found, separable: false };
	if (run.isMoving) return { ...found, separable: null, why: "moving" };
	const certificate = settings.form === "lifted" ? yield* decideLifted(run) : yield* decideKernel(run);
	return { ...found, separable: !certificate, ...certificate };
}

/** Whether the bias is learnt: not through the origin, nor with a fixed threshold. */
const hasFreeBias = (settings) => settings.form !== "origin" && settings.intercept_step !== "0";

/** Two rows of different classes at the same place, which nothing can separate; or null. */
function findTwins(X, y) {
	const first = new Map();
	for (let i = 0; i < X.length; i++) {
		const place = `${X[i][0]},${X[i][1]}`, before = first.get(place) ?? i;
		if (y[before] !== y[i]) return [before, i];
		first.set(place, before);
	}
	return null;
}

/**
 * Of three classes: which of them a line separates from the rest, and whether three lines together
 * give each class its own region. For the latter, rows of one class less each other one (Kesler's
 * construction), of the corners of the classes' hulls, on which linear functions are smallest.
 */
function* decideClasses({ X, y }, bias, twins) {
	const present = [0, 1, 2].filter((kind) => y.includes(kind));
	const apart = present.filter((kind) => decideInPlane(X, y.map((label) => (label === kind ? 1 : -1)), { bias }).separable);
	const found = { kind: "classes", present, apart, twins };
	if (twins) return { ...found, separable: false };
	const { rows, shift } = toIntegers(X), lengths = bias ? 3 : 2, pairs = [], differences = [];
	for (const own of present) for (const i of convexHull(rows, y.flatMap((label, i) => (label === own ? [i] : [])))) {
		for (const other of [0, 1, 2]) {
			if (other === own) continue;
			const x = [...rows[i], ...(bias ? [1n << BigInt(shift)] : [])], difference = new Array(3 * lengths).fill(0n);
			x.forEach((value, j) => ([difference[own * lengths + j], difference[other * lengths + j]] = [value, -value]));
			pairs.push(i);
			differences.push(difference);
		}
	}
	const certificate = yield* findCancelling(differences, pairs.map(() => 1));
	return { ...found, separable: !certificate, rows: certificate && [...new Set(certificate.support.map((k) => pairs[k]))].sort((a, b) => a - b) };
}

function* decideLifted({ X, y, settings }) {
	const { rows, shift } = toIntegers(X), one = 1n << BigInt(shift);
	const third = settings.third === "product" ? ([a, b]) => a * b : ([a, b]) => a * a + b * b;
	return yield* findCancelling(rows.map((row) => [...row.map((value) => value * one), third(row), one * one]), y);
}

function* decideKernel({ X, y, settings, trace }) {
	if (settings.kernel === "rbf") return null; // any points are apart that are not the same
	if (settings.kernel === "sigmoid") return { separable: null, why: "sigmoid" };
	if (settings.degree <= MOST_EXACT_DEGREE) return yield* findCancelling(monomials(X, settings.degree), y);
	return { separable: trace?.stopReason === "separated" ? true : null, why: "large" };
}

function boundOf(run) {
	const { trace, settings, kinds, X, y } = run;
	if (!trace || kinds > 2 || settings.form === "network" || settings.margin > 0 || settings.start) return null;
	if (trace.kind === "kernel" && run.isMoving) return null;
	if (settings.form === "bias" && settings.intercept_step === "0") return null;
	if (trace.kind === "kernel") return settings.kernel === "sigmoid" || run.verdict.separable === false || run.deciding ? null : kernelBound(trace.gram, y, trace.interceptStep);
	const verdict = run.verdict;
	if (verdict.separable === false) return null;
	const found = mistakeBound(featuresOf(settings, X), y, trace.interceptStep);
	if (!found) return null;
	const n = X.length;
	if (trace.batches) found.updates = Math.floor(((n + 1) ** 2 / (4 * n)) * (found.radius / found.margin) ** 2 * (1 + 1e-9));
	if (settings.form === "bias" && settings.intercept_step === "radius") {
		const { radius, gamma } = verdict;
		found.textbook = { radius, gamma, bound: Math.floor((2 * radius / gamma) ** 2 * (1 + 1e-9)) };
	}
	return found;
}
