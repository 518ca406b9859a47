// One run as the page shows it: what it predicts at each moment, its errors, and what is proved.

import { cancellingShares, decideInPlane, monomials, toIntegers } from "./exact.js";
import { kernelBound, mistakeBound } from "./margin.js";
import { activations, answer, traceNetwork } from "./network.js";
import { conflictOf, countKinds, splitRows } from "./state.js";
import { countVotes, dualCoefficients, featuresOf, rowsAt, traceClasses, traceKernel, traceLinear } from "./trace.js";
import { thresholds } from "./run.js";

const MOST_EXACT_COLUMNS = 16; // of products, for a verdict in the space of a polynomial kernel
const MOST_EXACT_POINTS = 300;

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
		return this.settings.solution === "vote" && ["linear", "kernel"].includes(this.trace?.kind);
	}

	/** The weights and bias of the line that is drawn at a moment, if it is a line. */
	line(k) {
		if (this.trace?.kind !== "linear" || this.isVote || this.settings.form === "lifted") return null;
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
		if (this.isVote) return (places) => countVotes(this.engine, trace, settings, k, featuresOf(settings, places));
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
		return (this.knownVerdict ??= decide(this));
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
	return (places) => Float64Array.from(places, (place) => {
		const own = activations(trace.growth, units, trace.lift.apply(place));
		return trace.growth === "upstart" ? upstartScore(units, own) : answer(trace.growth, units, own);
	});
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

function decide(run) {
	const { X, y, kinds, settings } = run, bias = settings.form !== "origin";
	if (new Set(y).size < 2) return { kind: "none" };
	if (kinds > 2) {
		const present = [0, 1, 2].filter((kind) => y.includes(kind));
		const apart = present.filter((kind) => decideInPlane(X, y.map((label) => (label === kind ? 1 : -1)), { bias }).separable);
		return { kind: "classes", apart: apart.length, of: present.length, separable: apart.length === present.length ? true : null };
	}
	const plane = { kind: "plane", ...decideInPlane(X, y, { bias }), radius: Math.max(...X.map(([a, b]) => Math.hypot(a, b))) };
	const isCurved = settings.form === "lifted" || (settings.form === "kernel" && settings.kernel !== "linear");
	if (isCurved && run.isMoving) return { kind: settings.form, separable: null, why: "moving", plane };
	if (settings.form === "lifted") return { ...decideLifted(run), plane };
	if (isCurved) return { ...decideKernel(run), plane };
	return plane;
}

function decideLifted({ X, y, settings }) {
	const { rows, shift } = toIntegers(X), one = 1n << BigInt(shift);
	const third = settings.third === "product" ? ([a, b]) => a * b : ([a, b]) => a * a + b * b;
	const found = cancellingShares(rows.map((row) => [...row.map((value) => value * one), third(row), one * one]), y);
	if (found) return { kind: "lifted", separable: false, ...found };
	return { kind: "lifted", separable: true };
}

function decideKernel(run) {
	const { X, y, settings } = run;
	if (settings.kernel === "sigmoid") return { kind: "kernel", separable: null, why: "sigmoid" };
	if (settings.kernel === "rbf") {
		const seen = new Map(); // of a Gaussian kernel, any points are apart that are not the same
		for (let i = 0; i < X.length; i++) {
			const before = seen.get(X[i].join());
			if (before !== undefined && y[before] !== y[i]) return { kind: "kernel", separable: false, support: [before, i], weights: [1n, 1n] };
			if (before === undefined) seen.set(X[i].join(), i);
		}
		return { kind: "kernel", separable: true };
	}
	const columns = ((settings.degree + 1) * (settings.degree + 2)) / 2;
	if (columns <= MOST_EXACT_COLUMNS && X.length <= MOST_EXACT_POINTS) {
		const found = cancellingShares(monomials(X, settings.degree), y);
		return found ? { kind: "kernel", separable: false, ...found } : { kind: "kernel", separable: true };
	}
	return { kind: "kernel", separable: run.trace?.stopReason === "separated" ? true : null, why: "large" };
}

function boundOf(run) {
	const { trace, settings, kinds, X, y } = run;
	if (!trace || kinds > 2 || settings.form === "network" || settings.margin > 0 || settings.start) return null;
	if (trace.kind === "kernel" && run.isMoving) return null;
	if (trace.kind === "kernel") return settings.kernel === "sigmoid" || run.verdict.separable === false ? null : kernelBound(trace.gram, y, trace.interceptStep);
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
