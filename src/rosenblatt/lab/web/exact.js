// Separability in exact arithmetic: every number of the page is a whole number times a power of two,
// so that BigInt decides without rounding.

import { nearestPoint } from "./margin.js";

/** A finite number as [mantissa, exponent]: value = mantissa · 2^exponent. */
function split(value) {
	const view = new DataView(new ArrayBuffer(8));
	view.setFloat64(0, value);
	const bits = view.getBigUint64(0), sign = bits >> 63n ? -1n : 1n;
	const biased = Number((bits >> 52n) & 0x7ffn), fraction = bits & 0xfffffffffffffn;
	const mantissa = biased ? fraction | 0x10000000000000n : fraction;
	return [sign * mantissa, Math.max(biased, 1) - 1075];
}

/** Rows of numbers as rows of whole numbers: each value times 2^shift. */
export function toIntegers(X) {
	const parts = X.map((row) => Array.from(row, split));
	let low = Infinity;
	for (const row of parts) for (const [mantissa, exponent] of row) if (mantissa) low = Math.min(low, exponent + trailingZeros(mantissa));
	const shift = low === Infinity ? 0 : Math.max(-low, 0);
	const scaled = (mantissa, by) => (by >= 0 ? mantissa << BigInt(by) : mantissa >> BigInt(-by));
	return { rows: parts.map((row) => row.map(([mantissa, exponent]) => scaled(mantissa, exponent + shift))), shift };
}

function trailingZeros(value) {
	let zeros = 0;
	while (!((value >> BigInt(zeros)) & 1n)) zeros += 1;
	return zeros;
}

/** The quotient of two whole numbers as a number. */
export function toNumber(numerator, denominator = 1n) {
	const sign = numerator < 0n !== denominator < 0n ? -1 : 1;
	const absolute = (value) => (value < 0n ? -value : value);
	const above = absolute(numerator), below = absolute(denominator);
	if (!above) return 0;
	const shift = 64 - (above.toString(2).length - below.toString(2).length);
	const quotient = shift >= 0 ? (above << BigInt(shift)) / below : above / (below << BigInt(-shift));
	return sign * Number(quotient) * 2 ** -shift;
}

const cross = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
const dot = (a, b) => a.reduce((sum, value, j) => sum + value * b[j], 0n);
const gcd = (a, b) => (b ? gcd(b, a % b) : a < 0n ? -a : a);

/** The numbers of the corners of the convex hull, anticlockwise, without points between corners. */
export function convexHull(points, numbers) {
	const compare = (i, j) => {
		for (const axis of [0, 1]) if (points[i][axis] !== points[j][axis]) return points[i][axis] < points[j][axis] ? -1 : 1;
		return 0;
	};
	const sorted = [...numbers].sort(compare).filter((i, place, all) => !place || compare(all[place - 1], i) !== 0);
	if (sorted.length < 3) return sorted;
	const half = (order) => {
		const found = [];
		for (const i of order) {
			while (found.length > 1 && cross(points[found.at(-2)], points[found.at(-1)], points[i]) <= 0n) found.pop();
			found.push(i);
		}
		return found.slice(0, -1);
	};
	return [...half(sorted), ...half([...sorted].reverse())];
}

/** Shares as a certificate: rows and whole-number weights with no common factor. */
function certificate(shares) {
	const divisor = shares.reduce((found, [, share]) => gcd(found, share), 0n) || 1n;
	return { support: shares.map(([i]) => i), weights: shares.map(([, share]) => share / divisor) };
}

/**
 * Decide whether a line separates points of the plane with labels -1 and +1.
 *
 * Separable: γ, the largest distance of a line from every point, with that line. Inseparable: rows
 * and weights for which both classes meet (or, through the origin, cancel out), and where.
 */
export function decideInPlane(X, y, { bias = true } = {}) {
	const { rows, shift } = toIntegers(X), sides = [1, -1].map((label) => convexHull(rows, y.flatMap((each, i) => (each === label ? [i] : []))));
	const corners = sides.flat(), one = 1n << BigInt(shift);
	const found = cancellingShares(corners.map((i) => (bias ? [...rows[i], one] : rows[i])), corners.map((i) => y[i]));
	if (!found) return { separable: true, ...widestMargin(X, sides, bias) };
	const support = found.support.map((k) => corners[k]), { weights } = found, own = support.flatMap((i, k) => (y[i] > 0 ? [k] : []));
	const total = own.reduce((sum, k) => sum + weights[k], 0n);
	const place = (axis) => toNumber(own.reduce((sum, k) => sum + weights[k] * rows[support[k]][axis], 0n), total * one);
	return { separable: false, support, weights, meeting: bias ? [place(0), place(1)] : null };
}

/** The widest margin of corners that a line separates: half the distance of the hulls, or that of the origin from y·x. */
function widestMargin(X, [positive, negative], bias) {
	const turned = [...positive.map((i) => X[i]), ...negative.map((i) => X[i].map((value) => -value))];
	const apart = positive.flatMap((i) => negative.map((j) => X[i].map((value, axis) => value - X[j][axis])));
	const { point, length } = nearestPoint(bias ? apart : turned), along = (i) => X[i][0] * point[0] + X[i][1] * point[1];
	if (!bias) return { gamma: length, weights: point, b: 0 };
	return { gamma: length / 2, weights: point, b: -(Math.min(...positive.map(along)) + Math.max(...negative.map(along))) / 2 };
}

/**
 * Decide whether a plane separates rows of any width, given as whole numbers, with the bias as one
 * of their columns: shares of rows, each times its label, that cancel out, or null if there are none.
 *
 * The first phase of the simplex method in whole numbers, with Bland's rule: `inverse` is that of
 * the basis times its determinant.
 */
export function cancellingShares(rows, y) {
	const steps = findCancelling(rows, y);
	for (;;) {
		const { done, value } = steps.next();
		if (done) return value;
	}
}

/** The same in steps, so that a page can do other things between them; each yields the share that is done. */
export function* findCancelling(rows, y) {
	const height = rows[0].length + 1;
	const column = (j) => [...rows[j].map((value) => (y[j] > 0 ? value : -value)), 1n];
	const columns = rows.map((_, j) => column(j));
	let determinant = 1n;
	const inverse = Array.from({ length: height }, (_, i) => Array.from({ length: height }, (_, j) => (i === j ? 1n : 0n)));
	const basis = new Array(height).fill(-1); // -1: artificial
	const level = inverse.map((_, i) => (i === height - 1 ? 1n : 0n)); // times the determinant
	for (;;) {
		const price = inverse[0].map((_, j) => inverse.reduce((sum, row, i) => (basis[i] < 0 ? sum + row[j] : sum), 0n));
		const entering = columns.findIndex((each, j) => !basis.includes(j) && dot(price, each) > 0n);
		if (entering < 0) break;
		const direction = inverse.map((row) => dot(row, columns[entering]));
		let leaving = -1;
		direction.forEach((amount, i) => {
			if (amount <= 0n) return;
			const order = leaving < 0 ? -1n : level[i] * direction[leaving] - level[leaving] * amount;
			if (order < 0n || (order === 0n && basis[i] < basis[leaving])) leaving = i;
		});
		const pivot = direction[leaving];
		for (let i = 0; i < height; i++) {
			if (i === leaving) continue;
			for (let j = 0; j < height; j++) inverse[i][j] = (pivot * inverse[i][j] - direction[i] * inverse[leaving][j]) / determinant;
			level[i] = (pivot * level[i] - direction[i] * level[leaving]) / determinant;
		}
		determinant = pivot;
		basis[leaving] = entering;
		yield 1 - toNumber(basis.reduce((sum, j, i) => (j < 0 ? sum + level[i] : sum), 0n), determinant);
	}
	if (basis.some((j, i) => j < 0 && level[i] !== 0n)) return null;
	return certificate(basis.flatMap((j, i) => (j >= 0 && level[i] !== 0n ? [[j, level[i]]] : [])));
}

/** Points with all products up to a degree, as whole numbers of one scale in each column. */
export function monomials(X, degree, lowest = 0) {
	const { rows, shift } = toIntegers(X), one = 1n << BigInt(shift);
	return rows.map(([x, y]) => {
		const found = [];
		for (let total = lowest; total <= degree; total++) {
			for (let a = 0; a <= total; a++) found.push(x ** BigInt(a) * y ** BigInt(total - a) * one ** BigInt(degree - total));
		}
		return found;
	});
}
