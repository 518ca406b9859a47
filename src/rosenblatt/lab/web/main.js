// Starts the page: the engine, the state of the address, and what listens to the visitor.

import { $, App } from "./app.js";
import { readTable } from "./csv.js";
import { Engine } from "./engine.js";
import { buildLanguages } from "./languages.js";
import { buildForms, showTable } from "./forms.js";
import { attachGestures, flip, remove } from "./gestures.js";

const pristine = document.documentElement.outerHTML; // before anything has changed it

async function readEngine() {
	const inline = $("wasm");
	if (!inline) return (await fetch(new URL("engine.wasm", document.baseURI))).arrayBuffer();
	return Uint8Array.from(atob(inline.textContent), (letter) => letter.charCodeAt(0));
}

/** A table that the server of `rosenblatt lab` gives, named in the address. */
async function openTable(app, name) {
	const answer = await fetch(new URL(encodeURIComponent(name), document.baseURI));
	if (!answer.ok) throw new Error(`${name} could not be read (${answer.status}).`);
	showTable(app, readTable(await answer.text(), name));
}

async function start() {
	const app = new App(await Engine.load(await readEngine()));
	app.pristine = pristine;
	window.lab = app;
	buildForms(app);
	buildLanguages((language) => app.change((state) => (state.lang = language)));
	attachGestures(app);
	$("flip").addEventListener("click", () => flip(app));
	$("remove").addEventListener("click", () => remove(app));
	const hash = location.hash.slice(1), given = document.querySelector('meta[name="lab-state"]').content;
	const table = new URLSearchParams(hash || given).get("table");
	document.body.classList.toggle("embedded", new URLSearchParams(location.search).has("embed"));
	if (matchMedia("(prefers-reduced-motion: reduce)").matches) $("speed").value = "1";
	app.open(table ? "data=empty" : hash || given);
	app.drawNow();
	if (table) await openTable(app, table).catch((error) => app.say(error.message, true));
	addEventListener("hashchange", () => location.hash !== app.written && app.open(location.hash.slice(1)));
	new ResizeObserver(() => app.draw()).observe($("plane-0"));
	addEventListener("resize", () => app.draw());
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.draw());
	document.body.dataset.ready = "true";
	performance.mark("lab-ready");
}

start().catch((error) => {
	$("message").hidden = false;
	$("message").classList.add("bad");
	$("message").firstElementChild.textContent = `The lab could not start: ${error.message}`;
});
