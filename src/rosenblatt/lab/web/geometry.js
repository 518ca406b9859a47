// Curves and regions of the plane, and what is seen of it.

/** A square with all points and the origin. */
export function viewOf(points) {
	if (!points.length) return { x: 0, y: 0, half: 2.5 };
	const low = [0, 0], high = [0, 0];
	for (const point of points) for (const axis of [0, 1]) {
		low[axis] = Math.min(low[axis], point[axis]);
		high[axis] = Math.max(high[axis], point[axis]);
	}
	const half = Math.max(high[0] - low[0], high[1] - low[1]) / 2;
	return { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, half: 1.12 * half || 1 };
}

/** The part of a convex polygon on which a·x + b·y + c ≥ 0. */
export function clip(polygon, a, b, c) {
	const found = [];
	polygon.forEach((point, i) => {
		const next = polygon[(i + 1) % polygon.length];
		const here = a * point[0] + b * point[1] + c, there = a * next[0] + b * next[1] + c;
		if (here >= 0) found.push(point);
		if (here >= 0 !== there >= 0) {
			const share = here / (here - there);
			found.push([point[0] + share * (next[0] - point[0]), point[1] + share * (next[1] - point[1])]);
		}
	});
	return found;
}

/** The ends of a line within a rectangle, or null. */
export function lineWithin(w, b, box) {
	const corners = [[box.x0, box.y0], [box.x1, box.y0], [box.x1, box.y1], [box.x0, box.y1]];
	const found = [];
	corners.forEach((point, i) => {
		const next = corners[(i + 1) % 4];
		const here = w[0] * point[0] + w[1] * point[1] + b, there = w[0] * next[0] + w[1] * next[1] + b;
		if (here === there || here > 0 === there > 0) return;
		const share = here / (here - there);
		found.push([point[0] + share * (next[0] - point[0]), point[1] + share * (next[1] - point[1])]);
	});
	return found.length === 2 ? found : null;
}

const BISECTIONS = 9;
const SHIFT = 0.382; // of the grid, so that the axes do not lie on its lines

/**
 * Where a score of places is positive and where it is not, and the curves between: marching squares
 * whose crossings are found by bisection of the score itself, so that curves are smooth on a coarse
 * grid, and for scores that jump.
 *
 * @param {(places: number[][]) => Float64Array} score
 */
export function contour(score, box, cells) {
	const wide = box.x1 - box.x0, high = box.y1 - box.y0;
	const size = Math.max(wide, high) / cells, nx = Math.ceil(wide / size) + 1, ny = Math.ceil(high / size) + 1;
	const at = (i, j) => [box.x0 + size * (i - SHIFT), box.y0 + size * (j - SHIFT)];
	const places = [];
	for (let j = 0; j <= ny; j++) for (let i = 0; i <= nx; i++) places.push(at(i, j));
	const values = score(places), value = (i, j) => values[j * (nx + 1) + i], isOn = (i, j) => value(i, j) > 0;
	const crossings = new Map(), key = (i, j, isUp) => 2 * (j * (nx + 1) + i) + (isUp ? 1 : 0);
	for (let j = 0; j <= ny; j++) for (let i = 0; i <= nx; i++) {
		if (i < nx && isOn(i, j) !== isOn(i + 1, j)) crossings.set(key(i, j, false), { low: at(i, j), high: at(i + 1, j), isOn: isOn(i, j) });
		if (j < ny && isOn(i, j) !== isOn(i, j + 1)) crossings.set(key(i, j, true), { low: at(i, j), high: at(i, j + 1), isOn: isOn(i, j) });
	}
	refine(score, [...crossings.values()]);
	const found = { positive: [], negative: [], segments: [] };
	for (let j = 0; j < ny; j++) {
		for (let i = 0; i < nx; i++) {
			const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], on = corners.map(([a, b]) => isOn(a, b));
			if (on.every((each) => each === on[0])) {
				let end = i + 1; // a row of cells that are all on one side
				while (end < nx && isOn(end + 1, j) === on[0] && isOn(end + 1, j + 1) === on[0]) end += 1;
				found[on[0] ? "positive" : "negative"].push([at(i, j), at(end, j), at(end, j + 1), at(i, j + 1)]);
				i = end - 1;
				continue;
			}
			const edges = [key(i, j, false), key(i + 1, j, true), key(i, j + 1, false), key(i, j, true)].map((each) => crossings.get(each)?.place);
			addCell(found, corners.map(([a, b]) => at(a, b)), on, edges, score);
		}
	}
	return found;
}

function refine(score, crossings) {
	for (const each of crossings) each.place = [(each.low[0] + each.high[0]) / 2, (each.low[1] + each.high[1]) / 2];
	for (let round = 0; round < BISECTIONS && crossings.length; round++) {
		const values = score(crossings.map(({ place }) => place));
		crossings.forEach((each, i) => {
			if (values[i] > 0 === each.isOn) each.low = each.place;
			else each.high = each.place;
			each.place = [(each.low[0] + each.high[0]) / 2, (each.low[1] + each.high[1]) / 2];
		});
	}
}

function addCell(found, corners, on, edges, score) {
	const walk = (side) => { // the polygon of one side, around the cell
		const polygon = [];
		corners.forEach((corner, i) => {
			if (on[i] === side) polygon.push(corner);
			if (edges[i]) polygon.push(edges[i]);
		});
		return polygon;
	};
	const crossed = edges.filter(Boolean);
	if (crossed.length === 2) {
		found.positive.push(walk(true));
		found.negative.push(walk(false));
		found.segments.push(crossed);
		return;
	}
	const [bottom, right, top, left] = edges; // a saddle: the middle decides which corners are joined
	const middle = meet(bottom, top, left, right);
	const value = score([middle])[0], isFlat = Math.abs(value) < 1e-4 * (1e-300 + Math.max(...Array.from(score(corners), Math.abs)));
	const corner = (i, before, after) => [before, corners[i], after];
	const pieces = [corner(0, left, bottom), corner(1, bottom, right), corner(2, right, top), corner(3, top, left)];
	if (isFlat) {
		pieces.forEach((piece, i) => found[on[i] ? "positive" : "negative"].push([...piece, middle]));
		for (const edge of edges) found.segments.push([edge, middle]);
		return;
	}
	const joined = value > 0; // the side of the middle is one piece
	pieces.forEach((piece, i) => {
		if (on[i] === joined) return;
		found[on[i] ? "positive" : "negative"].push(piece);
		found.segments.push([piece[0], piece[2]]);
	});
	found[joined ? "positive" : "negative"].push(walk(joined));
}

/** Where the lines a–b and c–d meet. */
function meet(a, b, c, d) {
	const along = [b[0] - a[0], b[1] - a[1]], other = [d[0] - c[0], d[1] - c[1]];
	const area = along[0] * other[1] - along[1] * other[0];
	const share = area ? ((c[0] - a[0]) * other[1] - (c[1] - a[1]) * other[0]) / area : 0.5;
	return [a[0] + share * along[0], a[1] + share * along[1]];
}

/** Round numbers for the marks of an axis. */
export function ticks(low, high, count) {
	const rough = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(rough || 1));
	const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power;
	const found = [];
	for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
	return found;
}
