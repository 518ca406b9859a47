// The widest margin in numbers: the point of a convex hull that is nearest to the origin.

const dot = (a, b) => {
	let sum = 0;
	for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
	return sum;
};

/**
 * The point of the hull of some vectors that is nearest to the origin (Wolfe 1976): its length is the
 * widest margin of a plane through the origin, for vectors y·x.
 */
export function nearestPoint(vectors) {
	const size = Math.max(...vectors.map((v) => dot(v, v)));
	let chosen = [vectors.reduce((best, v) => (dot(v, v) < dot(best, best) ? v : best))], weights = [1];
	let x = chosen[0];
	for (let round = 0; round < 1000; round++) {
		const found = vectors.reduce((best, v) => (dot(v, x) < dot(best, x) ? v : best));
		if (dot(found, x) > dot(x, x) - 1e-15 * size || chosen.includes(found)) break;
		chosen.push(found);
		weights.push(0);
		for (;;) {
			const wanted = affineMinimum(chosen);
			if (!wanted) break;
			if (wanted.every((weight) => weight > 1e-12)) {
				weights = wanted;
				break;
			}
			let share = 1;
			wanted.forEach((weight, i) => {
				if (weight <= 1e-12) share = Math.min(share, weights[i] / (weights[i] - weight));
			});
			weights = weights.map((weight, i) => weight + share * (wanted[i] - weight));
			const kept = weights.map((weight) => weight > 1e-12);
			chosen = chosen.filter((_, i) => kept[i]);
			weights = weights.filter((_, i) => kept[i]);
		}
		x = x.map((_, j) => chosen.reduce((sum, v, i) => sum + weights[i] * v[j], 0));
		if (dot(x, x) < 1e-24 * size) break;
	}
	return { point: x, length: Math.sqrt(dot(x, x)) };
}

/** The weights, summing to 1, of the point nearest to 0 of the plane through some vectors. */
function affineMinimum(vectors) {
	const n = vectors.length;
	const rows = vectors.map((v, i) => [...vectors.map((u) => dot(u, v)), 1, 0]);
	rows.push([...vectors.map(() => 1), 0, 1]);
	for (let k = 0; k <= n; k++) {
		let best = k;
		for (let i = k + 1; i <= n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[best][k])) best = i;
		if (Math.abs(rows[best][k]) < 1e-300) return null;
		[rows[k], rows[best]] = [rows[best], rows[k]];
		for (let i = 0; i <= n; i++) {
			if (i === k) continue;
			const factor = rows[i][k] / rows[k][k];
			for (let j = k; j <= n + 1; j++) rows[i][j] -= factor * rows[k][j];
		}
	}
	return rows.slice(0, n).map((row, i) => row[n + 1] / row[i]);
}

/**
 * The same by kernel values, to a tolerance (Mitchell, Dem'yanov & Malozemov 1974): the widest margin
 * in a kernel's space, through its origin, with `step` added to every value for the bias.
 */
export function kernelMargin(gram, y, step, tolerance = 1e-3, rounds = 20000) {
	const n = y.length, value = (i, j) => y[i] * y[j] * (gram[i][j] + step);
	const weights = new Float64Array(n), products = new Float64Array(n);
	weights[0] = 1;
	for (let i = 0; i < n; i++) products[i] = value(0, i);
	for (let round = 0; round < rounds; round++) {
		let low = 0, high = -1;
		for (let i = 1; i < n; i++) if (products[i] < products[low]) low = i;
		for (let i = 0; i < n; i++) if (weights[i] > 0 && (high < 0 || products[i] > products[high])) high = i;
		let square = 0;
		for (let i = 0; i < n; i++) square += weights[i] * products[i];
		const reached = products[low] / Math.sqrt(Math.max(square, 1e-300));
		if (products[low] > 0 && reached > (1 - tolerance) * Math.sqrt(square)) return reached;
		const curve = value(low, low) + value(high, high) - 2 * value(low, high);
		const move = Math.min(weights[high], curve > 0 ? (products[high] - products[low]) / curve : Infinity);
		if (!(move > 0)) break;
		weights[low] += move;
		weights[high] -= move;
		for (let i = 0; i < n; i++) products[i] += move * (value(low, i) - value(high, i));
	}
	return null;
}

/** R̃, γ̃ and the most mistakes (R̃/γ̃)² of rows with the bias as a coordinate of size √step. */
export function mistakeBound(X, y, step) {
	const more = step ? [Math.sqrt(step)] : [];
	const vectors = X.map((x, i) => [...x, ...more].map((value) => (y[i] > 0 ? value : -value)));
	const radius = Math.sqrt(Math.max(...vectors.map((v) => dot(v, v))));
	const { point, length } = nearestPoint(vectors);
	const attained = Math.min(...vectors.map((v) => dot(v, point))) / (length || 1);
	if (!(attained > 0)) return null;
	return { radius, margin: attained, bound: Math.floor((radius / attained) ** 2 * (1 + 1e-9)), direction: point };
}

/** The same in a kernel's space. */
export function kernelBound(gram, y, step) {
	const margin = kernelMargin(gram, y, step);
	if (!margin) return null;
	const radius = Math.sqrt(Math.max(...gram.map((line, i) => line[i])) + step);
	return { radius, margin, bound: Math.floor((radius / margin) ** 2 * (1 + 1e-9)) };
}
