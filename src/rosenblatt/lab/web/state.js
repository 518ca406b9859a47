// What a page shows: its points and settings, as an address to share and as lines of Python.

import { makeSet, OPTIONS, SETS } from "./sets.js";

export const MOST_POINTS = 1000;
export const LARGEST = 1e6;
const SIGNS = ["+", "-", "*"]; // of classes, in an address

export const FORMS = {
	bias: "line with a bias",
	origin: "line through the origin",
	lifted: "plane with a third feature",
	kernel: "dual, with a kernel",
	network: "network that grows",
};

const LINES = ["bias", "origin", "lifted"];
const LEARNING = [...LINES, "kernel"];
const ALL = [...LEARNING, "network"];
const between = (low, high) => (value) => value >= low && value <= high;
const whole = (low, high) => (value) => Number.isInteger(value) && value >= low && value <= high;

/** Every setting: its words, a sentence, the forms that have it, and its choices or range. */
export const SETTINGS = {
	form: { words: "Form", hint: "Whether the line may pass anywhere, only through the origin, or be bent by a feature, a kernel or units.", forms: ALL, choices: FORMS },
	third: { words: "Third feature", hint: "A feature added to x₁ and x₂; a plane in that space is a curve here.", forms: ["lifted"], choices: { product: "x₁·x₂", square: "x₁² + x₂²" } },
	lift: { words: "Lift", hint: "Whether units see the plane, or a sphere on which their lines are circles.", forms: ["network"], choices: { auto: "auto", sphere: "sphere", none: "none" } },
	kernel: { words: "Kernel", hint: "The function that replaces the dot product of two points.", forms: ["kernel"], choices: { rbf: "Gaussian (rbf)", linear: "linear", poly: "polynomial", sigmoid: "sigmoid" } },
	order: { words: "Order", hint: "The order in which each epoch goes through the rows.", forms: LEARNING, choices: { each: "new permutation each epoch", once: "one permutation", fixed: "as given", batch: "all at once (batch)", active: "all, then hard rows", first: "first mistake", worst: "worst mistake" } },
	solution: { words: "Solution", hint: "Which weights predict: the last ones, their average, their vote, or the best ones met.", forms: LEARNING, choices: { last: "last", average: "average", vote: "vote", pocket: "pocket" } },
	ties: { words: "Activation 0 is", hint: "What an activation of exactly 0 counts as: sgn(0).", forms: LEARNING, choices: { mistake: "a mistake", positive: "+1", negative: "−1", correct: "right" } },
	intercept_step: { words: "Bias step", hint: "How far a mistake moves the bias b.", forms: ["bias", "lifted", "kernel"], choices: { 1: "1", radius: "R²", 0: "0, a fixed threshold" } },
	eta0: { words: "Rate η", hint: "A mistake adds η·y·x; from zero weights, η only scales them (up to rounding, if it is not a power of two).", forms: LINES, usual: 1, step: "any", wanted: "above 0", accepts: (value) => value > 0 && value <= LARGEST },
	margin: { words: "Demanded margin", hint: "A row is a mistake until y·activation exceeds this.", forms: LEARNING, usual: 0, step: "any", wanted: "0 or more", accepts: between(0, LARGEST) },
	gamma: { words: "γ of the kernel", hint: "A larger γ lets a Gaussian kernel follow single points more closely.", forms: ["kernel"], usual: 1, step: "any", wanted: "above 0", accepts: (value) => value > 0 && value <= LARGEST },
	degree: { words: "Degree", hint: "The degree of the polynomial kernel.", forms: ["kernel"], usual: 2, step: 1, wanted: "a whole number from 1 to 20", accepts: whole(1, 20) },
	start: { words: "Start w₁, w₂, b", hint: "Where learning starts; empty is zero. The handles on the plane set it, too.", forms: ["bias", "origin"], usual: "", text: true },
	max_units: { words: "Most units", hint: "The network stops growing at this number of units.", forms: ["network"], usual: 20, step: 1, wanted: "a whole number from 1 to 40", accepts: whole(1, 40) },
	max_iter: { words: "Most epochs", hint: "The run stops after this number of epochs, separated or not.", forms: ALL, usual: 100, step: 1, wanted: "a whole number from 1 to 1000", accepts: whole(1, 1000) },
	random_state: { words: "Seed", hint: "The same seed gives the same permutations.", forms: ALL, usual: 0, step: 1, wanted: "a whole number from 0 to 2³² − 1", accepts: whole(0, 2 ** 32 - 1) },
};

/** Orders and solutions of a form, and what Python calls their defaults. */
const KERNEL_CHOICES = { order: ["each", "once", "fixed"], solution: ["last", "average", "vote"] };
const LINE_CHOICES = { solution: ["last", "average", "pocket"] };
const DEFAULTS = { kernel: "rbf", third: "product", solution: "last", intercept_step: "1" };

/** The textbook forms (docs/textbook.md has the whole table). */
export const DOCUMENTS = {
	"000": { words: "000: lecture notes with the loss J", settings: { form: "bias", order: "each", ties: "positive", intercept_step: "1" } },
	"001": { words: "001: first mistake", settings: { form: "origin", order: "first", ties: "negative" } },
	"001θ": { words: "001: with a fixed threshold θ = 1", settings: { form: "bias", order: "first", ties: "negative", intercept_step: "0", start: "0,0,-1" } },
	"002": { words: "002: primal form with R²", settings: { form: "bias", order: "fixed", ties: "mistake", intercept_step: "radius" } },
	"002b": { words: "002: the listing, from w = 1 and b = 1", settings: { form: "bias", order: "fixed", ties: "correct", intercept_step: "1", eta0: 0.1, start: "1,1,1", max_iter: 1000 } },
	"003": { words: "003: through the origin", settings: { form: "origin", order: "fixed", ties: "mistake" } },
	"004": { words: "004: a new order each pass", settings: { form: "bias", order: "each", ties: "mistake", intercept_step: "1" } },
};

export function usualSettings() {
	const usual = ([name, { choices, usual }]) => [name, choices ? (DEFAULTS[name] ?? Object.keys(choices)[0]) : usual];
	return Object.fromEntries(Object.entries(SETTINGS).map(usual));
}

/** The choices that a setting has under the form of some settings. */
export function choicesOf(name, settings) {
	const { choices } = SETTINGS[name];
	const allowed = (settings.form === "kernel" ? KERNEL_CHOICES : LINE_CHOICES)[name];
	return allowed ? Object.fromEntries(allowed.map((key) => [key, choices[key]])) : choices;
}

/** Why settings cannot be learnt with, in one sentence; or "". */
export function conflictOf(settings, kinds) {
	const { form, order, solution, ties } = settings;
	if (kinds > 2) {
		if (!["bias", "origin"].includes(form) || !["last", "average"].includes(solution)) {
			return "Three classes are shown for lines, with a bias or through the origin, and their last or average weights; choose these, or points of two classes.";
		}
		if (settings.start) return "With three classes learning starts at zero; clear the field “Start”.";
		if (["positive", "negative"].includes(ties)) return "Three classes at once have no sign of 0; choose “a mistake” or “right”.";
	}
	if (form === "network") return "";
	if (form !== "kernel" && solution === "vote") return "The vote needs every mistaken row, which the dual form keeps; choose the form “dual, with a kernel”.";
	if (order === "batch" && solution === "pocket") {
		return `The ${solution} counts rows that are right one after the other, and a batch takes all at once; choose the last or average weights.`;
	}
	if (["first", "worst"].includes(order) && solution === "average") {
		return `The ${solution} weighs weights by the rows that they survive, which this order does not count; choose another order.`;
	}
	if (["active", "first", "worst"].includes(order) && solution === "pocket") {
		return "The pocket needs runs over all rows, which this order does not make; choose another order.";
	}
	return "";
}

// Addresses

const usualOptions = () => Object.fromEntries(Object.entries(OPTIONS).map(([name, { usual }]) => [name, usual]));

export function usualState() {
	return {
		data: "blobs", options: usualOptions(), placed: null, asked: [], columns: [], classes: [],
		settings: [usualSettings(), null], moment: 0, rows: false, dual: false, halved: false, quiz: false, curve: "errors", panel: "time", lang: "en",
	};
}

/** The state that an address holds; what it does not name is as usual. */
export function readAddress(address) {
	const state = usualState(), items = new URLSearchParams(address.replace(/^[?#]/, "").replaceAll("+", "%2B"));
	for (const [name, text] of items) readItem(state, name, text);
	if (items.has("points")) {
		state.placed = readPoints(items.get("points"));
		state.data = "points";
	} else if (state.data === "points") state.data = "empty";
	else if (!SETS[state.data]) throw new Error(`There is no set “${state.data}”; there are ${Object.keys(SETS).join(", ")}.`);
	return state;
}

function readItem(state, name, text) {
	if (name in OPTIONS) state.options[name] = readNumber(name, text);
	else if (["rows", "dual", "halved", "quiz"].includes(name)) state[name] = text === "on";
	else if (["data", "curve", "panel", "lang"].includes(name)) state[name] = text;
	else if (["columns", "classes"].includes(name)) state[name] = text.split(";").map((each) => each.slice(0, 40));
	else if (name === "t") state.moment = Math.max(readNumber("The moment t", text), 0);
	else if (name === "ask") state.asked = readPairs(text);
	else if (name === "compare") state.settings[1] = { ...usualSettings(), ...state.settings[1] };
	else if (name.startsWith("b.") && name.slice(2) in SETTINGS) {
		state.settings[1] = { ...(state.settings[1] ?? usualSettings()), [name.slice(2)]: readSetting(name.slice(2), text) };
	} else if (name in SETTINGS) state.settings[0][name] = readSetting(name, text);
}

function readNumber(what, text) {
	const value = Number(text);
	if (!text.trim() || !Number.isFinite(value)) throw new Error(`${what} must be a number; got “${text.slice(0, 40)}”.`);
	return value;
}

/** A setting from text, in its range. */
export function readSetting(name, text) {
	const { words, choices, text: isText, wanted, accepts } = SETTINGS[name];
	if (choices) {
		if (!(text in choices)) throw new Error(`${words} must be one of ${Object.keys(choices).join(", ")}; got “${text.slice(0, 40)}”.`);
		return text;
	}
	if (isText) return readStart(text);
	const value = readNumber(words, text);
	if (!accepts(value)) throw new Error(`${words} must be ${wanted}; got ${text.slice(0, 40)}.`);
	return value;
}

function readStart(text) {
	if (!text.trim()) return "";
	const parts = text.split(",").map((part) => (part.trim() ? Number(part) : NaN));
	if (parts.length !== 3 || !parts.every((part) => Math.abs(part) <= LARGEST)) {
		throw new Error(`The start must be three numbers w₁,w₂,b up to 1,000,000, or empty; got “${text.slice(0, 40)}”.`);
	}
	return parts.join(",");
}

function readPoints(text) {
	const points = text.split(";").filter(Boolean).map((row) => {
		const [x, y, sign] = row.split(","), kind = SIGNS.indexOf(sign);
		if (kind < 0 || !isPlace(x, y)) throw new Error(`The address has a point “${row.slice(0, 40)}”; a point is x,y,+ or x,y,- (or x,y,* of a third class).`);
		return [Number(x), Number(y), kind];
	});
	return checkPoints(points, "The address");
}

const readPairs = (text) => text.split(";").filter(Boolean).map((row) => row.split(",")).filter(([x, y]) => isPlace(x, y)).map(([x, y]) => [Number(x), Number(y)]);
const isPlace = (x, y) => x?.trim() && y?.trim() && Math.abs(Number(x)) <= LARGEST && Math.abs(Number(y)) <= LARGEST;

/** The points, unless they are too many or too large to draw. */
export function checkPoints(points, name = "This set") {
	if (points.length > MOST_POINTS) {
		throw new Error(`${name} has ${points.length.toLocaleString("en")} points; the lab shows up to ${MOST_POINTS.toLocaleString("en")}. Take some of the rows, or use rosenblatt train for all of them.`);
	}
	const bad = points.findIndex(([x, y]) => !(Math.abs(x) <= LARGEST && Math.abs(y) <= LARGEST));
	if (bad >= 0) throw new Error(`${name} has a number in row ${bad + 1} that is missing or above 1,000,000; fill it, scale it, or leave the row out.`);
	return points;
}

/** The address of a state, with what differs from the usual. */
export function writeAddress(state) {
	const usual = usualState(), items = [["data", state.data]];
	for (const [name, value] of Object.entries(state.options)) if (value !== usual.options[name] && SETS[state.data]?.options.includes(name)) items.push([name, value]);
	if (state.data === "points") {
		items.push(["points", state.placed.map(([x, y, kind]) => `${x},${y},${SIGNS[kind]}`).join(";")]);
		for (const name of ["columns", "classes"]) if (state[name].length) items.push([name, state[name].join(";")]);
	}
	if (state.asked.length) items.push(["ask", state.asked.map((place) => place.join()).join(";")]);
	const plain = usualSettings();
	for (const [name, value] of Object.entries(state.settings[0])) if (value !== plain[name]) items.push([name, value]);
	if (state.settings[1]) {
		items.push(["compare", "on"]);
		for (const [name, value] of Object.entries(state.settings[1])) if (value !== plain[name]) items.push([`b.${name}`, value]);
	}
	for (const name of ["rows", "dual", "halved", "quiz"]) if (state[name]) items.push([name, "on"]);
	for (const name of ["curve", "panel", "lang"]) if (state[name] !== usual[name]) items.push([name, state[name]]);
	if (state.moment) items.push(["t", state.moment]);
	const encode = (value) => encodeURIComponent(value).replace(/%(2C|3B|20|2F|3A|2B)/g, (code) => ({ "%2C": ",", "%3B": ";", "%20": "%20", "%2F": "/", "%3A": ":", "%2B": "+" })[code]);
	return items.map(([name, value]) => `${name}=${encode(value)}`).join("&");
}

/** The points that a state means, with the names of columns and classes. */
export function pointsOf(state) {
	if (state.data === "points") return { points: state.placed, columns: state.columns, classes: state.classes };
	return makeSet(state.data, state.options);
}

/** How many classes points have: 3 if there is a third one. */
export function countKinds(points) {
	return points.some(([, , kind]) => kind === 2) ? 3 : 2;
}

/** The numbers of the points that are learnt from, and of those held out. */
export function splitRows(points, isHalved) {
	const counts = [0, 0, 0], learnt = [], held = [];
	points.forEach(([, , kind], i) => (isHalved && counts[kind]++ % 2 ? held : learnt).push(i));
	return { learnt, held };
}

// Python

const quoted = (value) => (typeof value === "string" ? `"${value}"` : String(value));
const float = (value) => (Number.isInteger(value) && !String(value).includes("e") ? `${value}.0` : String(value));

/** The parameters of the estimator that differ from its defaults. */
export function parametersOf(settings) {
	const { form } = settings, found = {};
	const usual = { order: "each", solution: "last", ties: "mistake", eta0: 1, margin: 0, max_iter: 100, kernel: "rbf", lift: "auto" };
	if (form === "origin") found.fit_intercept = "False";
	for (const [name, { forms }] of Object.entries(SETTINGS)) {
		if (!forms.includes(form) || ["form", "third", "start"].includes(name) || settings[name] === usual[name]) continue;
		if (name === "degree" && settings.kernel !== "poly") continue;
		if (name === "gamma" && settings.kernel === "linear") continue;
		if (name === "intercept_step" && settings[name] === "1") continue;
		if (name === "intercept_step" && settings[name] === "0") found[name] = 0;
		else found[name] = ["eta0", "margin", "gamma"].includes(name) ? float(settings[name]) : quoted(settings[name]);
	}
	return found;
}

/** Lines that make exactly this run; `epochs` where the page had to cut it. */
export function pythonLines(points, settings, isHalved, epochs = null) {
	const { form } = settings, kinds = countKinds(points), { learnt, held } = splitRows(points, isHalved);
	const name = { kernel: "KernelPerceptron", network: "PerceptronNetwork" }[form] ?? "Perceptron";
	const parameters = parametersOf(settings);
	if (epochs !== null) parameters.max_iter = epochs;
	const call = Object.entries(parameters).map(([key, value]) => `${key}=${value}`).join(", ");
	const third = { product: "X[:, 0] * X[:, 1]", square: "X[:, 0] ** 2 + X[:, 1] ** 2" }[settings.third];
	const lift = form === "lifted" ? `X = np.column_stack([X, ${third}])\n` : "";
	let fit = "";
	if (settings.start && ["bias", "origin"].includes(form)) {
		const [w1, w2, b] = settings.start.split(",").map((part) => float(Number(part)));
		fit = `, coef_init=[[${w1}, ${w2}]]${form === "origin" ? "" : `, intercept_init=[${b}]`}`;
	}
	const printed = { kernel: "model.dual_coef_, model.intercept_", network: "model.n_units_, model.units_" }[form] ?? "model.coef_, model.intercept_";
	const counts = form === "network" ? "" : ", model.n_iter_, model.n_mistakes_";
	const more = held.length ? `\n${dataLines(held.map((i) => points[i]), kinds)}${lift}print(model.score(X, y))  # held out\n` : "";
	const numbers = [...points.flat(), settings.eta0, settings.margin, ...settings.start.split(",").map(Number)];
	const plain = numbers.every((value) => Number.isInteger(1024 * value)) ? "" : "# Run these lines with ROSENBLATT_KERNELS=python in the environment: plain Python rounds sums as the page does.\n";
	return `${plain}import numpy as np
from rosenblatt import ${name}

${dataLines(learnt.map((i) => points[i]), kinds)}${lift}
model = ${name}(${call}).fit(X, y${fit})
print(model.stop_reason_${counts})
print(${printed})
${more}`;
}

function dataLines(points, kinds) {
	const rows = points.map(([x, y]) => `        [${float(x)}, ${float(y)}],\n`).join("");
	return `X = np.array(\n    [\n${rows}    ]\n)\ny = np.array([${points.map(([, , kind]) => labelOf(kind, kinds)).join(", ")}])\n`;
}

/** The label of a class in Python and in CSV files. */
export function labelOf(kind, kinds) {
	return kinds > 2 ? kind + 1 : kind ? -1 : 1;
}

export function writeCsv(points) {
	const kinds = countKinds(points);
	return `x1,x2,label\n${points.map(([x, y, kind]) => `${x},${y},${labelOf(kind, kinds)}\n`).join("")}`;
}
