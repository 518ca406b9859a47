// Numbers over time: errors, loss or length after each update, with the bound where there is one.

import { ticks } from "./geometry.js";
import { grouped, short } from "./words.js";

export const CURVES = {
	errors: "misclassified points J₁",
	share: "share of points wrong Eₙ",
	loss: "loss J",
	length: "length of w and its limits",
};

/** The place of a moment on the chart, and back. */
export function chartFrame(width, height, unit, last) {
	const left = 4.2 * unit, right = 1.2 * unit, top = 1.4 * unit, bottom = 2.4 * unit;
	const x = (moment) => left + ((width - left - right) * moment) / Math.max(last, 1);
	const moment = (pixel) => Math.max(0, Math.min(last, Math.round(((pixel - left) / (width - left - right)) * Math.max(last, 1))));
	return { left, right, top, bottom, x, moment, high: height - top - bottom, y0: height - bottom };
}

/** @param {{runs: object[], moments: number[], curve: string, colours: object, unit: number}} scene */
export function drawChart(painter, width, height, scene) {
	const { runs, colours, unit, curve, moments } = scene;
	painter.shape([[[0, 0], [width, 0], [width, height], [0, height]]], { fill: colours.ground });
	const shown = runs.map((run) => (run?.trace ? run.series(curve) : null));
	const last = Math.max(...runs.map((run) => run?.last ?? 0), 1), frame = chartFrame(width, height, unit, last);
	const limits = curve === "length" ? runs.map((run) => run && limitsOf(run)) : [];
	let most = 0;
	for (const each of shown) if (each) for (const value of each.values) if (value > most && Number.isFinite(value)) most = value;
	for (const each of limits) if (each) most = Math.max(most, Math.min(each.high(last), 3 * most));
	if (curve === "share") most = Math.min(1, most || 1);
	const y = (value) => frame.y0 - (frame.high * Math.min(value, 1.2 * most)) / (most || 1);
	drawChartAxes(painter, frame, { width, last, most, y, ...scene });
	runs.forEach((run, side) => {
		const each = shown[side];
		if (!each) return;
		const style = { stroke: colours.ink, width: unit / 6, dash: side ? [unit / 2, unit / 3] : [], isOpen: true };
		drawSeries(painter, frame, each.moments, each.values, y, style);
		if (each.held) drawSeries(painter, frame, each.moments, each.held, y, { ...style, stroke: colours.faint, dash: [unit / 8, unit / 3] });
		if (limits[side]) drawLimits(painter, frame, limits[side], run.last, y, { ...scene, most });
		const k = Math.min(moments[side] ?? 0, run.last), at = each.moments.findLastIndex((moment) => moment <= k);
		painter.shape([[[frame.x(k), frame.top], [frame.x(k), frame.y0]]], { stroke: colours.use, width: unit / 7, isOpen: true, dash: side ? [unit / 2, unit / 3] : [] });
		painter.circle([frame.x(k), y(each.values[at])], unit / 2.6, { fill: colours.use });
	});
}

function drawChartAxes(painter, frame, { width, last, most, y, colours, unit, curve, runs }) {
	const text = { fill: colours.ink, size: 0.85 * unit }, line = { stroke: colours.axis, width: 1, isOpen: true };
	painter.shape([[[frame.left, frame.top], [frame.left, frame.y0], [width - frame.right, frame.y0]]], line);
	for (const value of ticks(0, most || 1, Math.max(2, Math.floor(frame.high / (2.5 * unit))))) {
		if (["errors"].includes(curve) && !Number.isInteger(value)) continue;
		painter.text([frame.left - 0.4 * unit, y(value)], curve === "share" ? `${Math.round(100 * value)} %` : short(value), { ...text, align: "right", baseline: "middle" });
		painter.shape([[[frame.left, y(value)], [width - frame.right, y(value)]]], { ...line, alpha: 0.5 });
	}
	for (const value of ticks(0, last, Math.max(2, Math.floor(width / (7 * unit))))) {
		if (!Number.isInteger(value)) continue;
		painter.text([frame.x(value), frame.y0 + 1.1 * unit], grouped(value), { ...text, align: "center" });
	}
	const what = runs[0]?.trace?.kind === "network" ? "unit" : "update";
	painter.text([width - frame.right, frame.y0 + 2.05 * unit], `${what} →`, { ...text, align: "right" });
	const held = runs.some((run) => run?.rows.held.length) && ["errors", "share"].includes(curve) ? "held out ···" : "";
	painter.text([frame.left + 0.4 * unit, unit], [runs[1] ? "left —, right - -" : "", held].filter(Boolean).join(", "), text);
}

const MOST_INK = 15; // how often a line may cross the chart's width before it is shown as a band

/** A line through all numbers; of numbers that go up and down too often, their mean and the band they lie in. */
function drawSeries(painter, frame, moments, values, y, style) {
	const width = frame.x(moments.at(-1)) - frame.left, places = values.map((value, i) => [frame.x(moments[i]), y(value)]);
	const ink = places.reduce((sum, [, high], i) => sum + (i ? Math.abs(high - places[i - 1][1]) : 0), 0);
	if (ink <= MOST_INK * width && values.length <= width) return painter.shape([places], style);
	const columns = Math.max(8, Math.floor(Math.min(width / 1.5, values.length / 8)));
	const high = [], low = [], middle = [], size = values.length / columns;
	for (let column = 0; column < columns; column++) {
		const some = values.slice(Math.floor(column * size), Math.floor((column + 1) * size));
		const x = frame.x(moments[Math.floor((column + 0.5) * size)]);
		high.push([x, y(Math.max(...some))]);
		low.unshift([x, y(Math.min(...some))]);
		middle.push([x, y(some.reduce((sum, value) => sum + value, 0) / some.length)]);
	}
	const wide = Math.max(1, Math.round(columns / 60)); // neighbours are averaged, or it would be ink again
	const smooth = middle.map(([x], i) => {
		const some = middle.slice(Math.max(0, i - wide), i + wide + 1);
		return [x, some.reduce((sum, [, each]) => sum + each, 0) / some.length];
	});
	painter.shape([[...high, ...low]], { fill: style.stroke, alpha: 0.22 });
	painter.shape([smooth], style);
}

/** γM ≤ ‖w‖ ≤ R√M, in the units of a run. */
export function limitsOf(run) {
	const { theorem, settings } = run;
	if (!theorem || run.trace.kind !== "linear" || run.trace.batches) return null;
	return { low: (M) => settings.eta0 * theorem.margin * M, high: (M) => settings.eta0 * theorem.radius * Math.sqrt(M) };
}

function drawLimits(painter, frame, limits, last, y, { colours, unit, most }) {
	const moments = Array.from({ length: 61 }, (_, i) => (last * i) / 60);
	for (const [name, limit] of [["R√M", limits.high], ["γM", limits.low]]) {
		const seen = moments.filter((M) => limit(M) <= 1.15 * most);
		painter.shape([seen.map((M) => [frame.x(M), y(limit(M))])], { stroke: colours.proof, width: unit / 8, dash: [unit / 6, unit / 4], isOpen: true });
		const end = seen.at(-1) ?? 0;
		painter.text([frame.x(end) - (name === "γM" ? 1.4 : 0.3) * unit, y(limit(end)) + (name === "γM" ? 1.2 : -0.4) * unit], name, { fill: colours.proof, size: 0.85 * unit, align: "right", halo: colours.ground });
	}
}
