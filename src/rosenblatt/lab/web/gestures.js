// What a visitor does on the plane, the chart and the panel, by pointer and by keys.

import { $, prepare } from "./app.js";
import { chooseBrush, loadFile, syncSelection, toggleQuiz } from "./forms.js";
import { alphasOf, Frame, handlesOf, pointSize } from "./plane.js";
import { nameOfClass, short } from "./words.js";

export function attachGestures(app) {
	for (const side of [0, 1]) attachPlane(app, side);
	attachPanel(app);
	attachTips(app);
	document.addEventListener("keydown", (event) => pressKey(app, event));
	document.addEventListener("pointerdown", () => (app.lastInput = "pointer"), true);
	document.addEventListener("keydown", () => (app.lastInput = "key"), true);
	for (const kind of ["dragover", "dragleave", "drop"]) {
		document.addEventListener(kind, (event) => {
			event.preventDefault();
			document.body.classList.toggle("dropping", kind === "dragover");
			if (kind === "drop") loadFile(app, event.dataTransfer.files[0]);
		});
	}
	$("present").addEventListener("click", () => present(app));
	document.addEventListener("fullscreenchange", () => {
		if (!document.fullscreenElement && document.body.classList.contains("presenting") && app.wasFull) present(app);
		app.wasFull = Boolean(document.fullscreenElement);
	});
}

/** Full screen with plane, rule, verdict, chart and player; or the whole page again. */
export function present(app) {
	const isOn = document.body.classList.toggle("presenting");
	$("present").setAttribute("aria-pressed", String(isOn));
	if (isOn) document.documentElement.requestFullscreen?.().catch(() => {}); // where it is not allowed, the window is filled
	else if (document.fullscreenElement) document.exitFullscreen();
	requestAnimationFrame(() => app.draw());
}

// The plane

function frameOf(app, canvas) {
	const { width, height, unit } = prepare(canvas, false);
	return { frame: new Frame(width, height, app.view), unit };
}

/** A place rounded to what the screen can show, or to the grid. */
function roundPlace(app, frame, [x, y]) {
	const digits = Math.max(0, Math.ceil(Math.log10(frame.scale))), step = $("snap").checked ? gridStep(app) : 10 ** -digits;
	return [x, y].map((value) => Number((Math.round(value / step) * step).toFixed(10)) + 0);
}

function gridStep(app) {
	const rough = Math.max(app.view.wide, app.view.high) / 14, power = 10 ** Math.floor(Math.log10(rough));
	return power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
}

/** What lies under a pixel: a handle, a point, a place to be classified. */
function findAt(app, side, frame, unit, pixel) {
	const near = (place, reach) => {
		const [x, y] = frame.pixel(place);
		return Math.hypot(x - pixel[0], y - pixel[1]) <= reach;
	};
	const handles = app.state.moment === 0 && handlesOf({ run: app.runs[side], view: app.view });
	if (handles) for (const name of ["tip", "foot"]) if (near(handles[name], 0.9 * unit)) return { handle: name, handles };
	const reach = Math.max(pointSize({ points: app.found.points, unit }) + 4, 10);
	for (let i = app.state.asked.length - 1; i >= 0; i--) if (near(app.state.asked[i], reach)) return { asked: i };
	let best = -1, least = reach;
	app.found.points.forEach((point, i) => {
		const [x, y] = frame.pixel(point), distance = Math.hypot(x - pixel[0], y - pixel[1]);
		if (distance <= least) [best, least] = [i, distance];
	});
	return best >= 0 ? { point: best } : {};
}

function attachPlane(app, side) {
	const canvas = $(`plane-${side}`), fingers = new Map();
	let gesture = null;
	const pixelOf = (event) => [event.offsetX, event.offsetY];
	canvas.addEventListener("pointerdown", (event) => {
		if (event.button !== 0) return;
		canvas.focus({ preventScroll: true });
		canvas.setPointerCapture(event.pointerId);
		fingers.set(event.pointerId, pixelOf(event));
		const { frame, unit } = frameOf(app, canvas), pixel = pixelOf(event);
		if (fingers.size === 2) {
			gesture = { kind: "pinch", start: [...fingers.values()].map((each) => [...each]), view: { ...app.view } };
			return;
		}
		const found = findAt(app, side, frame, unit, pixel);
		gesture = { pixel, found, kind: event.shiftKey ? "pan" : found.handle || found.point >= 0 || found.asked >= 0 ? "drag" : "click", view: { ...app.view }, hasMoved: false };
		app.pause();
		if (gesture.kind === "drag") select(app, found);
	});
	canvas.addEventListener("pointermove", (event) => {
		const pixel = pixelOf(event);
		if (fingers.has(event.pointerId)) fingers.set(event.pointerId, pixel);
		if (!gesture) return hover(app, side, canvas, pixel, event);
		if (gesture.kind === "pinch") return pinch(app, canvas, gesture, [...fingers.values()]);
		const far = Math.hypot(pixel[0] - gesture.pixel[0], pixel[1] - gesture.pixel[1]);
		if (!gesture.hasMoved && far < 4) return;
		if (gesture.kind === "pan") pan(app, canvas, gesture, pixel);
		if (gesture.kind === "drag") drag(app, side, canvas, gesture, pixel);
		gesture.hasMoved = true;
	});
	const finish = (event) => {
		fingers.delete(event.pointerId);
		const done = gesture;
		gesture = null;
		if (!done || event.type === "pointercancel") return endDrag(app);
		if (done.kind === "click" && !done.hasMoved) clickAt(app, canvas, done.pixel);
		if (done.kind === "drag" && done.hasMoved) endDrag(app);
	};
	canvas.addEventListener("pointerup", finish);
	canvas.addEventListener("pointercancel", finish);
	canvas.addEventListener("pointerleave", () => hideTip());
	canvas.addEventListener("wheel", (event) => {
		event.preventDefault();
		const { frame } = frameOf(app, canvas), [x, y] = frame.place(pixelOf(event)), { view, home } = app;
		const wanted = Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 300), factor = Math.min(Math.max(wanted, home.wide / 1000 / view.wide), (home.wide * 100) / view.wide);
		app.look = { x: x + (view.x - x) * factor, y: y + (view.y - y) * factor, wide: view.wide * factor, high: view.high * factor };
		app.draw(["planes"]);
	}, { passive: false });
}

function select(app, { point = -1, asked = -1 }) {
	app.selected = point >= 0 ? [point] : [];
	app.chosenAsked = asked;
	syncSelection(app);
	app.draw(["planes"]);
}

function clickAt(app, canvas, pixel) {
	const { frame } = frameOf(app, canvas), place = roundPlace(app, frame, frame.place(pixel)), { look } = app;
	app.look ??= app.home; // the view stays while points are placed
	if (app.brush === "?") {
		app.change((state) => state.asked.push(place));
		return select(app, { asked: app.state.asked.length - 1 });
	}
	if (!app.edit((points) => points.push([...place, app.brush]))) app.look = look;
	else select(app, {});
}

function drag(app, side, canvas, gesture, pixel) {
	const { frame } = frameOf(app, canvas), place = roundPlace(app, frame, frame.place(pixel)), { found } = gesture, isNew = !app.isMoving;
	app.isMoving = true;
	app.look ??= app.home;
	if (found.handle) return dragHandle(app, side, found, place, isNew);
	if (found.asked >= 0) return app.change((state) => (state.asked[found.asked] = place), { isNew });
	app.edit((points) => points[found.point].splice(0, 2, ...place), { isNew });
}

/** The line that learning starts from: its foot moves it, its tip turns it. */
function dragHandle(app, side, { handle, handles }, [x, y], isNew) {
	const round = (value) => Number(value.toPrecision(4)), isThrough = app.state.settings[side].form === "origin";
	const w = handle === "tip" ? [x - handles.foot[0], y - handles.foot[1]] : [handles.tip[0] - handles.foot[0], handles.tip[1] - handles.foot[1]];
	const foot = handle === "tip" ? handles.foot : [x, y], [w1, w2] = w.map(round);
	if (!w1 && !w2) return;
	const b = isThrough ? 0 : round(-(w1 * foot[0] + w2 * foot[1]));
	app.change((state) => Object.assign(state.settings[side], { start: `${w1},${w2},${b}` }), { isNew });
	app.show(0);
}

function endDrag(app) {
	if (!app.isMoving) return;
	app.isMoving = false;
	app.change(() => {}, { isNew: false }); // decide again, in full
}

function pan(app, canvas, gesture, pixel) {
	const { frame } = frameOf(app, canvas), { view } = gesture;
	app.look = { ...view, x: view.x - (pixel[0] - gesture.pixel[0]) / frame.scale, y: view.y + (pixel[1] - gesture.pixel[1]) / frame.scale };
	app.draw(["planes"]);
}

function pinch(app, canvas, { start, view }, fingers) {
	if (fingers.length < 2) return;
	const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]), middle = ([a, b]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
	const factor = apart(start) / Math.max(apart(fingers), 10), [x0, y0] = middle(start), [x1, y1] = middle(fingers);
	const { scale } = frameOf({ view: { ...view, wide: view.wide * factor, high: view.high * factor } }, canvas).frame;
	app.look = { wide: view.wide * factor, high: view.high * factor, x: view.x - (x1 - x0) / scale, y: view.y + (y1 - y0) / scale };
	app.draw(["planes"]);
}

// What is under the pointer

function hover(app, side, canvas, pixel, event) {
	const { frame, unit } = frameOf(app, canvas), found = findAt(app, side, frame, unit, pixel);
	canvas.style.cursor = found.handle || found.point >= 0 || found.asked >= 0 ? "grab" : "crosshair";
	if (!(found.point >= 0)) return hideTip();
	showTip(describe(app, side, found.point), event.clientX, event.clientY);
}

/** What is known of a point. */
export function describe(app, side, i) {
	const [x, y, kind] = app.found.points[i], run = app.runs[side], kinds = app.kindNames.length;
	const parts = [`row ${i + 1}: (${short(x)}, ${short(y)})`, nameOfClass(kind, kinds, app.found.classes)];
	if (run?.trace) {
		const { k } = app.now(run), margin = run.margins(k)[i], line = run.line(k), alphas = alphasOf({ run, k, isDual: true });
		if (run.kinds > 2) parts.push(`lead ${short(margin)}`);
		else if (run.trace.kind !== "network") parts.push(`activation ${short(kind ? -margin : margin)}`);
		const length = line ? Math.hypot(...line.w) : 0;
		if (length) parts.push(`distance from the line ${short(Math.abs(margin) / length)}`);
		if (run.rows.held.includes(i)) parts.push("held out");
		if (alphas) parts.push(`α = ${alphas[i]}`);
	}
	return parts.join(", ");
}

export function showTip(words, x, y) {
	const tip = $("tip");
	tip.textContent = words;
	tip.hidden = false;
	const { width, height } = tip.getBoundingClientRect();
	tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
	tip.style.top = `${y + height + 24 > innerHeight ? Math.max(4, y - height - 12) : y + 16}px`;
}

export function hideTip() {
	$("tip").hidden = true;
}

/** Formulas of numbers, and rows that light up, by pointer, touch or focus. */
function attachTips(app) {
	const light = (row) => {
		app.lit = row;
		app.draw(["planes"]);
	};
	const enter = (event) => {
		const number = event.target.closest?.(".num"), row = event.target.closest?.(".row");
		if (number) {
			const { left, bottom } = number.getBoundingClientRect();
			showTip(number.dataset.formula, left - 10, bottom - 10);
		}
		if (row) light(Number(row.dataset.row));
	};
	const leave = (event) => {
		if (event.target.closest?.(".num")) hideTip();
		if (event.target.closest?.(".row")) light(-1);
	};
	for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, enter);
	for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, leave);
}

/** Time is sought in the chart, and space is turned. */
function attachPanel(app) {
	const panel = $("panel");
	let from = null;
	const move = (event) => {
		if (!from) return;
		if (app.state.panel !== "time") return turn(app, from.turn, (event.offsetX - from.x) / 120, (event.offsetY - from.y) / 120);
		const moment = app.chartMoment(event.offsetX), { trace } = app.runs[0] ?? {};
		app.pause();
		app.show(app.state.rows && trace ? trace.visits.moment.indexOf(moment) : moment);
	};
	panel.addEventListener("pointerdown", (event) => {
		from = { x: event.offsetX, y: event.offsetY, turn: { ...app.turn } };
		panel.setPointerCapture(event.pointerId);
		move(event);
	});
	panel.addEventListener("pointermove", move);
	panel.addEventListener("pointerup", () => {
		from = null;
		app.announce();
	});
	panel.addEventListener("keydown", (event) => {
		const by = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
		if (!by || app.state.panel !== "space") return;
		event.preventDefault();
		event.stopPropagation();
		turn(app, app.turn, ...by);
	});
}

function turn(app, start, about, up) {
	app.turn = { about: start.about + about, up: Math.max(-0.2, Math.min(1.5, start.up + up)) };
	app.draw(["panel"]);
}

// Keys

function pressKey(app, event) {
	const within = (kinds) => event.target.closest?.(kinds), isPlane = within("#plane-0, #plane-1");
	const isText = within("input:not([type=range]):not([type=radio]):not([type=checkbox]):not([type=file]), select, textarea");
	if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !isText) {
		event.preventDefault();
		return app.travel(event.shiftKey ? 1 : -1);
	}
	if (event.ctrlKey || event.metaKey || event.altKey || isText) return;
	if (event.key === " " && within("button, summary, input:not([type=range]), [tabindex].row")) return;
	if (event.key.startsWith("Arrow") && within("[type=radio], [type=range]")) return;
	if (event.shiftKey && event.key.startsWith("Arrow") && (isPlane || app.selected.length)) return moveSelected(app, event);
	if (event.key === "Escape") return escape(app);
	const next = (by) => app.visit(Math.max(0, Math.min(app.stop + by, app.stops.length - 1)));
	const keys = {
		" ": () => app.play(), ArrowLeft: () => app.step(-1), ArrowRight: () => app.step(1), Home: () => app.step(-Infinity), End: () => app.step(Infinity),
		1: () => chooseBrush(app, "0"), 2: () => chooseBrush(app, "1"), 3: () => chooseBrush(app, "2"), "?": () => chooseBrush(app, "?"),
		"[": () => cycle(app, -1), "]": () => cycle(app, 1), n: () => placeNew(app), x: () => flip(app), f: () => present(app), q: () => toggleQuiz(app), Delete: () => remove(app), Backspace: () => remove(app),
	};
	if (app.stop >= 0) Object.assign(keys, { PageDown: () => next(1), ArrowDown: () => next(1), PageUp: () => next(-1), ArrowUp: () => next(-1) });
	if (app.answer(Number(event.key) - 1)) return;
	const action = keys[event.key] ?? keys[event.key.toLowerCase()];
	if (!action) return;
	event.preventDefault();
	action();
}

function escape(app) {
	if (document.body.classList.contains("presenting")) present(app);
	select(app, {});
	hideTip();
}

/** Select the previous or next point and say what it is. */
function cycle(app, by) {
	const n = app.found.points.length;
	if (!n) return app.tell("There are no points.");
	const next = app.selected.length ? (app.selected[0] + by + n) % n : by > 0 ? 0 : n - 1;
	select(app, { point: next });
	app.tell(`Selected ${describe(app, 0, next)}`);
}

function moveSelected(app, event) {
	event.preventDefault();
	if (!app.selected.length) return cycle(app, 1);
	const step = $("snap").checked ? gridStep(app) : gridStep(app) / 4, [i] = app.selected;
	const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
	const round = (value) => Number(value.toFixed(6));
	app.look ??= app.home;
	app.edit((points) => {
		points[i][0] = round(points[i][0] + by[0] * step);
		points[i][1] = round(points[i][1] + by[1] * step);
	});
	app.tell(`Moved to ${describe(app, 0, i)}`);
}

function placeNew(app) {
	const { x, y } = app.view, place = [x, y].map((value) => Number(value.toFixed(2)));
	app.look ??= app.home;
	if (app.brush === "?") return app.change((state) => state.asked.push(place));
	if (app.edit((points) => points.push([...place, app.brush]))) {
		select(app, { point: app.found.points.length - 1 });
		app.tell(`Placed ${describe(app, 0, app.found.points.length - 1)}`);
	}
}

export function flip(app) {
	if (!app.selected.length) return;
	const kinds = app.kindNames.length, selected = [...app.selected];
	app.look ??= app.home;
	app.edit((points) => {
		for (const i of selected) points[i][2] = (points[i][2] + 1) % kinds;
	});
	app.tell(`Flipped ${describe(app, 0, selected[0])}`);
}

export function remove(app) {
	const { chosenAsked } = app;
	app.look ??= app.home;
	if (app.selected.length) {
		const gone = new Set(app.selected);
		app.selected = [];
		app.edit((points) => {
			const kept = points.filter((_, i) => !gone.has(i));
			points.splice(0, points.length, ...kept);
		});
		app.tell("Removed.");
	} else if (chosenAsked >= 0) {
		app.chosenAsked = -1;
		app.change((state) => state.asked.splice(chosenAsked, 1));
	}
	syncSelection(app);
}
