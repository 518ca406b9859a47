// The page's fixed words in other languages, from the table in index.html: a line for each, English first.

const CODES = ["en", "de", "es"];
const rows = new Map(); // by the words in any of the languages
let chosen = 0, isUsed = false;

/** Fixed words, of any language, in the chosen one; other words as they are. */
export const translate = (words) => rows.get(words)?.[chosen] ?? words;

/** Read the table, and translate whatever the page shows from now on. */
export function buildLanguages(onChange) {
	const [names, ...lines] = document.getElementById("words").textContent.trim().split("\n").map((line) => line.split("|"));
	for (const column of [0, 1, 2]) for (const line of lines) if (!rows.has(line[column])) rows.set(line[column], line);
	new MutationObserver((changes) => {
		if (isUsed) for (const { target, addedNodes } of changes) for (const node of [target, ...addedNodes]) translateAll(node);
	}).observe(document.body, { childList: true, characterData: true, subtree: true });
	const select = document.getElementById("language");
	select.append(...names.map((name, i) => new Option(name, CODES[i])));
	select.addEventListener("change", () => onChange(select.value));
}

export function chooseLanguage(code) {
	const number = Math.max(0, CODES.indexOf(code));
	if (number === chosen) return;
	[chosen, isUsed] = [number, true];
	document.documentElement.lang = document.getElementById("language").value = CODES[chosen];
	translateAll(document.body);
}

function translateAll(root) {
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
	for (let node = root; node; node = walker.nextNode()) {
		if (node.nodeType === Node.TEXT_NODE) {
			const words = node.data.trim(), shown = translate(words);
			if (shown !== words && !node.parentElement?.closest("script, body [lang=en], #language")) node.data = node.data.replace(words, () => shown);
		} else for (const name of ["aria-label", "label"]) {
			const words = node.getAttribute?.(name);
			if (words && translate(words) !== words) node.setAttribute(name, translate(words));
		}
	}
}
