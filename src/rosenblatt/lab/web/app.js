// The page's state, and drawing it. What a visitor does is in gestures.js and forms.js.

import { askAbout, EXERCISES } from "./ask.js";
import { chartFrame, CURVES, drawChart } from "./chart.js";
import { viewOf } from "./geometry.js";
import { chooseLanguage, translate } from "./languages.js";
import { ShownRun } from "./model.js";
import { CanvasPainter, SvgPainter } from "./paint.js";
import { DRAW, PANELS, sweepGap } from "./panels.js";
import { drawPlane, drawSymbol, Frame, legendOf } from "./plane.js";
import { checkPoints, countKinds, pointsOf, pythonLines, readAddress, writeAddress } from "./state.js";
import { TOUR } from "./tour.js";
import { grouped, nameOfClass, sayEnding, sayMoment, sayVerdict, short, titleOf } from "./words.js";

export const $ = (id) => document.getElementById(id);

const GLIDE = 300; // milliseconds in which the line moves
const TIGHT = ["tight-1", "tight-2", "tight-3", "tight-4", "tight-5", "tight-6"];

export class App {
	constructor(engine) {
		Object.assign(this, { engine, brush: 0, selected: [], chosenAsked: -1, lit: -1, stop: -1, exercise: -1, question: null, score: { right: 0, asked: 0 }, done: new Set(), timer: null, isMoving: false, updates: 0 });
		this.past = [];
		this.stops = TOUR;
		this.future = [];
		this.look = null; // where the visitor looks, if not at all points
		this.turn = { about: 0.6, up: 0.45 };
		this.listeners = [];
		this.dirty = new Set();
	}

	// State

	/** Show the state of an address; bad ones leave all as it is and say why. */
	open(address, { isNew = true } = {}) {
		const given = new URLSearchParams(address.replace(/^[?#]/, "").replaceAll("+", "%2B")), stop = TOUR.findIndex(({ name }) => name === given.get("tour"));
		if (given.has("lecture")) return this.lecture(given.get("lecture"));
		if (stop >= 0) {
			this.stops = TOUR;
			this.visit(stop);
			return true;
		}
		let state;
		try {
			state = readAddress(address);
			this.found = pointsOf(state);
			checkPoints(this.found.points);
		} catch (error) {
			this.say(error.message, true);
			if (this.state) this.found = pointsOf(this.state);
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
		this.found = pointsOf(this.state);
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
		this.home = viewOf([...this.found.points, ...this.state.asked], settings.some((each) => each?.form === "origin"));
		this.sweep = undefined;
		this.updates += 1;
		if (this.question && !("answer" in this.question)) this.question = null;
		this.selected = this.selected.filter((i) => i < this.found.points.length);
	}

	makeRun(settings, halved) {
		const run = new ShownRun(this.engine, this.found.points, settings, halved);
		run.isMoving = this.isMoving;
		return run;
	}

	changed() {
		chooseLanguage(this.state.lang);
		for (const listener of this.listeners) listener();
		this.writeHash();
	}

	/** The state as an address; a stop of the tour that nobody has changed is named. */
	get address() {
		const address = writeAddress(this.state), stop = this.stops[this.stop];
		return stop?.name && stop.shown === address ? `tour=${stop.name}` : address;
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
	now(run, t = this.state.moment) {
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
		const before = this.state.moment;
		if (this.question && !("answer" in this.question)) this.question = null;
		this.state.moment = Math.max(0, Math.min(moment, this.steps));
		const isStep = Math.abs(this.state.moment - before) === 1 && !this.isMoving && !(this.timer && Number($("speed").value) > 4);
		this.glide = isStep && !matchMedia("(prefers-reduced-motion: reduce)").matches ? { before, start: performance.now() } : null;
		this.draw();
		this.writeHash();
	}

	step(by) {
		this.pause();
		if (this.state.quiz && by === 1 && this.ask()) return;
		this.show(this.state.moment + by);
		this.announce();
	}

	// Questions and exercises

	/** Ask about the next step, unless the last question is still open; whether there is a question now. */
	ask() {
		const isOpen = this.question && !("answer" in this.question);
		this.question = isOpen ? null : askAbout(this);
		this.draw(["planes", "player", "strip"]);
		return Boolean(this.question);
	}

	/** Take an answer, and show the step. */
	answer(choice) {
		const { question } = this;
		if (!question || "answer" in question || !(choice in question.choices)) return false;
		question.answer = choice;
		this.score.asked += 1;
		this.score.right += choice === question.right ? 1 : 0;
		this.show(this.state.moment + 1);
		this.draw(["strip"]);
		return true;
	}

	/** Begin an exercise, or leave it (-1). */
	begin(number) {
		this.exercise = number;
		if (number < 0) return this.draw(["strip"]);
		if (this.stop >= 0) this.visit(-1);
		this.state.quiz = false;
		this.open(EXERCISES[number].address);
		this.before = this.found.points.map((point) => [...point]);
	}

	/** What is asked, or the exercise that is worked at. */
	drawStrip() {
		const { question, score, exercise } = this, strip = $("question"), button = (words, data, name = "") => `<button type="button" class="${name}" ${data}>${words}</button>`;
		const isDone = exercise >= 0 && this.runs[0].trace !== undefined && EXERCISES[exercise].isDone(this.runs, this.before);
		if (isDone) this.done.add(exercise);
		$("ask").setAttribute("aria-pressed", String(this.state.quiz));
		strip.hidden = !question && !(this.exercise >= 0);
		const lines = [];
		if (question && "answer" in question) {
			const isRight = question.answer === question.right;
			lines.push(`<p><b>${isRight ? "Right" : `The answer is ${question.choices[question.right]}`}.</b> ${question.why}</p>`, `<div class="buttons"><small>${score.right} of ${score.asked} right</small>${button("Next ›", "data-next", "main")}</div>`);
		} else if (question) {
			lines.push(`<p><b>${question.words}</b></p>`, `<div class="buttons">${question.choices.map((words, i) => button(`${i + 1} ${words}`, `data-answer="${i}"`, "choice")).join("")}</div>`);
		} else if (exercise >= 0) {
			const next = exercise + 1 < EXERCISES.length ? button("Next ›", `data-begin="${exercise + 1}"`, isDone ? "main" : "") : "";
			lines.push(`<p><b>Exercise ${exercise + 1}${isDone ? ": done ✓" : ""}</b> ${EXERCISES[exercise].text}</p>`, `<div class="buttons"><small>Page ${EXERCISES[exercise].page}</small>${button("Again", `data-begin="${exercise}"`)}${button("A solution", "data-solution")}${next}${button("✕", 'data-begin="-1" aria-label="Leave the exercises"')}</div>`);
		}
		strip.innerHTML = lines.join("");
		if (isDone && !this.told) this.tell("Exercise done.");
		this.told = isDone;
		const rows = EXERCISES.map(({ page, text }, i) => `<li><button type="button" data-begin="${i}">${this.done.has(i) ? "✓" : i + 1}</button><span>${text} <small>${page}</small></span></li>`).join("");
		const list = `<p>The page checks each of these exactly. ${this.done.size} of ${EXERCISES.length} done.</p><ol>${rows}</ol>`;
		if (!$("exercises").hidden && this.listed !== list) $("exercises").innerHTML = this.listed = list; // buttons stay while the run plays
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

	draw(parts = ["planes", "player", "words", "panel", "legend", "strip"]) {
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
		const open = this.question && !("answer" in this.question) && k === null && side === 0;
		const used = open ? [this.question.row].filter((each) => each >= 0) : !run?.trace ? [] : row >= 0 ? [row] : k === null && now.isRight ? [] : run.rowsOf(moment);
		const measured = run?.trace ? run.measure(moment) : null;
		const wrong = measured?.margins.map((margin, i) => run.isWrong(margin, run.points[i][2]));
		return {
			run, k: moment, line: this.lineAt(run, moment), row, used, isRight: k === null && now.isRight, points: this.found.points, columns: this.found.columns, classes: this.found.classes,
			asked: this.state.asked, chosenAsked: this.chosenAsked, view: this.view, colours: this.colours ?? readColours(), isDual: this.state.dual,
			isMoving: this.isMoving || Boolean(this.timer), selected: this.selected, lit: this.lit, measured, wrong: run?.trace && (moment || run.settings.start) ? wrong : wrong?.map(() => false), turn: this.turn,
		};
	}

	/** The line of a moment, or one between the moment before and this one while it moves. */
	lineAt(run, k) {
		const line = run?.line(k), share = this.glide ? (performance.now() - this.glide.start) / GLIDE : 1;
		const from = line && share < 1 && run.line(this.now(run, this.glide.before).k);
		if (!from || Math.hypot(...from.w) === 0 || Math.hypot(...line.w) === 0) return line;
		const eased = share * (2 - share), mix = (a, b) => a + eased * (b - a);
		return { w: [mix(from.w[0], line.w[0]), mix(from.w[1], line.w[1])], b: mix(from.b, line.b) };
	}

	drawPlanes() {
		if (this.glide && performance.now() - this.glide.start >= GLIDE) this.glide = null;
		if (this.glide) this.draw(["planes"]);
		document.body.classList.toggle("comparing", Boolean(this.runs[1]));
		this.runs.forEach((run, side) => ($(`pane-${side}`).hidden = !run));
		this.runs.forEach((run, side) => {
			if (!run) return;
			const canvas = $(`plane-${side}`), { painter, width, height, unit } = prepare(canvas);
			drawPlane(painter, new Frame(width, height, this.view), { ...this.scene(side), unit });
			const other = this.runs[1 - side];
			const title = this.runs[1] ? `${translate(side ? "Right" : "Left")}: ${titleOf(run.settings, other.settings)}` : titleOf(run.settings);
			$(`title-${side}`).textContent = title;
			canvas.setAttribute("aria-label", `Plane with ${grouped(this.found.points.length)} points. ${title}`);
		});
		$("home").hidden = !this.look;
	}

	drawPlayer() {
		const { moment, rows } = this.state, { steps } = this;
		Object.assign($("scrub"), { max: steps, value: moment });
		const what = this.runs[0]?.trace?.kind === "network" ? "unit" : rows ? "row" : "update";
		$("moment").textContent = `${translate(what)} ${grouped(moment)} ${translate("of")} ${grouped(steps)}`;
		$("scrub").setAttribute("aria-valuetext", $("moment").textContent);
		$("play").textContent = this.timer ? "Pause" : "Play";
		for (const id of ["start", "back"]) $(id).disabled = moment === 0;
		for (const id of ["forward", "end"]) $(id).disabled = moment >= steps;
		$("play").disabled = steps === 0;
	}

	/** Go on with verdicts that take long, and draw what they show. */
	goOnDeciding() {
		const open = this.runs.filter((run) => run?.deciding);
		if (!open.length) return;
		setTimeout(() => {
			for (const run of open) if (run.deciding) run.decideMore();
			this.draw(open.some((run) => run.deciding) ? ["words"] : undefined);
		});
	}

	stopDeciding() {
		for (const run of this.runs) run?.stopDeciding();
		this.draw();
	}

	drawWords() {
		this.runs.forEach((run, side) => {
			$(`now-${side}`).hidden = !run;
			if (!run) return;
			const now = this.now(run), name = this.runs[1] ? `<b>${side ? "Right" : "Left"}</b> ` : "";
			const measured = run.trace ? run.measure(now.k) : null;
			$(`now-${side}`).innerHTML = name + sayMoment(run, { ...now, measured }, { isDual: this.state.dual, classes: this.found.classes });
		});
		const told = this.runs.map((run) => run && sayVerdict(run, this.found.classes)), isOne = !told[1] || told[1].lines.join() === told[0].lines.join();
		const endings = this.runs.map((run) => (run?.trace && this.now(run).isEnd ? sayEnding(run) : ""));
		const sides = told.flatMap((each, side) => (each && (!side || !isOne || endings[1] !== endings[0]) ? [side] : []));
		$("verdict").innerHTML = sides.map((side) => {
			const name = sides.length > 1 ? `${side ? "Right" : "Left"}: ` : "", lines = side && isOne ? [] : told[side].lines;
			const ending = endings[side] && `<p class="ending">${isOne ? name : ""}${endings[side]}</p>`;
			return `<div class="${told[side].mood}">${lines.map((line, i) => `<p>${i || isOne ? "" : name}${line}</p>`).join("")}${ending}</div>`;
		}).join("");
		if (!$("python-box").hidden) $("python").value = this.python;
		this.goOnDeciding();
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

	drawPanel() {
		const name = this.state.panel in PANELS ? this.state.panel : "time", curve = this.state.curve in CURVES ? this.state.curve : "errors";
		const { painter, width, height, unit } = prepare($("panel")), [run] = this.runs;
		for (const tab of $("tabs").children) {
			tab.setAttribute("aria-selected", String(tab.dataset.panel === name));
			tab.hidden = tab.dataset.panel !== name && !PANELS[tab.dataset.panel].fits(this.state, run);
		}
		$("curves").hidden = name !== "time";
		$("panel").setAttribute("aria-label", PANELS[name].hint);
		if (name !== "time") {
			if (name === "gap" && this.sweep === undefined) this.sweep = sweepGap(this.engine, this.state);
			return DRAW[name](painter, { ...this.scene(0), unit, width, height, sweep: this.sweep });
		}
		if (this.isMoving && this.runs.some((run) => run?.trace && (run.last + 1) * run.points.length * run.cost() > 3e5)) return;
		drawChart(painter, width, height, { runs: this.runs, moments: this.runs.map((each) => this.now(each).k), curve, colours: this.colours, unit });
		const values = run?.trace && run.series(curve)?.values;
		if (values) $("panel").setAttribute("aria-label", `${CURVES[curve]} after each update: ${short(values[0])} at the start, ${short(values.at(-1))} at the end. Arrow keys step.`);
	}

	/** The moment at a place of the chart. */
	chartMoment(x) {
		const { width, height, unit } = prepare($("panel"), false), last = Math.max(...this.runs.map((run) => run?.last ?? 0), 1);
		return chartFrame(width, height, unit, last).moment(x);
	}

	/** Show one of the views beside the plane. */
	showView(name) {
		for (const tab of $("views").children) {
			tab.setAttribute("aria-selected", String(tab.dataset.view === name));
			$(tab.dataset.view).hidden = tab.dataset.view !== name;
		}
		this.draw(["words", "panel", "strip"]);
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

	/** Make a tour of a text: in each line a caption, if any, and an address from its # on. */
	lecture(text) {
		const lines = text.split(/\r?\n/).map((line) => line.match(/^(.*?)\S*#(\S+=\S*)\s*$/)).filter(Boolean);
		if (!lines.length) return this.say("A lecture has a link to a state of the lab in each line.", true);
		this.stops = lines.map(([, words, address]) => ({ title: "", text: words.trim(), address }));
		this.visit(0);
	}

	visit(number) {
		this.stop = number;
		const stop = this.stops[number];
		$("tour").hidden = !stop;
		document.body.classList.toggle("touring", Boolean(stop));
		if (!stop) return this.draw();
		$("tour-title").textContent = `${number + 1} ${stop.title}`;
		$("tour-document").textContent = stop.document ?? "";
		$("tour-text").textContent = stop.text;
		$("tour-ways").replaceChildren(...(stop.ways ?? []).map(([words, address]) => {
			const button = document.createElement("button");
			Object.assign(button, { type: "button", textContent: words, onclick: () => this.open(address) });
			return button;
		}));
		$("tour-back").disabled = number === 0;
		$("tour-next").textContent = number + 1 === this.stops.length ? "Finish" : "Next ›";
		this.showView("told");
		this.pause();
		this.open(this.state?.lang && this.state.lang !== "en" ? `${stop.address}&lang=${this.state.lang}` : stop.address);
		stop.shown = writeAddress(this.state);
		this.writeHash();
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
