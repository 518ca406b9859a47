// The page's state, and drawing it. What a visitor does is in gestures.js and forms.js.

import { chartFrame, CURVES, drawChart } from "./chart.js";
import { viewOf } from "./geometry.js";
import { ShownRun } from "./model.js";
import { CanvasPainter, SvgPainter } from "./paint.js";
import { DRAW, PANELS, sweepGap } from "./panels.js";
import { drawPlane, drawSymbol, Frame, legendOf } from "./plane.js";
import { checkPoints, countKinds, pointsOf, pythonLines, readAddress, writeAddress } from "./state.js";
import { TOUR } from "./tour.js";
import { grouped, nameOfClass, sayEnding, sayMoment, sayVerdict, short, titleOf } from "./words.js";

export const $ = (id) => document.getElementById(id);

const TIGHT = ["tight-1", "tight-2", "tight-3", "tight-4", "tight-5"];

export class App {
	constructor(engine) {
		Object.assign(this, { engine, brush: 0, selected: [], chosenAsked: -1, lit: -1, stop: -1, timer: null, isMoving: false, updates: 0 });
		this.past = [];
		this.future = [];
		this.look = null; // where the visitor looks, if not at all points
		this.turn = { about: 0.6, up: 0.45 };
		this.listeners = [];
		this.dirty = new Set();
	}

	// State

	/** Show the state of an address; bad ones leave all as it is and say why. */
	open(address, { isNew = true } = {}) {
		let state;
		try {
			state = readAddress(address);
			this.found = pointsOf(this.engine, state);
			checkPoints(this.found.points);
		} catch (error) {
			this.say(error.message, true);
			if (this.state) this.found = pointsOf(this.engine, this.state);
			else this.open("");
			return false;
		}
		if (isNew && this.state) this.remember();
		const wanted = state.moment;
		this.state = state;
		this.look = null;
		this.selected = [];
		this.table = null;
		this.learn();
		this.show(wanted);
		this.changed();
		return true;
	}

	/** Change settings; the player stays at the end if it was there. */
	change(edit, { isNew = true } = {}) {
		if (isNew) this.remember();
		const wasEnd = this.isAtEnd;
		edit(this.state);
		this.found = pointsOf(this.engine, this.state);
		this.learn();
		this.show(wasEnd ? Infinity : this.state.moment);
		this.changed();
	}

	/** Make the points the visitor's own and change them. */
	edit(change, options) {
		const { points, columns, classes } = this.found;
		const copy = points.map((point) => [...point]);
		try {
			change(copy);
			checkPoints(copy, "This");
		} catch (error) {
			this.say(error.message, true);
			return false;
		}
		this.change((state) => Object.assign(state, { data: "points", placed: copy, columns, classes }), options);
		return true;
	}

	remember() {
		this.past.push(writeAddress(this.state));
		if (this.past.length > 200) this.past.shift();
		this.future = [];
	}

	/** Undo (-1) or redo (1). */
	travel(direction) {
		const [from, to] = direction < 0 ? [this.past, this.future] : [this.future, this.past];
		if (!from.length) return;
		const { moment } = this.state, { look } = this;
		to.push(writeAddress(this.state));
		this.open(from.pop(), { isNew: false });
		this.look = look;
		this.show(moment);
	}

	learn() {
		const { settings, halved } = this.state;
		this.runs = settings.map((each) => each && this.makeRun(each, halved));
		this.home = viewOf([...this.found.points, ...this.state.asked]);
		this.sweep = undefined;
		this.updates += 1;
		this.selected = this.selected.filter((i) => i < this.found.points.length);
	}

	makeRun(settings, halved) {
		const run = new ShownRun(this.engine, this.found.points, settings, halved);
		run.isMoving = this.isMoving;
		return run;
	}

	changed() {
		for (const listener of this.listeners) listener();
		this.writeHash();
	}

	get address() {
		return writeAddress(this.state);
	}

	/** Keep the address in the browser's bar, at most a few times a second. */
	writeHash() {
		clearTimeout(this.hashTimer);
		this.hashTimer = setTimeout(() => {
			if (location.protocol === "about:") return;
			this.written = `#${this.address}`;
			try {
				history.replaceState(null, "", this.written);
			} catch {} // a page in a sandbox has no history
		}, 150);
	}

	say(words, isBad = false) {
		$("message").hidden = !words;
		$("message").classList.toggle("bad", isBad);
		$("message").firstElementChild.textContent = words;
	}

	/** Say something to a screen reader. */
	tell(words) {
		$("live").textContent = words;
	}

	// Time: moments, or visits of every row

	get steps() {
		return this.state.rows ? Math.max(...this.runs.map((run) => (run?.trace?.visits.row.length ?? 1) - 1)) : Math.max(...this.runs.map((run) => run?.last ?? 0));
	}

	get isAtEnd() {
		return this.state.moment >= this.steps && this.steps > 0;
	}

	/** What a run shows now. */
	now(run) {
		const t = this.state.moment;
		if (!run?.trace) return { k: 0, row: -1, isRight: false, isEnd: false };
		if (!this.state.rows) {
			const k = Math.min(t, run.last);
			return { k, row: run.rowOf(k), isRight: false, isEnd: k === run.last };
		}
		const { row, epoch, moment } = run.trace.visits, v = Math.min(t, row.length - 1), k = moment[v];
		const isRight = v > 0 && moment[v] === moment[v - 1];
		const own = row[v] < 0 ? -1 : run.rows.learnt[row[v]];
		return { k, row: own, epoch: epoch[v], isRight, isEnd: v === row.length - 1, met: isRight && run.kinds < 3 ? this.met(run, k, own) : NaN };
	}

	/** Label times activation of a point by the last weights. */
	met(run, k, row) {
		const [x, y, kind] = run.points[row], plain = run.settings.solution === "last" || run.trace.kind === "network";
		let score;
		if (plain) score = run.scorer(k)([[x, y]])[0];
		else if (run.trace.kind === "linear") {
			const w = run.trace.lines.weights[k], place = w.length > 2 ? run.trace.X[run.rows.learnt.indexOf(row)] : [x, y];
			score = place.reduce((sum, value, j) => sum + value * w[j], run.trace.lines.bias[k][0]);
		} else return NaN;
		return kind ? -score : score;
	}

	show(moment) {
		this.state.moment = Math.max(0, Math.min(moment, this.steps));
		this.draw();
		this.writeHash();
	}

	step(by) {
		this.pause();
		this.show(this.state.moment + by);
		this.announce();
	}

	announce() {
		clearTimeout(this.announcing);
		this.announcing = setTimeout(() => this.tell($("now-0").innerText.split("\n").slice(0, 3).join(". ")), 120);
	}

	play() {
		if (this.timer) return this.pause();
		if (this.isAtEnd) this.show(0);
		let before = performance.now(), due = 0;
		const tick = (now) => {
			due += ((now - before) / 1000) * Number($("speed").value);
			before = now;
			const count = Math.floor(due);
			due -= count;
			if (count) this.show(this.state.moment + count);
			if (this.state.moment >= this.steps) return this.pause();
			this.timer = requestAnimationFrame(tick);
		};
		this.timer = requestAnimationFrame(tick);
		this.drawPlayer();
	}

	pause() {
		if (!this.timer) return;
		cancelAnimationFrame(this.timer);
		this.timer = null;
		this.drawPlayer();
		this.announce();
	}

	// Drawing, once per frame

	draw(parts = ["planes", "player", "words", "chart", "panel", "legend"]) {
		for (const part of parts) this.dirty.add(part);
		this.frame ??= requestAnimationFrame(() => this.drawNow());
	}

	drawNow() {
		cancelAnimationFrame(this.frame);
		this.frame = null;
		const parts = [...this.dirty];
		this.dirty.clear();
		this.colours = readColours();
		for (const part of parts) this[`draw${part[0].toUpperCase()}${part.slice(1)}`]();
		document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1);
	}

	get view() {
		return this.look ?? this.home;
	}

	/** All that drawing a run needs. */
	scene(side, k = null) {
		const run = this.runs[side], now = this.now(run), moment = k === null ? now.k : Math.min(k, run?.last ?? 0);
		const row = k === null ? now.row : run?.trace ? run.rowOf(moment) : -1;
		const used = !run?.trace ? [] : row >= 0 ? [row] : k === null && now.isRight ? [] : run.rowsOf(moment);
		const measured = run?.trace ? run.measure(moment) : null;
		const wrong = measured?.margins.map((margin, i) => run.isWrong(margin, run.points[i][2]));
		return {
			run, k: moment, row, used, isRight: k === null && now.isRight, points: this.found.points, columns: this.found.columns, classes: this.found.classes,
			asked: this.state.asked, chosenAsked: this.chosenAsked, view: this.view, colours: this.colours ?? readColours(), isDual: this.state.dual,
			isMoving: this.isMoving || Boolean(this.timer), selected: this.selected, lit: this.lit, measured, wrong: run?.trace && (moment || run.settings.start) ? wrong : wrong?.map(() => false), turn: this.turn,
		};
	}

	drawPlanes() {
		document.body.classList.toggle("comparing", Boolean(this.runs[1]));
		this.runs.forEach((run, side) => ($(`pane-${side}`).hidden = !run));
		this.runs.forEach((run, side) => {
			if (!run) return;
			const canvas = $(`plane-${side}`), { painter, width, height, unit } = prepare(canvas);
			drawPlane(painter, new Frame(width, height, this.view), { ...this.scene(side), unit });
			const other = this.runs[1 - side];
			const title = this.runs[1] ? `${side ? "Right" : "Left"}: ${titleOf(run.settings, other.settings)}` : titleOf(run.settings);
			$(`title-${side}`).textContent = title;
			canvas.setAttribute("aria-label", `Plane with ${grouped(this.found.points.length)} points. ${title}`);
		});
		$("home").hidden = !this.look;
	}

	drawPlayer() {
		const { moment, rows } = this.state, { steps } = this;
		Object.assign($("scrub"), { max: steps, value: moment });
		const what = this.runs[0]?.trace?.kind === "network" ? "unit" : rows ? "row" : "update";
		$("moment").textContent = `${what} ${grouped(moment)} of ${grouped(steps)}`;
		$("scrub").setAttribute("aria-valuetext", $("moment").textContent);
		$("play").textContent = this.timer ? "Pause" : "Play";
		for (const id of ["start", "back"]) $(id).disabled = moment === 0;
		for (const id of ["forward", "end"]) $(id).disabled = moment >= steps;
		$("play").disabled = steps === 0;
	}

	drawWords() {
		this.runs.forEach((run, side) => {
			$(`now-${side}`).hidden = !run;
			if (!run) return;
			const now = this.now(run), name = this.runs[1] ? `<b>${side ? "Right" : "Left"}</b> ` : "";
			const measured = run.trace ? run.measure(now.k) : null;
			$(`now-${side}`).innerHTML = name + sayMoment(run, { ...now, measured }, { isDual: this.state.dual, classes: this.found.classes });
		});
		const { mood, lines } = sayVerdict(this.runs[0]), ending = [];
		const second = this.runs[1] && sayVerdict(this.runs[1]);
		const isOther = second && second.lines.join() !== lines.join();
		this.runs.forEach((run, side) => {
			const words = run?.trace ? sayEnding(run) : run?.trouble;
			if (words) ending.push(`<p class="full-only">${this.runs[1] ? `${side ? "Right" : "Left"}: ` : ""}${words}</p>`);
		});
		$("verdict").className = mood;
		const paragraphs = (each) => each.map((line) => `<p>${line}</p>`).join("");
		$("verdict").innerHTML = `${isOther ? "<p>Left:</p>" : ""}${paragraphs(lines)}${isOther ? `<p>Right:</p>${paragraphs(second.lines)}` : ""}${ending.join("")}`;
		if (!$("python-box").hidden) $("python").value = this.python;
		this.fitWords();
	}

	/** In present mode, leave out details until nothing is cut. */
	fitWords() {
		const told = $("told"), { classList } = document.body;
		classList.remove(...TIGHT);
		if (!classList.contains("presenting")) return;
		for (const name of TIGHT) {
			if ($("verdict").getBoundingClientRect().bottom <= told.getBoundingClientRect().bottom - 4 && told.scrollHeight <= told.clientHeight + 1) break;
			classList.add(name);
		}
	}

	drawChart() {
		if (this.isMoving && this.runs.some((run) => run?.trace && (run.last + 1) * run.points.length * run.cost() > 3e5)) return;
		const { painter, width, height, unit } = prepare($("chart")), { curve } = this.state;
		const moments = this.runs.map((run) => this.now(run).k);
		drawChart(painter, width, height, { runs: this.runs, moments, curve: curve in CURVES ? curve : "errors", colours: this.colours, unit });
		const values = this.runs[0]?.trace ? this.runs[0].series(curve)?.values : null;
		$("chart").setAttribute("aria-label", `${CURVES[curve] ?? curve} after each update${values ? `: ${short(values[0])} at the start, ${short(values.at(-1))} at the end` : ""}. Arrow keys step.`);
	}

	/** The moment at a place of the chart. */
	chartMoment(x) {
		const { width, height, unit } = prepare($("chart"), false), last = Math.max(...this.runs.map((run) => run?.last ?? 0), 1);
		return chartFrame(width, height, unit, last).moment(x);
	}

	drawPanel() {
		const name = this.state.panel in PANELS ? this.state.panel : "vectors";
		const { painter, width, height, unit } = prepare($("panel"));
		if (name === "gap" && this.sweep === undefined) this.sweep = sweepGap(this.engine, this.state);
		DRAW[name](painter, { ...this.scene(0), unit, width, height, sweep: this.sweep });
		$("panel").setAttribute("aria-label", PANELS[name].hint);
		for (const tab of $("tabs").children) tab.setAttribute("aria-selected", String(tab.dataset.panel === name));
	}

	drawLegend() {
		const scenes = this.runs.flatMap((run, side) => (run ? [this.scene(side)] : [])), items = new Map(scenes.flatMap(legendOf));
		const key = JSON.stringify([...items, this.colours]);
		if (this.legendKey === key) return;
		this.legendKey = key;
		$("legend").innerHTML = [...items].map(([symbol, words]) => {
			const painter = new SvgPainter(30, 20);
			drawSymbol(painter, symbol, [15, 10], 13, this.colours);
			return `<li>${String(painter).replace("<svg ", '<svg aria-hidden="true" style="width:1.9em;height:1.27em" ')}<span></span></li>`;
		}).join("");
		[...items.values()].forEach((words, i) => ($("legend").children[i].lastElementChild.textContent = words));
	}

	get python() {
		const run = this.runs[0];
		return pythonLines(this.found.points, run.settings, this.state.halved, run.trace?.cut ? run.trace.epochs.length : null);
	}

	/** The names of the classes that a point can have. */
	get kindNames() {
		const kinds = countKinds(this.found.points), count = kinds > 2 || this.found.classes.length > 2 ? 3 : 2;
		return Array.from({ length: count }, (_, kind) => nameOfClass(kind, count, this.found.classes));
	}

	// Tour

	visit(number) {
		this.stop = number;
		const stop = TOUR[number];
		$("tour").hidden = !stop;
		document.body.classList.toggle("touring", Boolean(stop));
		if (!stop) return this.draw();
		$("tour-title").textContent = `${number + 1} of ${TOUR.length} · ${stop.title}`;
		$("tour-document").textContent = `Page ${stop.document}`;
		$("tour-text").textContent = stop.text;
		$("tour-ways").replaceChildren(...(stop.ways ?? []).map(([words, address]) => {
			const button = document.createElement("button");
			Object.assign(button, { type: "button", textContent: words, onclick: () => this.open(address) });
			return button;
		}));
		$("tour-back").disabled = number === 0;
		$("tour-next").textContent = number + 1 === TOUR.length ? "Finish" : "Next ›";
		this.pause();
		this.open(stop.address);
		this.tell(`${stop.title}. ${stop.text}`);
	}
}

/** Make a canvas as sharp as the screen; its unit is the size of text in it. */
export function prepare(canvas, isCleared = true) {
	const width = canvas.clientWidth, height = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
	if (isCleared && (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	const context = canvas.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return { painter: new CanvasPainter(context), width, height, unit: parseFloat(getComputedStyle(canvas).fontSize) };
}

export function readColours() {
	const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(`--${name}`).trim();
	const names = ["ground", "ink", "faint", "axis", "weights", "use", "proof"];
	return { ...Object.fromEntries(names.map((name) => [name, colour(name)])), classes: [0, 1, 2].map((kind) => colour(`class${kind}`)), tint: Number(colour("tint")) };
}
