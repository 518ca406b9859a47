// One way to draw on a canvas and into an SVG file.

import { translate } from "./languages.js";

/** Draws on a 2-D canvas. */
export class CanvasPainter {
	constructor(context) {
		this.context = context;
	}

	shape(polygons, style) {
		this.paint(style, (context) => {
			for (const polygon of polygons) {
				polygon.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
				if (!style.isOpen) context.closePath();
			}
		});
	}

	circle([x, y], radius, style) {
		this.paint(style, (context) => context.arc(x, y, radius, 0, 2 * Math.PI));
	}

	/** Fill and stroke a path. */
	paint({ fill = null, stroke = null, width = 1, dash = [], alpha = 1 }, trace) {
		const { context } = this;
		context.save();
		Object.assign(context, { globalAlpha: alpha, fillStyle: fill, strokeStyle: stroke, lineWidth: width, lineJoin: "round", lineCap: "round" });
		context.setLineDash(dash);
		context.beginPath();
		trace(context);
		if (fill) context.fill();
		if (stroke) context.stroke();
		context.restore();
	}

	text([x, y], words, { fill, size = 13, align = "left", baseline = "alphabetic", halo = null, weight = "" }) {
		const { context } = this;
		context.save();
		context.font = `${weight} ${size}px ${FONT}`;
		Object.assign(context, { textAlign: align, textBaseline: baseline, lineJoin: "round" });
		if (halo) {
			Object.assign(context, { strokeStyle: halo, lineWidth: size / 3.5 });
			context.strokeText(translate(words), x, y);
		}
		context.fillStyle = fill;
		context.fillText(translate(words), x, y);
		context.restore();
	}

	measure(words, size) {
		this.context.font = `${size}px ${FONT}`;
		return this.context.measureText(words).width;
	}
}

export const FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

const escape = (text) => String(text).replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);
const short = (value) => String(Math.round(value * 100) / 100);

/** Writes the same shapes as SVG. */
export class SvgPainter {
	constructor(width, height) {
		Object.assign(this, { width, height, parts: [] });
	}

	style({ fill = null, stroke = null, width = 1, dash = [], alpha = 1 }) {
		const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
		const line = stroke ? ` stroke="${stroke}" stroke-width="${width}" stroke-linejoin="round" stroke-linecap="round"${dashes}` : "";
		return `fill="${fill ?? "none"}"${line}${alpha === 1 ? "" : ` opacity="${alpha}"`}`;
	}

	shape(polygons, style) {
		const d = polygons.map((polygon) => polygon.map(([x, y], i) => `${i ? "L" : "M"}${short(x)} ${short(y)}`).join("") + (style.isOpen ? "" : "Z")).join("");
		if (d) this.parts.push(`<path d="${d}" ${this.style(style)}/>`);
	}

	circle([x, y], radius, style) {
		this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" ${this.style(style)}/>`);
	}

	text([x, y], words, { fill, size = 13, align = "left", baseline = "alphabetic", halo = null, weight = "" }) {
		const anchor = { left: "start", center: "middle", right: "end" }[align], shift = { middle: 0.35, top: 0.8 }[baseline] ?? 0;
		const outline = halo ? ` stroke="${halo}" stroke-width="${short(size / 3.5)}" paint-order="stroke" stroke-linejoin="round"` : "";
		this.parts.push(`<text x="${short(x)}" y="${short(y + shift * size)}" font-size="${short(size)}" text-anchor="${anchor}" fill="${fill}"${outline}${weight ? ` font-weight="${weight}"` : ""}>${escape(translate(words))}</text>`);
	}

	measure(words, size) {
		return 0.55 * size * words.length;
	}

	toString() {
		return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}" font-family="${FONT}">\n${this.parts.join("\n")}\n</svg>\n`;
	}
}

/** An arrow from one place to another, with a head of a size. */
export function arrow(painter, from, to, { stroke, width = 2, dash = [], head = 9, alpha = 1 }) {
	const dx = to[0] - from[0], dy = to[1] - from[1], length = Math.hypot(dx, dy);
	if (!(length > 0)) return;
	const size = Math.min(head, length), u = [dx / length, dy / length], back = [to[0] - size * u[0], to[1] - size * u[1]];
	painter.shape([[from, back]], { stroke, width, dash, alpha, isOpen: true });
	const side = [-u[1] * size * 0.45, u[0] * size * 0.45];
	painter.shape([[to, [back[0] + side[0], back[1] + side[1]], [back[0] - side[0], back[1] - side[1]]]], { fill: stroke, alpha });
}

/** The mark of a class: a square, a circle or a triangle. */
export function mark(painter, kind, [x, y], size, style) {
	if (kind === 0) painter.shape([[[x - size, y - size], [x + size, y - size], [x + size, y + size], [x - size, y + size]].map(([a, b]) => [x + 0.88 * (a - x), y + 0.88 * (b - y)])], style);
	else if (kind === 1) painter.circle([x, y], size, style);
	else painter.shape([[[x, y - 1.2 * size], [x + 1.1 * size, y + 0.8 * size], [x - 1.1 * size, y + 0.8 * size]]], style);
}
