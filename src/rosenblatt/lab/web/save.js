// Files that the page saves: itself as one file, figures, an animation.

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

// Animations: GIF89a with one palette

/** An animated GIF of canvas frames, each for so many hundredths of a second. */
export function encodeGif(frames, delay) {
	const { width, height } = frames[0], palette = paletteOf(frames), bytes = [];
	const word = (value) => bytes.push(value & 255, value >> 8), text = (letters) => bytes.push(...[...letters].map((letter) => letter.charCodeAt(0)));
	text("GIF89a");
	word(width);
	word(height);
	bytes.push(0xf7, 0, 0);
	for (let i = 0; i < 256; i++) bytes.push(...(palette.colours[i] ?? [0, 0, 0]));
	bytes.push(0x21, 0xff, 11);
	text("NETSCAPE2.0");
	bytes.push(3, 1, 0, 0, 0);
	frames.forEach((frame, number) => {
		bytes.push(0x21, 0xf9, 4, 0);
		word(number === frames.length - 1 ? 200 : delay);
		bytes.push(0, 0, 0x2c, 0, 0, 0, 0);
		word(width);
		word(height);
		bytes.push(0, 8);
		const packed = lzw(palette.indices(frame));
		for (let at = 0; at < packed.length; at += 255) {
			const block = packed.slice(at, at + 255);
			bytes.push(block.length);
			for (const each of block) bytes.push(each);
		}
		bytes.push(0);
	});
	bytes.push(0x3b);
	return new Uint8Array(bytes);
}

/** The 256 most frequent colours of 15 bits, and each pixel's number among them. */
function paletteOf(frames) {
	const counts = new Map(), code = (data, i) => ((data[i] >> 3) << 10) | ((data[i + 1] >> 3) << 5) | (data[i + 2] >> 3);
	for (const { data } of [frames[0], frames[frames.length >> 1], frames.at(-1)]) for (let i = 0; i < data.length; i += 4) {
		const each = code(data, i), known = counts.get(each);
		if (known) known[0] += 1;
		else counts.set(each, [1, [data[i], data[i + 1], data[i + 2]]]);
	}
	const chosen = [...counts.entries()].sort((a, b) => b[1][0] - a[1][0]).slice(0, 256), colours = chosen.map(([, [, colour]]) => colour);
	const places = new Map(chosen.map(([each], i) => [each, i]));
	const nearest = (r, g, b) => colours.reduce((best, [x, y, z], i) => {
		const distance = (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2;
		return distance < best[0] ? [distance, i] : best;
	}, [Infinity, 0])[1];
	const indices = ({ data }) => {
		const found = new Uint8Array(data.length / 4);
		for (let i = 0; i < data.length; i += 4) {
			const each = code(data, i);
			if (!places.has(each)) places.set(each, nearest(data[i], data[i + 1], data[i + 2]));
			found[i / 4] = places.get(each);
		}
		return found;
	};
	return { colours, indices };
}

/** Lempel, Ziv and Welch's code for numbers of 8 bits. */
function lzw(values) {
	const out = [], CLEAR = 256, END = 257;
	let table = new Map(), size = 9, next = 258, bits = 0, held = 0;
	const put = (code) => {
		held |= code << bits;
		bits += size;
		for (; bits >= 8; bits -= 8, held >>>= 8) out.push(held & 255);
	};
	put(CLEAR);
	let prefix = values[0];
	for (let i = 1; i < values.length; i++) {
		const key = (prefix << 8) | values[i], known = table.get(key);
		if (known !== undefined) {
			prefix = known;
			continue;
		}
		put(prefix);
		table.set(key, next);
		if (next === 1 << size && size < 12) size += 1;
		next += 1;
		if (next === 4096) {
			put(CLEAR);
			[table, size, next] = [new Map(), 9, 258];
		}
		prefix = values[i];
	}
	put(prefix);
	put(END);
	if (bits) out.push(held & 255);
	return out;
}

/** The run as a GIF: some 60 moments from start to end. */
export function animate(scenesAt, titles, last) {
	const count = Math.min(last + 1, 60), frames = [];
	for (let i = 0; i < count; i++) {
		const k = Math.round((last * i) / Math.max(count - 1, 1));
		const { canvas } = drawFigure(scenesAt(k), titles, 460, canvasPainter).context;
		frames.push(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height));
	}
	return encodeGif(frames, 25);
}
