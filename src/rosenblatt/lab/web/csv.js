// Files of comma-separated values: two columns and a label.

import { checkPoints, MOST_POINTS } from "./state.js";

const MOST_BYTES = 2_000_000;

/** The cells of a file, by rows; quotes as in RFC 4180. */
export function readCells(text, separator) {
	const rows = [];
	let row = [], cell = "", isQuoted = false;
	for (let k = 0; k <= text.length; k++) {
		const letter = text[k] ?? "\n";
		if (isQuoted) {
			if (letter !== '"') cell += k < text.length ? letter : "";
			else if (text[k + 1] === '"') cell += text[k++];
			else isQuoted = false;
		} else if (letter === '"' && !cell) isQuoted = true;
		else if (letter === separator || letter === "\n") {
			row.push(cell.trim());
			cell = "";
			if (letter !== "\n") continue;
			if (row.length > 1 || row[0]) rows.push(row);
			row = [];
		} else cell += letter;
	}
	return rows;
}

function guessSeparator(line) {
	const count = (letter) => line.split(letter).length;
	return [",", ";", "\t"].reduce((best, each) => (count(each) > count(best) ? each : best));
}

/** Cells that hold nothing, as `train` reads them. */
export const GAPS = ["", "?", "-", "NA", "N/A", "n/a", "N.A.", "n.a.", "<NA>", "#N/A", "NaN", "nan", "NULL", "null", "None"];
const isGap = (cell) => GAPS.includes(cell);
const isNumber = (cell) => !isGap(cell) && Number.isFinite(Number(cell));

/** A cell with a decimal comma, and points or spaces between thousands, as a number with a point. */
function writePoint(cell) {
	const found = cell.match(/^([+-]?(?:\d{1,3}(?:[. ]\d{3})+|\d+)),(\d+)$/);
	return found ? `${found[1].replace(/[. ]/g, "")}.${found[2]}` : cell;
}

/** At most as many rows as the page draws, evenly spread over the file. */
function takeSome(rows) {
	if (rows.length <= MOST_POINTS) return rows;
	return Array.from({ length: MOST_POINTS }, (_, k) => rows[Math.floor((k * rows.length) / MOST_POINTS)]);
}

/** A table: names of columns, which of them hold numbers, the rows to draw, and how many there are. */
export function readTable(text, name) {
	if (text.length > MOST_BYTES) {
		throw new Error(`${name} has ${(text.length / 1e6).toFixed(1)} MB; the lab takes files up to 2 MB. Take some of the rows, or use rosenblatt train for all of them.`);
	}
	const plain = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n"), separator = guessSeparator(plain.slice(0, plain.indexOf("\n") + 1 || plain.length));
	const rows = readCells(plain, separator);
	if (!rows.length) throw new Error(`${name} is empty; a CSV file with two columns of numbers and a label is needed.`);
	const hasHeader = !rows[0].some(isNumber) && rows.length > 1;
	const width = rows[0].length, every = hasHeader ? rows.slice(1) : rows, body = takeSome(every);
	const odd = every.findIndex((row) => row.length !== width);
	if (odd >= 0) throw new Error(`${name}, line ${odd + 1 + hasHeader}: expected ${width} columns, got ${every[odd].length}.`);
	const columns = hasHeader ? rows[0] : rows[0].map((_, j) => `column ${j + 1}`);
	if (separator !== ",") for (const row of body) row.forEach((cell, j) => (row[j] = writePoint(cell)));
	const numeric = columns.map((_, j) => body.every((row) => isNumber(row[j]) || isGap(row[j])) && body.some((row) => isNumber(row[j])));
	return { name, columns, numeric, body, count: every.length };
}

/** The column of labels: by its name, else the last one. */
export function guessLabel({ columns }) {
	const named = columns.findIndex((column) => ["label", "class", "target"].includes(column.toLowerCase()));
	return named >= 0 ? named : columns.length - 1;
}

/** The columns of numbers beside a label. */
export function numberColumns({ columns, numeric }, label) {
	return columns.flatMap((_, j) => (numeric[j] && j !== label ? [j] : []));
}

/**
 * Points of a table: two columns, standardised.
 *
 * @param {{label?: number, drawn?: number[]}} chosen
 */
export function pointsOfTable(table, chosen = {}) {
	const { name, columns } = table, label = chosen.label ?? guessLabel(table), numbers = numberColumns(table, label);
	if (numbers.length < 2) {
		const have = numbers.length ? `only one column of numbers, “${columns[numbers[0]]}”` : "no column of numbers";
		throw new Error(`${name} has ${have}, beside the label; the lab draws two and a label.`);
	}
	const drawn = chosen.drawn ?? numbers.slice(0, 2);
	const body = table.body.filter((row) => ![...drawn, label].some((j) => isGap(row[j]))), missing = table.body.length - body.length;
	if (!body.length) throw new Error(`${name} has a gap in every row of ${drawn.map((j) => `“${columns[j]}”`).join(" and ")}; choose other columns.`);
	const { kinds, classes, note } = encodeLabels(body.map((row) => row[label]), name);
	const isOwn = drawn.map((j) => columns[j]).join() === "x1,x2"; // saved by the page
	let places = drawn.map((j) => body.map((row) => Number(row[j])));
	if (!isOwn) places = places.map(standardise);
	const round = (value) => (isOwn ? value : Math.round(value * 1000) / 1000 + 0);
	const points = checkPoints(body.map((_, i) => [round(places[0][i]), round(places[1][i]), kinds[i]]), name);
	const plain = (text) => text.replace(/[;<>&"]/g, " ").replace(/\s+/g, " ").trim().slice(0, 40);
	const names = drawn.map((j) => plain(columns[j]));
	const gaps = missing ? ` ${missing.toLocaleString("en")} ${missing > 1 ? "rows are" : "row is"} left out for gaps.` : "";
	const some = table.count > table.body.length ? ` ${table.body.length.toLocaleString("en")} of ${table.count.toLocaleString("en")} rows of ${name}, evenly spread.` : "";
	const of = `${names[0]} and ${names[1]}, standardised (mean 0, standard deviation 1)`;
	return {
		points, columns: isOwn ? [] : names, classes: classes.map(plain), label, drawn,
		note: (isOwn ? note : `${of}. ${note} The file stays on this computer.`) + some + gaps,
	};
}

function standardise(values) {
	const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
	const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
	return values.map((value) => (value - mean) / (spread || 1));
}

/** Labels as numbers of classes; with over three, the last one against all others. */
function encodeLabels(labels, name) {
	const numeric = labels.every(isNumber), compare = numeric ? (a, b) => a - b : (a, b) => (a < b ? -1 : 1);
	const classes = [...new Set(labels)].sort(compare);
	if (classes.length < 2) throw new Error(`${name} has only one class, “${classes[0]}”; two are needed.`);
	if (classes.length === 3) return { kinds: labels.map((label) => classes.indexOf(label)), classes, note: "" };
	const positive = classes.at(-1), others = classes.length === 2 ? classes[0] : "others";
	const rest = classes.length === 2 ? `${others} is −1.` : "all others are −1.";
	return { kinds: labels.map((label) => (label === positive ? 0 : 1)), classes: [positive, others], note: `${positive} is +1, ${rest}` };
}
