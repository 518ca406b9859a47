// QR codes (ISO/IEC 18004) of addresses: bytes, error correction of level L, mask 0.

export const CHECKS = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30]; // a block, by version
export const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25];
const FORMAT = 0b111011111000100; // of level L and mask 0

/** The places of the middles of the alignment patterns, along each axis. */
function alignments(version) {
	if (version === 1) return [];
	const count = Math.floor(version / 7) + 2, step = version === 32 ? 26 : Math.ceil((4 * version + 4) / (2 * count - 2)) * 2;
	return [6, ...Array.from({ length: count - 1 }, (_, i) => 4 * version + 10 - step * (count - 2 - i))];
}

/** How many bytes a version holds, with those of the error correction. */
function capacity(version) {
	const count = alignments(version).length, squares = count ? 25 * count * count - 10 * count - 55 : 0;
	return Math.floor(((16 * version + 128) * version + 64 - squares - (version >= 7 ? 36 : 0)) / 8);
}

const times = (a, b) => { // in the field of 256 elements
	let product = 0;
	for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
	return product;
};

/** The remainder of a block's bytes, by Reed and Solomon's polynomial of a degree. */
function checksOf(bytes, degree) {
	let generator = [1], root = 1;
	for (let i = 0; i < degree; i++) {
		generator = [...generator, 0].map((value, j) => value ^ (j ? times(generator[j - 1], root) : 0));
		root = times(root, 2);
	}
	const rest = new Array(degree).fill(0);
	for (const byte of bytes) {
		const factor = byte ^ rest.shift();
		rest.push(0);
		rest.forEach((_, i) => (rest[i] ^= times(generator[i + 1], factor)));
	}
	return rest;
}

/** All bytes of a code: head, text, filling; in blocks, interleaved, with their checks. */
function codewords(text, version) {
	const total = capacity(version), blocks = BLOCKS[version - 1], checks = CHECKS[version - 1], room = total - blocks * checks;
	const bits = [...(4).toString(2).padStart(4, "0"), ...text.length.toString(2).padStart(version < 10 ? 8 : 16, "0")];
	for (const byte of text) bits.push(...byte.toString(2).padStart(8, "0"));
	const bytes = Array.from({ length: text.length + (version < 10 ? 2 : 3) }, (_, i) => parseInt(bits.slice(8 * i, 8 * i + 8).join("").padEnd(8, "0"), 2));
	for (let i = 0; bytes.length < room; i++) bytes.push(i % 2 ? 0x11 : 0xec);
	const short = Math.floor(room / blocks), long = blocks - (room % blocks), parts = []; // the first ones are shorter
	for (let i = 0, at = 0; i < blocks; i++) parts.push(bytes.slice(at, (at += short + (i >= long ? 1 : 0))));
	const weave = (lists) => Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, i) => lists.flatMap((list) => (i < list.length ? [list[i]] : []))).flat();
	return [...weave(parts), ...weave(parts.map((part) => checksOf(part, checks)))];
}

/** The dark and light modules of a text's code, by rows; or null if the text is too long. */
export function encodeQr(words) {
	const text = new TextEncoder().encode(words), versions = CHECKS.map((_, i) => i + 1);
	const version = versions.find((v) => text.length + (v < 10 ? 2 : 3) <= capacity(v) - BLOCKS[v - 1] * CHECKS[v - 1]);
	if (!version) return null;
	const size = 17 + 4 * version, rows = Array.from({ length: size }, () => new Array(size).fill(null));
	const set = (x, y, isDark) => x >= 0 && y >= 0 && x < size && y < size && (rows[y][x] = Boolean(isDark));
	const square = (cx, cy, reach, isDark) => {
		for (let dy = -reach; dy <= reach; dy++) for (let dx = -reach; dx <= reach; dx++) set(cx + dx, cy + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
	};
	for (let i = 8; i < size - 8; i++) {
		set(i, 6, i % 2 === 0);
		set(6, i, i % 2 === 0);
	}
	const last = alignments(version).length - 1;
	alignments(version).forEach((cx, i, all) => all.forEach((cy, j) => !(i + j === 0 || (!i && j === last) || (i === last && !j)) && square(cx, cy, 2, (far) => far !== 1)));
	for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(cx, cy, 4, (far) => far !== 2 && far !== 4);
	for (let i = 0; i < 15; i++) {
		const bit = (FORMAT >> i) & 1;
		set(8, i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, bit);
		set(i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i, 8, bit);
	}
	set(8, size - 8, true);
	if (version >= 7) {
		let rest = version;
		for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
		for (let i = 0; i < 18; i++) for (const [x, y] of [[size - 11 + (i % 3), Math.floor(i / 3)], [Math.floor(i / 3), size - 11 + (i % 3)]]) set(x, y, (((version << 12) | rest) >> i) & 1);
	}
	const bits = codewords(text, version).flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (byte >> bit) & 1));
	let at = 0;
	for (let right = size - 1; right > 0; right -= 2) {
		if (right === 6) right = 5;
		for (let step = 0; step < size; step++) for (const x of [right, right - 1]) {
			const y = (right + 1) & 2 ? step : size - 1 - step;
			if (rows[y][x] === null) rows[y][x] = Boolean((bits[at++] ?? 0) ^ ((x + y) % 2 === 0));
		}
	}
	return rows;
}

/** A code as SVG, dark on light as readers expect it. */
export function drawQr(words) {
	const rows = encodeQr(words);
	if (!rows) return "";
	const size = rows.length + 8, path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x + 4} ${y + 4}h1v1h-1z`] : []))).join("");
	return `<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code of the link"><path fill="#fff" d="M0 0h${size}v${size}h-${size}z"/><path d="${path}"/></svg>`;
}
