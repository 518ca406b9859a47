// The guided tour: a stop for every concept of the five textbook pages (docs/textbook.md). Each stop
// has two lines of text, and `holds`: what the text claims, as a condition on its runs, left and right.

import { countMistakes, findRepeat } from "./trace.js";

const END = 9999; // the last moment, whatever its number
const isSeparated = (...runs) => runs.every((run) => run.trace.stopReason === "separated");
const held = (run, k = run.last) => run.measure(k).held;
const firstPass = (run) => run.trace.epoch.findLastIndex((epoch) => epoch <= 1);
const reached = (run) => run.measure(run.last).least / Math.hypot(...run.line(run.last).w);
const SAME = "data=blobs&size=80&gap=-0.1&seed=3&noise=0.05&halved=on&compare=on&max_iter=10&b.max_iter=10";

/** @type {{name: string, title: string, text: string, document: string, address: string, holds: function, ways?: [string, string, function][]}[]} */
export const TOUR = [
	{
		name: "line", title: "A line", text: "Squares are +1, circles −1. Drag a square across: the line is learnt again at once. The triangle has no label; the line decides its class.",
		document: "000, problem statement", address: `data=blobs&size=30&gap=0.3&seed=3&order=fixed&ask=1.6,-0.4&t=${END}`,
		holds: ([run]) => isSeparated(run) && run.last >= 3,
	},
	{
		name: "zero", title: "sgn(0)", text: "At w = 0 every activation is 0. 000 says sgn(0) = +1, 001 says −1, 002 calls it a mistake. The last point lies on the line now: who is right?",
		document: "000 and 001, sgn; 002, the test", address: "data=boundary&order=fixed&t=1",
		holds: ([run]) => run.measure(1).margins[4] === 0,
		ways: [
			["0 is a mistake", `data=boundary&order=fixed&t=${END}`, ([run]) => run.measure(run.last).margins[4] > 0],
			["0 is +1", `data=boundary&order=fixed&ties=positive&t=${END}`, ([run]) => run.measure(run.last).margins[4] === 0 && isSeparated(run)],
		],
	},
	{
		name: "update", title: "The update", text: "A mistake adds y·x to w and y to b. The panel shows y·x from the tip of w to w′. y·(w·x + b) rises by exactly ‖x‖² + 1. Step on and back.",
		document: "001, why does this work?; 004, the new activation", address: "data=blobs&size=30&gap=0.15&seed=13&order=fixed&panel=vectors&t=3",
		holds: ([run]) => run.last >= 5,
	},
	{
		name: "angles", title: "Angles", text: "The sign of w·x is that of cos ∠(w, x). An update turns w towards a square in use and away from a circle. The panel: before and after.",
		document: "001, angles below and above 90°", address: "data=origin&size=24&gap=0.15&seed=5&form=origin&order=first&ties=negative&panel=vectors&t=2",
		holds: ([run]) => run.last >= 5 && Math.hypot(...run.line(1).w) > 0,
	},
	{
		name: "threshold", title: "A threshold", text: "001 begins with w·x > θ and a fixed θ, here 1. b = −θ never moves; w grows until θ no longer matters. Right: the threshold is learnt, too.",
		document: "001, θ", address: `data=origin&size=24&gap=0.2&seed=4&order=first&ties=negative&intercept_step=0&start=0,0,-1&compare=on&b.order=first&b.ties=negative&t=${END}`,
		holds: ([left, right]) => isSeparated(left, right) && left.line(left.last).b === -1 && left.last >= 3 && right.line(right.last).b !== -1,
	},
	{
		name: "bias", title: "Bias and origin", text: "Left, b shifts the line; right, no line through the origin works. The panel: with a third coordinate 1, the bias is one more weight.",
		document: "000, x₀ = 1; 003, with offset; 004, the bias", address: `data=blobs&size=30&gap=0.3&seed=2&order=fixed&compare=on&b.form=origin&b.order=fixed&panel=space&t=${END}`,
		holds: ([left, right]) => left.verdict.separable && right.verdict.separable === false && left.last >= 3,
	},
	{
		name: "projection", title: "Projection on w", text: "The strip shows how far each point lies along w, and the threshold −b/‖w‖. Only the direction of w matters for the classes, not its length.",
		document: "004, dot products as projections", address: `data=blobs&size=60&gap=0.25&order=fixed&panel=strip&t=${END}`,
		holds: ([run]) => isSeparated(run),
	},
	{
		name: "rate", title: "The rate η", text: "From zero weights, η = 1 and η = 1/8 make the same mistakes: η only scales w and b (η = 0.1 also rounds). From another start it matters.",
		document: "000 and 002, η", address: `data=blobs&size=40&gap=0.1&seed=2&order=fixed&compare=on&b.order=fixed&b.eta0=0.125&t=${END}`,
		holds: ([left, right]) => left.last >= 10 && left.trace.row.join() === right.trace.row.join(),
		ways: [
			["From zero", `data=blobs&size=40&gap=0.1&seed=2&order=fixed&compare=on&b.order=fixed&b.eta0=0.125&t=${END}`, ([left, right]) => left.last === right.last],
			["From a line", `data=blobs&size=40&gap=0.1&seed=2&order=fixed&start=1,1,1&compare=on&b.order=fixed&b.start=1,1,1&b.eta0=0.125&t=${END}`, ([left, right]) => left.last !== right.last],
		],
	},
	{
		name: "sepals", title: "The listing of 002", text: "99 flowers, w = 1 and b = 1 at the start, η = 0.1, a mistake only below 0: the page’s own program, which ends in its round 702.",
		document: "002, Python code", address: `data=sepals&order=fixed&ties=correct&eta0=0.1&start=1,1,1&max_iter=1000&t=${END}`,
		holds: ([run]) => isSeparated(run) && run.trace.epochs.length === 702 && run.points.length === 99,
	},
	{
		name: "convergence", title: "Convergence", text: "Go to the start and play. The number of wrong points goes up and down, but the updates end: a pass without a mistake proves the line right.",
		document: "004, convergence", address: `data=blobs&size=120&gap=0.05&seed=7&t=${END}`,
		holds: ([run]) => isSeparated(run) && run.series("errors").values.filter((value, k, all) => value > all[k - 1]).length >= 5,
	},
	{
		name: "order", title: "Order", text: "500 squares, then 500 circles. As given (left), w first learns to say +1, then −1, and needs many more passes than with new permutations (right).",
		document: "004, the order of the examples", address: `data=500-then-500&gap=0.05&seed=2&order=fixed&compare=on&t=${END}`,
		holds: ([left, right]) => isSeparated(left, right) && left.trace.epochs.length >= 3 * right.trace.epochs.length && left.last >= 2 * right.last,
	},
	{
		name: "batch", title: "All at once", text: "Gradient descent on J adds all mistakes of a pass, then moves (left); the perceptron moves at each one (right). A batch takes more passes.",
		document: "000, gradient descent", address: `data=blobs&size=40&gap=0.15&seed=2&order=batch&compare=on&b.order=fixed&t=${END}`,
		holds: ([left, right]) => left.trace.epochs.length >= 2 * right.trace.epochs.length && left.trace.batches.some((batch) => batch.length > 3),
	},
	{
		name: "bound", title: "Margin and bound", text: "At most (R/γ)² mistakes, in any order. The chart shows why: after M mistakes, ‖w‖ is at least γM and at most R√M. These limits meet.",
		document: "002, Novikoff; 004, the convergence theorem", address: `data=blobs&size=60&gap=0.1&order=fixed&curve=length&t=${END}`,
		holds: ([run]) => run.last >= 10 && run.last <= run.theorem.bound && run.series("length").values.every((value, M) => value >= run.theorem.margin * M - 1e-9 && value <= run.theorem.radius * Math.sqrt(M) + 1e-9),
	},
	{
		name: "novikoff", title: "The bound (2R/γ)²", text: "002 moves the bias by R² and proves at most (2R/γ)² mistakes. The verdict shows it beside the bound with the bias as a coordinate.",
		document: "002, stop in finite steps", address: `data=blobs&size=60&gap=0.3&order=fixed&intercept_step=radius&curve=length&t=${END}`,
		holds: ([run]) => run.last >= 3 && run.theorem.bound <= run.theorem.textbook.bound && run.last <= run.theorem.bound,
	},
	{
		name: "margin", title: "A demanded margin", text: "Left stops as soon as every point is right. Right calls a point a mistake until y·(w·x + b) exceeds 5: more updates, and a wider margin.",
		document: "004, margin", address: `data=blobs&size=40&gap=0.3&seed=14&order=fixed&compare=on&b.order=fixed&b.margin=5&t=${END}`,
		holds: ([left, right]) => isSeparated(left, right) && right.last > left.last && reached(right) > 1.5 * reached(left),
	},
	{
		name: "dual", title: "The dual form", text: "Count the mistakes α at each point (the numbers): w = Σ αᵢyᵢxᵢ. Learning then needs only the products xᵢ·xⱼ, the Gram matrix in the panel.",
		document: "002, dual form", address: `data=origin&size=24&gap=0.1&seed=9&form=origin&order=fixed&dual=on&panel=gram&t=${END}`,
		holds: ([run]) => countMistakes(run.trace, run.last, run.X.length).filter((count) => count >= 2).length >= 3,
	},
	{
		name: "xor", title: "No line for XOR", text: "The segments between the squares and between the circles cross at the star. A line with both squares on one side has a circle there, too.",
		document: "004, limitations", address: `data=xor&order=fixed&max_iter=20&t=${END}`,
		holds: ([run]) => run.verdict.separable === false && run.verdict.meeting.every((value) => value === 0),
	},
	{
		name: "feature", title: "One more feature", text: "The product x₁·x₂ as a third feature lifts the points into space, where a plane separates them. Here, that is a cross. Drag the panel.",
		document: "004, feature combinations", address: `data=xor&form=lifted&order=fixed&panel=space&t=${END}`,
		holds: ([run]) => isSeparated(run) && run.verdict.plane.separable === false,
		ways: [
			["XOR", `data=xor&form=lifted&order=fixed&panel=space&t=${END}`, ([run]) => isSeparated(run)],
			["Circles", `data=circles&form=lifted&third=square&order=fixed&panel=space&t=${END}`, ([run]) => isSeparated(run) && run.last >= 3],
		],
	},
	{
		name: "kernels", title: "Kernels", text: "A kernel K(x, x′) in place of x·x′ does the same without writing features down. A Gaussian kernel separates any points that are not equal.",
		document: "004, kernels; 002, the Gram matrix", address: `data=circles&form=kernel&kernel=rbf&order=fixed&panel=gram&t=${END}`,
		holds: ([run]) => isSeparated(run) && run.verdict.separable && !run.verdict.plane.separable,
		ways: [
			["XOR", `data=xor&form=kernel&kernel=poly&order=fixed&panel=gram&t=${END}`, ([run]) => isSeparated(run)],
			["Circles", `data=circles&form=kernel&order=fixed&panel=gram&t=${END}`, ([run]) => isSeparated(run)],
			["Moons", `data=moons&form=kernel&kernel=poly&degree=3&t=${END}`, ([run]) => isSeparated(run)],
		],
	},
	{
		name: "networks", title: "Networks", text: "Several perceptrons together: unit 2 turns unit 1 off where it is wrong. Each unit is trained by the perceptron rule.",
		document: "004, neural networks", address: `data=xor&form=network&panel=units&t=${END}`,
		holds: ([run]) => isSeparated(run) && run.last === 2 && run.trace.units[1].sign < 0,
		ways: [
			["XOR", `data=xor&form=network&panel=units&t=${END}`, ([run]) => isSeparated(run) && run.last === 2],
			["Moons", `data=moons&form=network&panel=units&t=${END}`, ([run]) => isSeparated(run) && run.last >= 2],
		],
	},
	{
		name: "average", title: "Average and vote", text: "With noise, the last weights depend on the last mistake. Their average (right) is wrong on fewer of the hollow points, held out.",
		document: "beyond the five pages", address: `${SAME}&b.solution=average&t=${END}`,
		holds: ([last, average]) => held(average) < held(last) / 2,
		ways: [["Average", `${SAME}&b.solution=average&t=${END}`, ([last, average]) => held(average) < held(last)], ["Vote", `${SAME}&b.form=kernel&b.kernel=linear&b.solution=vote&t=${END}`, ([last, vote]) => held(vote) < held(last)]],
	},
	{
		name: "passes", title: "Too many passes", text: "A narrow Gaussian kernel goes on until every training point is right. On the points held out (dotted) it was better after its first pass.",
		document: "004, MaxIter and overfitting", address: `data=moons&size=120&seed=31&noise=0.1&halved=on&form=kernel&gamma=20&order=fixed&curve=share&t=${END}`,
		holds: ([run]) => isSeparated(run) && held(run, firstPass(run)) <= held(run) - 5,
	},
	{
		name: "cycling", title: "Cycling", text: "Without a line, the updates never end. In a fixed order, XOR’s weights come back: step until the page says “the same weights as …”.",
		document: "004, if the data are not separable", address: "data=xor&order=fixed&max_iter=12&curve=length&t=8",
		holds: ([run]) => findRepeat(run.trace, 8) === 4,
		ways: [
			["XOR cycles", "data=xor&order=fixed&max_iter=12&curve=length&t=8", ([run]) => findRepeat(run.trace, 8) >= 0],
			["Noise", `data=blobs&gap=-0.2&size=60&max_iter=50&t=${END}`, ([run]) => run.verdict.separable === false && !isSeparated(run)],
		],
	},
];
