// Runs cases of a JSON file in the page's own modules: node run_cases.mjs FOLDER WASM CASES.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, wasm, cases, standIns] = process.argv.slice(2);
if (standIns) {
  // Functions of few digits, so that all sums are exact and only the algorithms are compared.
  Math.exp = (x) => Math.floor(256 / (1 + x * x) + 0.5) / 256;
  Math.tanh = (x) => Math.floor((256 * x) / (1 + Math.abs(x)) + 0.5) / 256;
}
const module = (name) => import(pathToFileURL(`${folder}/${name}`).href);
const { Engine } = await module("engine.js");
const { traceLinear, traceClasses, traceKernel, dualCoefficients, countVotes, countMistakes } = await module("trace.js");
const { decideInPlane, cancellingShares, monomials, toIntegers } = await module("exact.js");
const { mistakeBound, kernelBound } = await module("margin.js");
const { traceNetwork, activations, answer } = await module("network.js");
const { pointsOf, pythonLines, readAddress, SETTINGS, usualState } = await module("state.js");
const { OPTIONS } = await module("sets.js");
const { ShownRun } = await module("model.js");
const { BLOCKS, CHECKS, encodeQr } = await module("qr.js");
const { EXERCISES } = await module("ask.js");
const { TOUR } = await module("tour.js");
const { sayEnding, sayVerdict } = await module("words.js");
const engine = await Engine.load(readFileSync(wasm));

const actions = {
  linear({ points, settings }) {
    return told(traceLinear(engine, points, settings));
  },
  classes({ points, settings, classes }) {
    return told(traceClasses(engine, points, settings, classes));
  },
  kernel({ points, settings, places }) {
    const trace = traceKernel(engine, points, settings);
    const { coef, bias } = dualCoefficients(trace, trace.last, settings.solution === "average");
    const votes = settings.solution === "vote" ? [...countVotes(engine, trace, settings, trace.last, places)] : null;
    return { ...told(trace, { votes }), coef: [...coef], bias, counts: [...countMistakes(trace, trace.last, points.y.length)] };
  },
  verdict({ points: { X, y }, bias, step }) {
    const found = decideInPlane(X, y, { bias });
    return { ...found, weights: found.weights.map(String), theorem: mistakeBound(X, y, step) };
  },
  lifted({ points: { X, y }, features }) {
    const rows = features === "product" ? withProduct(X) : monomials(X, features);
    const found = cancellingShares(rows, y);
    return found && { support: found.support, weights: found.weights.map(String) };
  },
  network({ points, settings, places }) {
    const trace = traceNetwork(engine, points, settings), { lift, units } = trace;
    const answers = places.map((x) => answer(units, activations(units, lift.apply(x))));
    return { units, answers, stopReason: trace.stopReason };
  },
  address({ address }) {
    try {
      const known = new Set([...Object.keys(usualState()), ...Object.keys(OPTIONS), ...Object.keys(SETTINGS), "t", "ask", "compare", "points"]);
      const names = [...new URLSearchParams(address).keys()].filter((name) => !known.has(name.replace(/^b\./, "")));
      return { names, troubles: openRuns(address).map((run) => run.trouble).filter(Boolean) };
    } catch (error) {
      return { names: [], troubles: [error.message] };
    }
  },
  /** What the page says of the runs of an address. */
  runs({ address }) {
    return openRuns(address).map((run) => {
      while (run.verdict && run.deciding) run.decideMore();
      const { kind, separable, apart, rows, twins } = run.verdict, told = sayVerdict(run, ["a", "b", "c"]);
      return { last: run.last, stopReason: run.trace.stopReason, kind, separable, apart, rows, twins, ending: sayEnding(run), mood: told.mood, lines: told.lines };
    });
  },
  /** Every stop and way of the tour, and whether what it claims is so. */
  tour() {
    return TOUR.flatMap(({ name, title, text, document, address, holds, ways = [] }) =>
      [["", address, holds], ...ways].map(([words, each, claim]) => ({ name, words, document, text, address: each, length: title.length + text.length, holds: Boolean(claim(openRuns(each))) })));
  },
  /** A QR code, and how its version is divided into blocks. */
  qr({ text }) {
    const rows = encodeQr(text), version = rows && (rows.length - 17) / 4;
    return rows && { rows, blocks: BLOCKS[version - 1], checks: CHECKS[version - 1] };
  },
  /** Whether each exercise is done at its start, and by its solution. */
  exercises() {
    return EXERCISES.map(({ page, text, address, solution, isDone }) => {
      const before = openRuns(address)[0].points, judge = (each) => Boolean(isDone([...openRuns(each), null], before));
      return { page, text, start: judge(address), end: judge(solution) };
    });
  },
  /** The lines of Python for the left run of an address. */
  python({ address }) {
    const [run] = openRuns(address);
    return pythonLines(run.points, run.settings, false);
  },
  functions({ values }) {
    return { exp: values.map(Math.exp), tanh: values.map(Math.tanh) };
  },
  kernelBound({ points, settings }) {
    const trace = traceKernel(engine, points, settings);
    return { theorem: kernelBound(trace.gram, points.y, trace.interceptStep), mistakes: trace.last, separated: trace.stopReason === "separated" };
  },
};

function openRuns(address) {
  const state = readAddress(address), { points } = pointsOf(state);
  return state.settings.filter(Boolean).map((settings) => new ShownRun(engine, points, settings, state.halved));
}

/** (x₁, x₂, x₁·x₂, 1) in whole numbers of one scale in each column. */
function withProduct(X) {
  const { rows, shift } = toIntegers(X), one = 1n << BigInt(shift);
  return rows.map(([x, y]) => [x, y, x * y, one]);
}

function told(trace, more = {}) {
  const { epoch, row, position, rival, activation, epochs, stopReason, last, seen, found, lines, visits, cut, batches } = trace;
  const each = (part) => part && { weights: part.weights.map((w) => [...w]), bias: part.bias.map((b) => [...b]) };
  return { epoch, row, position, rival, activation, epochs, stopReason, last, seen, cut, batches, visits: visits.row.length, found: each(found), lines: each(lines), ...more };
}

const { memory } = engine, results = [];
for (const one of JSON.parse(readFileSync(cases))) {
  const before = memory.mark();
  results.push(actions[one.kind](one));
  if (memory.mark() !== before) throw new Error("A run has not given its memory back.");
}
process.stdout.write(JSON.stringify(results));
