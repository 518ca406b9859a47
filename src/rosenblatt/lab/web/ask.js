// Questions before a step, to be answered before it is seen; and exercises, which the page checks.

import { findRepeat, countMistakes } from "./trace.js";
import { angleOf, grouped, short } from "./words.js";

/** A question about the next step: words, choices, the number of the right one, the row it is about, and why. */
export function askAbout(app) {
	const [run] = app.runs, { moment } = app.state;
	if (!run?.trace || moment >= app.steps) return null;
	const now = app.now(run), next = app.now(run, moment + 1);
	const fitting = QUESTIONS.map((make) => make(app, run, now, next, moment)).filter(Boolean);
	return fitting[moment % fitting.length];
}

const QUESTIONS = [
	(app, run, now, next, moment) => {
		if (moment || (!run.theorem && run.verdict.separable !== false) || run.trace.batches) return null;
		const bound = run.theorem?.bound, choices = bound ? [grouped(bound), grouped(4 * bound), "there is no limit"] : ["100", "1,000", "there is no limit"];
		const why = bound ? `(R/γ)² = (${short(run.theorem.radius)}/${short(run.theorem.margin)})² = ${grouped(bound)}.` : "Nothing separates the points here, so the updates never end.";
		return { words: "How many mistakes will be made at most, in any order?", choices, right: bound ? 0 : 2, row: -1, why };
	},
	(app, run, now, next, moment) => {
		if (run.settings.solution !== "last" || run.trace.kind === "network" || run.trace.batches) return null;
		const others = run.rows.learnt.filter((i) => i !== next.row), row = moment % 2 || next.row < 0 || !others.length ? others[(7 * moment) % others.length] ?? next.row : next.row;
		const margin = run.margins(now.k)[row], need = run.kinds > 2 || run.settings.margin ? run.settings.margin : run.required[run.points[row][2] ? -1 : 1];
		const isMistake = !(margin > need), what = run.kinds > 2 ? "its class leads by" : "y times its activation is";
		return { words: `Row ${row + 1} is ringed. Is it a mistake of the weights of now?`, choices: ["yes", "no"], right: isMistake ? 0 : 1, row, why: `${what} ${short(margin)}: ${isMistake ? "a mistake" : "right"}.` };
	},
	(app, run, now, next) => {
		const [before, after] = [now, next].map(({ k }) => run.line(k)?.w);
		if (run.settings.solution !== "last" || !before || next.isRight || !Math.hypot(...before) || !Math.hypot(...after) || next.row < 0) return null;
		const area = before[0] * after[1] - before[1] * after[0], sign = run.points[next.row][2] ? "away from the circle" : "towards the square";
		const right = area > 0 ? 0 : area < 0 ? 1 : 2;
		return { words: `Row ${next.row + 1}, ringed, is the next mistake. Which way will w turn?`, choices: ["↺ anticlockwise", "↻ clockwise", "not at all"], right, row: next.row, why: right < 2 ? `w turns by ${angleOf(before, after).toFixed(1)}° ${"↺↻"[right]}, ${sign}.` : "x lies along w." };
	},
	(app, run, now, next) => {
		const [before, after] = [now, next].map(({ k }) => run.measure(k).errors);
		return { words: "Will fewer points be wrong after the next step?", choices: ["fewer", "as many", "more"], right: 1 + Math.sign(after - before), row: next.row, why: `${grouped(before)} were wrong, ${grouped(after)} are.` };
	},
];

// Exercises

const isSeparated = (run) => run?.trace?.stopReason === "separated";
const isSame = (one, other) => one.length === other.length && one.every((point, i) => point.join() === other[i].join());
const held = (run) => run.measure(run.last).held;

/**
 * What is to be done along the five pages. `isDone` judges the runs, left and right, and the points
 * before: those that the exercise starts with. `solution` is one of the states that solve it.
 */
export const EXERCISES = [
	{
		page: "000", text: "Try a line: draw one by hand that has all of these points right, so that no update is made.",
		address: "data=blobs&size=12&gap=0.4&seed=1&order=fixed", solution: "data=blobs&size=12&gap=0.4&seed=1&order=fixed&start=0.8,0.6,-0.72",
		isDone: ([run], before) => Boolean(run.settings.start) && isSeparated(run) && run.last === 0 && isSame(run.points, before),
	},
	{
		page: "000", text: "Move one point so that no line separates.",
		address: "data=points&points=2,1,+;1,2,+;2,2,+;-1,-1,-;-2,0,-;-1,-2,-&order=fixed", solution: "data=points&points=-1.5,-1,+;1,2,+;2,2,+;-1,-1,-;-2,0,-;-1,-2,-&order=fixed",
		isDone: ([run], before) => run.verdict.separable === false && run.points.length === before.length && run.points.filter((point, i) => point.join() !== before[i].join()).length === 1,
	},
	{
		page: "000", text: "Choose what an activation of 0 counts as on the right side, so that the two sides make different numbers of mistakes.",
		address: "data=boundary&order=fixed&compare=on&b.order=fixed", solution: "data=boundary&order=fixed&compare=on&b.order=fixed&b.ties=positive",
		isDone: ([left, right], before) => Boolean(right) && isSame(left.points, before) && left.settings.ties !== right.settings.ties && left.last !== right.last,
	},
	{
		page: "001", text: "Place four points that a line separates and that need more than twenty updates.",
		address: "data=empty&order=fixed&max_iter=1000", solution: "data=points&points=2,2,+;2,1.5,-;-2,-2,+;-2,-2.5,-&order=fixed&max_iter=1000",
		isDone: ([run]) => run.points.length === 4 && isSeparated(run) && run.last > 20,
	},
	{
		page: "001", text: "Place two points, one of each class, that a line separates (left), but no line through the origin (right).",
		address: "data=empty&compare=on&b.form=origin", solution: "data=points&points=1,1,+;2,2,-&compare=on&b.form=origin",
		isDone: ([left, right]) => left.points.length === 2 && left.settings.form === "bias" && right?.settings.form === "origin" && left.verdict.separable === true && right.verdict.separable === false,
	},
	{
		page: "002", text: "With at least six points, make the bound 10 or less.",
		address: "data=blobs&size=12&gap=0.2&order=fixed", solution: "data=points&points=1,1,+;1.2,1,+;1,1.2,+;-1,-1,-;-1.2,-1,-;-1,-1.2,-&order=fixed",
		isDone: ([run]) => run.points.length >= 6 && run.theorem?.bound <= 10,
	},
	{
		page: "002", text: "Through the origin: place points that make exactly as many mistakes as the bound allows, and at least two.",
		address: "data=empty&form=origin&order=fixed", solution: "data=points&points=1,0,+;0,-1,-&form=origin&order=fixed",
		isDone: ([run]) => run.settings.form === "origin" && run.last >= 2 && run.last === run.theorem?.bound,
	},
	{
		page: "002", text: "Make one point be mistaken five times or more, in points that a line separates: α ≥ 5.",
		address: "data=blobs&size=8&gap=0.5&order=fixed&dual=on", solution: "data=points&points=2,2,+;2,1.5,-;-2,-2,+;-2,-2.5,-&order=fixed&max_iter=1000&dual=on",
		isDone: ([run]) => isSeparated(run) && ["linear", "kernel"].includes(run.trace.kind) && Math.max(...countMistakes(run.trace, run.last, run.X.length)) >= 5,
	},
	{
		page: "003", text: "Add one point, so that no line through the origin (right) separates any more, but a line with an offset (left) still does.",
		address: "data=origin&size=12&gap=0.3&order=fixed&compare=on&b.form=origin&b.order=fixed",
		solution: "data=points&points=-1.553,1.57,-;-0.469,1.126,+;0.785,-1.547,-;0.535,-0.058,+;-0.517,-1.735,-;0.016,1.705,+;-0.62,-0.103,-;-0.634,2.13,+;-2.08,0.493,-;1.891,-0.142,+;-0.015,-1.744,-;0.737,1.97,+;-0.016,-0.012,+&order=fixed&compare=on&b.form=origin&b.order=fixed",
		isDone: ([left, right], before) => left.points.length === before.length + 1 && isSame(left.points.slice(0, -1), before) && right?.settings.form === "origin" && left.settings.form === "bias" && left.verdict.separable === true && right.verdict.separable === false,
	},
	{
		page: "003", text: "From zero, η changes nothing. Start both sides so that η = 1 and η = 1/8 make different numbers of mistakes.",
		address: "data=blobs&size=20&gap=0.2&order=fixed&compare=on&b.order=fixed&b.eta0=0.125", solution: "data=blobs&size=20&gap=0.2&order=fixed&start=1,1,1&compare=on&b.order=fixed&b.start=1,1,1&b.eta0=0.125",
		isDone: ([left, right]) => Boolean(right) && left.settings.eta0 === 1 && right.settings.eta0 === 0.125 && left.settings.start === right.settings.start && left.last !== right.last,
	},
	{
		page: "004", text: "Find an order with which these points are separated in at most two passes.",
		address: "data=500-then-500&gap=0.05&seed=2&order=fixed", solution: "data=500-then-500&gap=0.05&seed=2&order=each",
		isDone: ([run], before) => isSame(run.points, before) && isSeparated(run) && run.trace.epochs.length <= 2,
	},
	{
		page: "004", text: "Separate these four points without moving them.",
		address: "data=xor&order=fixed", solution: "data=xor&form=lifted&order=fixed",
		isDone: ([run], before) => isSame(run.points, before) && isSeparated(run),
	},
	{
		page: "004", text: "Place at most four points whose weights come back.",
		address: "data=points&points=2,1,+;-1,-1,-&order=fixed", solution: "data=xor&order=fixed",
		isDone: ([run]) => run.points.length <= 4 && Boolean(run.trace) && findRepeat(run.trace, run.last) >= 0,
	},
	{
		page: "004", text: "Make the average (right) better than the last weights (left) on the points held out.",
		address: "data=blobs&size=40&gap=-0.1&seed=9&noise=0.05&halved=on&max_iter=10&compare=on&b.max_iter=10&b.solution=average", solution: "data=blobs&size=40&gap=-0.1&seed=1&noise=0.05&halved=on&max_iter=10&compare=on&b.max_iter=10&b.solution=average",
		isDone: ([left, right]) => left.settings.solution === "last" && right?.settings.solution === "average" && held(right) < held(left),
	},
	{
		page: "004", text: "This kernel overfits: 16 of 60 points held out are wrong. Change its γ until at most 10 are.",
		address: "data=moons&size=120&seed=31&noise=0.1&halved=on&form=kernel&gamma=20&order=fixed", solution: "data=moons&size=120&seed=31&noise=0.1&halved=on&form=kernel&gamma=0.3&order=fixed",
		isDone: ([run], before) => isSame(run.points, before) && run.settings.form === "kernel" && run.settings.kernel === "rbf" && run.rows.held.length === 60 && held(run) <= 10,
	},
];
