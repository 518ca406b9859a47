// Curves and regions of the plane, and what is seen of it.

const NEAR = 1.25; // the origin is seen, too, if the view grows by no more than this

/** What is seen: a middle and half a width and a height around all points, and the origin if it is near or wanted. */
export function viewOf(points, withOrigin) {
	if (!points.length) return { x: 0, y: 0, wide: 2.5, high: 2.5 };
	const axes = [0, 1].map((axis) => {
		const values = points.map((point) => point[axis]), ends = [Math.min(...values), Math.max(...values)];
		return { ends, all: [Math.min(0, ends[0]), Math.max(0, ends[1])] };
	});
	const length = ([low, high]) => high - low, least = 0.05 * Math.max(...axes.map(({ ends }) => length(ends))) || 1;
	const isNear = withOrigin || axes.every(({ ends, all }) => length(all) <= NEAR * Math.max(length(ends), least));
	const [x, y] = axes.map(({ ends, all }) => (isNear ? all : ends));
	const half = (ends) => 1.2 * Math.max(length(ends) / 2, least);
	return { x: (x[0] + x[1]) / 2, y: (y[0] + y[1]) / 2, wide: half(x), high: half(y) };
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
			addCell(found, corners.map(([a, b]) => at(a, b)), on, edges);
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

function addCell(found, corners, on, edges) {
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
	const [bottom, right, top, left] = edges, middle = meet(bottom, top, left, right); // of a saddle, where its curves cross
	[[left, bottom], [bottom, right], [right, top], [top, left]].forEach(([before, after], i) => {
		found[on[i] ? "positive" : "negative"].push([before, corners[i], after, middle]);
		found.segments.push([before, middle]);
	});
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
