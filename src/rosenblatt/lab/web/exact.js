// Separability in exact arithmetic: every number of the page is a whole number times a power of two,
// so that BigInt decides without rounding.

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
const minus = (a, b) => a.map((value, j) => value - b[j]);
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

/** Shares of a hull's corners that make up a point, as [number, whole number] pairs; or null. */
function sharesOf(point, points, hull) {
	if (hull.length === 1) return minus(points[hull[0]], point).every((each) => each === 0n) ? [[hull[0], 1n]] : null;
	if (hull.length === 2) return sharesOnSegment(point, points, hull);
	for (let k = 1; k + 1 < hull.length; k++) {
		const [a, b, c] = [hull[0], hull[k], hull[k + 1]];
		const shares = [cross(points[b], points[c], point), cross(points[c], points[a], point), cross(points[a], points[b], point)];
		if (shares.every((each) => each >= 0n)) return [a, b, c].map((i, place) => [i, shares[place]]).filter(([, share]) => share);
	}
	return null;
}

function sharesOnSegment(point, points, [a, b]) {
	if (cross(points[a], points[b], point) !== 0n) return null;
	const along = minus(points[b], points[a]), length = dot(along, along), place = dot(minus(point, points[a]), along);
	if (place < 0n || place > length) return null;
	return [[a, length - place], [b, place]].filter(([, share]) => share);
}

function edgesOf(hull) {
	return hull.length < 2 ? [] : hull.length === 2 ? [hull] : hull.map((i, k) => [i, hull[(k + 1) % hull.length]]);
}

/** Shares of both hulls that meet in one point; or null if the hulls have none in common. */
function meetingOf(points, one, other) {
	for (const [inner, outer, isFirst] of [[one, other, true], [other, one, false]]) {
		for (const i of inner) {
			const shares = sharesOf(points[i], points, outer);
			if (shares) {
				const alone = [[i, shares.reduce((sum, [, share]) => sum + share, 0n)]];
				return isFirst ? [alone, shares] : [shares, alone];
			}
		}
	}
	for (const [a, b] of edgesOf(one)) {
		for (const [c, d] of edgesOf(other)) {
			const onC = cross(points[a], points[b], points[c]), onD = cross(points[a], points[b], points[d]);
			const onA = cross(points[c], points[d], points[a]), onB = cross(points[c], points[d], points[b]);
			if (onC < 0n === onD < 0n || onA < 0n === onB < 0n) continue;
			const first = onA - onB, second = onC - onD; // of equal sizes, up to their signs
			const size = (value) => (value < 0n ? -value : value);
			return [
				[[a, size(onB) * size(second)], [b, size(onA) * size(second)]],
				[[c, size(onD) * size(first)], [d, size(onC) * size(first)]],
			];
		}
	}
	return null;
}

/** The squared distance of a point and a segment [numerator, denominator], and the nearest point. */
function distanceTo(point, a, b) {
	const along = minus(b, a), length = dot(along, along), place = dot(minus(point, a), along);
	if (length === 0n || place <= 0n) return [dot(minus(point, a), minus(point, a)), 1n, a, 1n];
	if (place >= length) return [dot(minus(point, b), minus(point, b)), 1n, b, 1n];
	const area = cross(a, b, point), nearest = a.map((value, j) => value * length + along[j] * place);
	return [area * area, length, nearest, length];
}

/** The nearest points of two hulls without a common point. */
function nearest(points, one, other) {
	let best = null;
	const offer = (i, edge, flipped) => {
		const [a, b] = edge.map((j) => points[j]);
		const [top, bottom, place, scale] = distanceTo(points[i], a, b);
		if (!best || top * best.bottom < best.top * bottom) {
			const ends = [[points[i], 1n], [place, scale]];
			best = { top, bottom, ends: flipped ? ends.reverse() : ends };
		}
	};
	const segments = (hull) => (hull.length === 1 ? [[hull[0], hull[0]]] : edgesOf(hull));
	for (const i of one) for (const edge of segments(other)) offer(i, edge, false);
	for (const i of other) for (const edge of segments(one)) offer(i, edge, true);
	return best;
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
	const { rows, shift } = toIntegers(X), unit = 2 ** shift;
	if (!bias) return decideThroughOrigin(rows, y, shift);
	const numbers = (label) => y.flatMap((each, i) => (each === label ? [i] : []));
	const [one, other] = [1, -1].map((label) => convexHull(rows, numbers(label)));
	const meeting = meetingOf(rows, one, other);
	if (meeting) {
		const shares = meeting.flat(), total = meeting[0].reduce((sum, [, share]) => sum + share, 0n);
		const place = [0, 1].map((axis) => toNumber(meeting[0].reduce((sum, [i, share]) => sum + share * rows[i][axis], 0n), total) / unit);
		return { separable: false, ...certificate(shares), meeting: place };
	}
	const { top, bottom, ends } = nearest(rows, one, other);
	const [near, far] = ends.map(([place, scale]) => place.map((value) => toNumber(value, scale) / unit));
	const gamma = Math.sqrt(toNumber(top, bottom)) / unit / 2;
	const weights = [0, 1].map((axis) => near[axis] - far[axis]), middle = [0, 1].map((axis) => (near[axis] + far[axis]) / 2);
	return { separable: true, gamma, weights, b: -(weights[0] * middle[0] + weights[1] * middle[1]) };
}

function decideThroughOrigin(rows, y, shift) {
	const turned = rows.map((row, i) => (y[i] > 0 ? row : row.map((value) => -value)));
	const hull = convexHull(turned, turned.map((_, i) => i)), origin = [0n, 0n];
	const shares = sharesOf(origin, turned, hull);
	if (shares) return { separable: false, ...certificate(shares), meeting: null };
	let best = null;
	for (const [a, b] of hull.length === 1 ? [[hull[0], hull[0]]] : edgesOf(hull)) {
		const [top, bottom, place, scale] = distanceTo(origin, turned[a], turned[b]);
		if (!best || top * best.bottom < best.top * bottom) best = { top, bottom, place, scale };
	}
	const unit = 2 ** shift, weights = best.place.map((value) => toNumber(value, best.scale) / unit);
	return { separable: true, gamma: Math.sqrt(toNumber(best.top, best.bottom)) / unit, weights, b: 0 };
}

/**
 * Decide whether a plane separates rows of any width, given as whole numbers, with the bias as one
 * of their columns: shares of rows, each times its label, that cancel out, or null if there are none.
 *
 * The first phase of the simplex method in whole numbers, with Bland's rule: `inverse` is that of
 * the basis times its determinant.
 */
export function cancellingShares(rows, y) {
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
