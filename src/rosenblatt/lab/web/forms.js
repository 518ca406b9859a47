// The form: sets, settings of one or two runs, files; and what the buttons do.

import { $ } from "./app.js";
import { EXERCISES } from "./ask.js";
import { CURVES } from "./chart.js";
import { guessLabel, numberColumns, pointsOfTable, readTable } from "./csv.js";
import { PANELS } from "./panels.js";
import { download, figurePng, figureSvg, onePage } from "./save.js";
import { drawQr } from "./qr.js";
import { OPTIONS, SETS } from "./sets.js";
import { choicesOf, countKinds, DOCUMENTS, readSetting, SETTINGS, usualSettings, writeCsv } from "./state.js";
import { TOUR } from "./tour.js";
import { titleOf } from "./words.js";

const element = (tag, properties = {}, ...children) => {
	const made = Object.assign(document.createElement(tag), properties);
	made.append(...children);
	return made;
};
const option = (value, words) => element("option", { value, textContent: words });

/** Fill the form's lists once. */
export function buildForms(app) {
	const groups = [...new Set(Object.values(SETS).map(({ group }) => group))];
	$("data").append(option("points", "your own points"), ...groups.map((group) => {
		const sets = Object.entries(SETS).filter(([, set]) => set.group === group);
		return element("optgroup", { label: group }, ...sets.map(([name, { words }]) => option(name, words)));
	}));
	for (const [name, { words, what, low, high, step }] of Object.entries(OPTIONS)) {
		const input = element("input", { type: "number", name, min: low, max: high, step });
		$("options").append(element("label", { title: what }, `${words} `, input));
		input.addEventListener("change", () => changeOption(app, name, input));
	}
	for (const side of [0, 1]) buildSettings(app, side);
	for (const [name, words] of Object.entries(CURVES)) $("curve").append(option(name, words));
	for (const [name, { words, hint }] of Object.entries(PANELS)) {
		const tab = element("button", { type: "button", textContent: words, title: hint });
		tab.dataset.panel = name;
		tab.setAttribute("role", "tab");
		tab.addEventListener("click", () => {
			app.state.panel = name;
			app.draw(["panel"]);
			app.writeHash();
		});
		$("tabs").append(tab);
	}
	listen(app);
	app.listeners.push(() => syncForms(app));
}

function buildSettings(app, side) {
	const box = $(`settings-${side}`), documents = element("select", { className: "document" }, option("", "–"), ...Object.entries(DOCUMENTS).map(([name, { words }]) => option(name, words)));
	box.append(element("label", { className: "wide", title: "Set all that one of the five textbook pages fixes" }, "As in textbook page ", documents));
	documents.addEventListener("change", () => {
		if (documents.value) app.change((state) => Object.assign(state.settings[side], DOCUMENTS[documents.value].settings));
		rest(app);
	});
	for (const [name, { words, hint, choices, step, text }] of Object.entries(SETTINGS)) {
		const input = choices ? element("select") : element("input", text ? { type: "text", placeholder: "0,0,0" } : { type: "number", step });
		input.name = name;
		input.id = `${name}-${side}`;
		const label = element("label", { title: hint, id: `label-${name}-${side}` }, name === "form" ? "" : `${words} `, input);
		if (name === "form") input.setAttribute("aria-label", words);
		(name === "form" ? $(`form-place-${side}`) : box).append(label);
		input.addEventListener("change", () => {
			try {
				const value = readSetting(name, input.value);
				app.say("");
				app.change((state) => (state.settings[side][name] = value));
			} catch (error) {
				app.say(error.message, true);
				syncForms(app);
			}
			if (choices) rest(app);
		});
	}
}

function changeOption(app, name, input) {
	const { what, low, high } = OPTIONS[name], value = Number(input.value);
	if (!input.value || !(value >= low && value <= high) || (name !== "gap" && name !== "noise" && !Number.isInteger(value))) {
		app.say(`${what} must be ${name === "gap" || name === "noise" ? "a" : "a whole"} number from ${low} to ${high}; got “${input.value}”.`, true);
		return syncForms(app);
	}
	app.say("");
	app.look = null;
	app.change((state) => (state.options[name] = value));
}

/** After a choice by pointer, keys belong to the player again. */
function rest(app) {
	if (app.lastInput !== "key") $("plane-0").focus({ preventScroll: true });
}

/** Show the state in the form. */
export function syncForms(app) {
	const { state } = app, kinds = countKinds(app.found.points);
	$("data").value = state.data;
	for (const input of $("options").querySelectorAll("input")) {
		input.value = state.options[input.name];
		input.parentElement.hidden = !SETS[state.data]?.options.includes(input.name);
	}
	for (const id of ["halved", "rows", "dual"]) $(id).checked = state[id];
	$("compare").checked = Boolean(state.settings[1]);
	$("settings-1").hidden = !state.settings[1];
	$("settings-0").firstElementChild.textContent = state.settings[1] ? "Learning, left side" : "Learning";
	$("curve").value = state.curve;
	for (const side of [0, 1]) if (state.settings[side]) syncSettings(state.settings[side], side, kinds);
	$("columns").hidden = !app.table;
	syncBrush(app);
	$("undo").disabled = !app.past.length;
	$("redo").disabled = !app.future.length;
	$("try").textContent = state.settings[0].start ? "Forget the line" : "Try a line";
	$("try").disabled = !["bias", "origin"].includes(state.settings[0].form) || kinds > 2;
	syncSelection(app);
}

export function syncSelection(app) {
	for (const id of ["flip", "remove"]) $(id).disabled = !app.selected.length && !(id === "remove" && app.chosenAsked >= 0);
}

function syncSettings(settings, side, kinds) {
	for (const [name, { forms, choices }] of Object.entries(SETTINGS)) {
		const input = $(`${name}-${side}`), offered = choices && choicesOf(name, settings);
		let isShown = forms.includes(settings.form);
		if (name === "degree") isShown &&= settings.kernel === "poly";
		if (name === "gamma") isShown &&= settings.kernel !== "linear";
		if (name === "start") isShown &&= kinds < 3;
		$(`label-${name}-${side}`).hidden = !isShown;
		if (offered && input.dataset.offered !== Object.keys(offered).join()) {
			input.dataset.offered = Object.keys(offered).join();
			input.replaceChildren(...Object.entries(offered).map(([value, words]) => option(value, words)));
		}
		input.value = settings[name];
	}
	const shown = Object.entries(DOCUMENTS).find(([, { settings: wanted }]) => Object.entries(wanted).every(([name, value]) => settings[name] === value));
	$(`settings-${side}`).querySelector(".document").value = shown?.[0] ?? "";
}

function syncBrush(app) {
	const names = [...app.kindNames, "?"], key = names.join();
	if ($("brush").dataset.names !== key) {
		$("brush").dataset.names = key;
		const shapes = ["■", "●", "▲"];
		$("brush").replaceChildren(...names.map((name, kind) => {
			const value = name === "?" ? "?" : String(kind), input = element("input", { type: "radio", name: "brush", value });
			input.addEventListener("change", () => chooseBrush(app, value));
			const mark = element("span", { textContent: name === "?" ? "△" : shapes[kind] });
			mark.style.color = name === "?" ? "var(--faint)" : `var(--class${kind})`;
			return element("label", { title: name === "?" ? "A point without a label, which is only classified (?)" : `A click places a point of ${name} (${kind + 1})` }, input, mark, ` ${name}`);
		}));
	}
	chooseBrush(app, app.brush === "?" ? "?" : String(Math.min(app.brush, names.length - 2)));
}

export function chooseBrush(app, value) {
	const input = $("brush").querySelector(`input[value="${value}"]`);
	if (!input) return;
	input.checked = true;
	app.brush = value === "?" ? "?" : Number(value);
}

// Files

export async function loadFile(app, file) {
	if (!file) return;
	try {
		const text = await file.text();
		if (/#\S*=/.test(text)) app.lecture(text);
		else showTable(app, readTable(text, file.name));
	} catch (error) {
		app.say(error.message, true);
	}
}

/** Show two columns of a table and its label; the visitor may choose others. */
export function showTable(app, table, chosen = {}) {
	const found = pointsOfTable(table, chosen);
	app.look = null;
	app.change((state) => Object.assign(state, { data: "points", placed: found.points, columns: found.columns, classes: found.classes, asked: [], moment: 0 }));
	app.table = table;
	const label = found.label ?? guessLabel(table), numbers = numberColumns(table, label);
	for (const axis of [0, 1]) {
		$(`drawn-${axis}`).replaceChildren(...numbers.map((j) => option(String(j), table.columns[j])));
		$(`drawn-${axis}`).value = String(found.drawn[axis]);
	}
	$("label").replaceChildren(...table.columns.map((name, j) => option(String(j), name)));
	$("label").value = String(label);
	$("columns").hidden = false;
	app.say(found.note);
}

function chooseColumns(app) {
	const label = Number($("label").value), numbers = numberColumns(app.table, label);
	let drawn = [Number($("drawn-0").value), Number($("drawn-1").value)];
	if (!drawn.every((j) => numbers.includes(j)) || drawn[0] === drawn[1]) {
		drawn = [...new Set([...drawn.filter((j) => numbers.includes(j)), ...numbers])].slice(0, 2);
	}
	try {
		showTable(app, app.table, { label, drawn });
	} catch (error) {
		app.say(error.message, true);
	}
}

// Buttons

function listen(app) {
	$("data").addEventListener("change", () => {
		app.look = null;
		app.table = null;
		const own = $("data").value === "points";
		app.change((state) => Object.assign(state, { data: $("data").value, moment: 0, placed: own ? app.found.points : null, columns: own ? app.found.columns : [], classes: own ? app.found.classes : [] }));
		app.say("");
		rest(app);
	});
	for (const id of ["halved", "dual"]) $(id).addEventListener("change", () => app.change((state) => (state[id] = $(id).checked)));
	$("rows").addEventListener("change", () => changeScale(app));
	$("compare").addEventListener("change", () => app.change((state) => (state.settings[1] = $("compare").checked ? { ...usualSettings(), ...state.settings[0] } : null)));
	$("curve").addEventListener("change", () => {
		app.state.curve = $("curve").value;
		app.draw(["panel"]);
		app.writeHash();
		rest(app);
	});
	$("file").addEventListener("change", () => {
		loadFile(app, $("file").files[0]);
		$("file").value = ""; // so that the same file can be chosen again
	});
	$("views").addEventListener("click", (event) => event.target.dataset.view && app.showView(event.target.dataset.view));
	$("verdict").addEventListener("click", (event) => event.target.id === "stop-deciding" && app.stopDeciding());
	for (const id of ["drawn-0", "drawn-1", "label"]) $(id).addEventListener("change", () => chooseColumns(app));
	$("scrub").addEventListener("input", () => {
		app.pause();
		app.show(Number($("scrub").value));
	});
	$("scrub").addEventListener("change", () => app.announce());
	const scenes = (k = null) => app.runs.flatMap((run, side) => (run ? [app.scene(side, k)] : []));
	const titles = () => app.runs.flatMap((run, side) => (run ? [titleOf(run.settings, app.runs[1] && app.runs[1 - side].settings)] : []));
	const clicks = {
		start: () => app.step(-Infinity), back: () => app.step(-1), play: () => app.play(), forward: () => app.step(1), end: () => app.step(Infinity),
		undo: () => app.travel(-1), redo: () => app.travel(1), try: () => tryLine(app),
		home: () => {
			app.look = null;
			app.draw();
		},
		place: () => placeByNumbers(app),
		"tour-start": () => {
			app.stops = TOUR;
			app.visit(0);
		},
		 "tour-back": () => app.visit(app.stop - 1), "tour-next": () => app.visit(app.stop + 1 < app.stops.length ? app.stop + 1 : -1), "tour-end": () => app.visit(-1),
		ask: () => toggleQuiz(app),
		"message-close": () => app.say(""),
		link: () => {
			$("qr").innerHTML = drawQr(linkOf(app)) || "This link is too long for a QR code.";
			$("link-box").showModal();
		},
		 "link-close": () => $("link-box").close(),
		"copy-link": () => copy(app, linkOf(app), $("copy-link")),
		"copy-python": () => copy(app, app.python, $("copy-python")),
		"save-python": () => {
			$("python-box").hidden = !$("python-box").hidden;
			app.draw(["words"]);
		},
		"save-csv": () => download("points.csv", "text/csv", writeCsv(app.found.points)),
		"save-svg": () => download("perceptron.svg", "image/svg+xml", figureSvg(scenes(app.now(app.runs[0]).k), titles())),
		"save-png": async () => download("perceptron.png", "image/png", await figurePng(scenes(app.now(app.runs[0]).k), titles())),
		"save-page": async () => download("perceptron-lab.html", "text/html", await onePage(app.pristine, app.address)),
	};
	for (const [id, action] of Object.entries(clicks)) $(id).addEventListener("click", action);
	for (const id of ["question", "exercises"]) $(id).addEventListener("click", (event) => {
		const { answer, begin, next, solution } = event.target.dataset;
		if (answer) app.answer(Number(answer));
		if (begin) app.begin(Number(begin));
		if (next !== undefined) app.step(1);
		if (solution !== undefined) app.open(EXERCISES[app.exercise].solution);
	});
	$("choices").addEventListener("submit", (event) => event.preventDefault());
}

/** Ask before each step is shown, or no longer. */
export function toggleQuiz(app) {
	app.state.quiz = !app.state.quiz;
	app.question = null;
	if (app.state.quiz) {
		app.score = { right: 0, asked: 0 };
		if (app.isAtEnd) app.show(0);
		app.step(1);
	}
	app.draw();
	app.writeHash();
}

function linkOf(app) {
	const base = location.protocol === "about:" ? "" : location.href.split("#")[0];
	return `${base}#${app.address}`;
}

async function copy(app, text, button) {
	try {
		await navigator.clipboard.writeText(text);
	} catch { // without permission, or from a file
		const area = element("textarea", { value: text });
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	const words = button.textContent;
	button.textContent = "Copied";
	setTimeout(() => (button.textContent = words), 1200);
	app.tell("Copied.");
}

/** Between updates and visits of every row, at the same place of the run. */
function changeScale(app) {
	const { trace } = app.runs[0], { moment } = app.state, isRows = $("rows").checked;
	let next = moment;
	if (trace) next = isRows ? trace.visits.moment.findLastIndex((each) => each <= moment) : trace.visits.moment[Math.min(moment, trace.visits.moment.length - 1)];
	if (isRows && trace && moment > 0 && moment < trace.last) next = trace.visits.moment.indexOf(moment);
	app.state.rows = isRows;
	app.show(next);
	app.changed();
}

function placeByNumbers(app) {
	const x = Number($("place-x").value), y = Number($("place-y").value);
	if (app.brush === "?") return app.change((state) => state.asked.push([x, y]));
	app.edit((points) => points.push([x, y, app.brush]));
}

/** Start from a line drawn by hand, or from zero again. */
function tryLine(app) {
	const { x, y, wide, high } = app.view, isThrough = app.state.settings[0].form === "origin", size = Math.max(wide, high) / 2;
	const round = (value) => Number(value.toPrecision(3));
	const w = [round(size * 0.8), round(size * 0.6)], b = isThrough ? 0 : round(-(w[0] * x + w[1] * y));
	app.change((state) => (state.settings[0].start = state.settings[0].start ? "" : `${w[0]},${w[1]},${b}`));
	app.show(0);
}
