// Files that the page saves: itself as one file, and figures.

import { CanvasPainter, SvgPainter } from "./paint.js";
import { drawLegend, drawPlane, Frame } from "./plane.js";

/** Offer a file for saving. */
export function download(name, type, content) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([content], { type }));
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The page as one file

const IMPORT = /^import\s+\{([^}]*)\}\s+from\s+"\.\/([\w-]+)\.js";\n?/gm;
const EXPORT = /^export (?=(?:async )?(?:function\*?|class|const|let) +([\w$]+))/gm;
const COMMENT = /^[ \t]*(?:\/\/.*|\/\*\*.*\*\/)\n/gm;

/** Modules as one script: each becomes a function that returns what it exports. */
export function bundle(sources, main) {
	const done = new Set(), parts = [];
	const add = (name) => {
		if (done.has(name)) return;
		done.add(name);
		for (const [, , other] of sources[name].matchAll(IMPORT)) add(other);
		const exported = [...sources[name].matchAll(EXPORT)].map((found) => found[1]);
		const body = sources[name]
			.replace(IMPORT, (_, names, other) => `const {${names.replaceAll(" as ", ": ")}} = ${moduleName(other)};\n`)
			.replace(EXPORT, "")
			.replace(COMMENT, "");
		parts.push(`// ${name}.js\nconst ${moduleName(name)} = (() => {\n${body}\nreturn { ${exported.join(", ")} };\n})();\n`);
	};
	add(main);
	return parts.join("\n");
}

const moduleName = (name) => `module_${name.replaceAll("-", "_")}`;

/** The source of the page as one HTML file that starts with a state. */
export async function onePage(pristine, address) {
	const escaped = address.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
	let html = pristine.replace(/(<meta name="lab-state" content=")[^"]*/, (_, start) => start + escaped);
	if (!html.includes('id="wasm"')) html = await inline(html);
	return `<!doctype html>\n${html}\n`;
}

async function inline(html) {
	const read = async (name) => (await fetch(new URL(name, document.baseURI))).text();
	const sources = {}, queue = ["main"];
	while (queue.length) {
		const name = queue.pop();
		if (name in sources) continue;
		sources[name] = await read(`${name}.js`);
		queue.push(...[...sources[name].matchAll(IMPORT)].map((found) => found[2]));
	}
	const bytes = new Uint8Array(await (await fetch(new URL("engine.wasm", document.baseURI))).arrayBuffer());
	const wasm = btoa(String.fromCharCode(...bytes)), style = await read("style.css");
	return html
		.replace(/\s*<p id="unloaded".*?<\/script>/s, "")
		.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>\n${style}</style>`)
		.replace(/<script type="module" src="main.js"><\/script>/, () => `<script type="application/wasm" id="wasm">${wasm}<\/script>\n<script type="module">\n${bundle(sources, "main")}<\/script>`);
}

// Figures

/** A figure of the planes with titles and legends, drawn by a painter that `make` gives for a size. */
export function drawFigure(scenes, titles, size, make) {
	const unit = size / 42, gap = unit, wide = scenes.length * size + (scenes.length - 1) * gap;
	const trial = make(wide, size), legend = drawLegend(trial, { ...scenes[0], unit }, unit, 0, wide - 2 * unit);
	const top = 2.2 * unit, high = top + size + legend + 1.6 * unit, painter = make(wide, high);
	painter.shape([[[0, 0], [wide, 0], [wide, high], [0, high]]], { fill: scenes[0].colours.ground });
	scenes.forEach((scene, side) => {
		const left = side * (size + gap), moved = new MovedPainter(painter, left, top);
		drawPlane(moved, new Frame(size, size, scene.view), { ...scene, unit, isFigure: true, isMoving: false, selected: [], lit: -1 });
		const name = scenes.length > 1 ? `${side ? "right" : "left"}: ${titles[side]}` : titles[side];
		painter.shape([[[left, 0], [left + size + gap, 0], [left + size + gap, top], [left, top]], [[left, top + size], [left + size + gap, top + size], [left + size + gap, high], [left, high]]], { fill: scene.colours.ground });
		painter.text([left + 0.4 * unit, 1.5 * unit], name, { fill: scene.colours.ink, size: Math.min(1.1 * unit, size / (0.56 * name.length)), weight: "bold" });
	});
	drawLegend(painter, { ...scenes[0], unit }, unit, top + size + 0.8 * unit, wide - 2 * unit);
	return painter;
}

/** Draws what it is given at another place. */
class MovedPainter {
	constructor(painter, dx, dy) {
		Object.assign(this, { painter, dx, dy });
	}

	move([x, y]) {
		return [x + this.dx, y + this.dy];
	}

	shape(polygons, style) {
		this.painter.shape(polygons.map((polygon) => polygon.map((place) => this.move(place))), style);
	}

	circle(place, radius, style) {
		this.painter.circle(this.move(place), radius, style);
	}

	text(place, words, style) {
		this.painter.text(this.move(place), words, style);
	}

	measure(words, size) {
		return this.painter.measure(words, size);
	}
}

function canvasPainter(width, height) {
	const canvas = document.createElement("canvas");
	Object.assign(canvas, { width: Math.round(width), height: Math.round(height) });
	return new CanvasPainter(canvas.getContext("2d", { willReadFrequently: true }));
}

export function figureSvg(scenes, titles) {
	return String(drawFigure(scenes, titles, 640, (width, height) => new SvgPainter(Math.round(width), Math.round(height))));
}

export function figurePng(scenes, titles, size = 1200) {
	const { canvas } = drawFigure(scenes, titles, size, canvasPainter).context;
	return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
