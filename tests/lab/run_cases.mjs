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
const { pointsOf, readAddress, SETTINGS, usualState } = await module("state.js");
const { OPTIONS } = await module("sets.js");
const { ShownRun } = await module("model.js");
const engine = await Engine.load(readFileSync(wasm));

const actions = {
  linear({ points, settings, places }) {
    const trace = traceLinear(engine, points, settings);
    const votes = settings.solution === "vote" ? [...countVotes(engine, trace, settings, trace.last, places)] : null;
    return told(trace, { votes });
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
    const trace = traceNetwork(engine, points, settings), { lift, growth, units } = trace;
    const answers = places.map((x) => answer(growth, units, activations(growth, units, lift.apply(x))));
    return { units, answers, stopReason: trace.stopReason };
  },
  address({ address }) {
    try {
      const known = new Set([...Object.keys(usualState()), ...Object.keys(OPTIONS), ...Object.keys(SETTINGS), "t", "ask", "compare", "points"]);
      const names = [...new URLSearchParams(address).keys()].filter((name) => !known.has(name.replace(/^b\./, "")));
      const state = readAddress(address), { points } = pointsOf(engine, state);
      const runs = state.settings.filter(Boolean).map((settings) => new ShownRun(engine, points, settings, state.halved));
      return { names, troubles: runs.map((run) => run.trouble).filter(Boolean) };
    } catch (error) {
      return { names: [], troubles: [error.message] };
    }
  },
  functions({ values }) {
    return { exp: values.map(Math.exp), tanh: values.map(Math.tanh) };
  },
  kernelBound({ points, settings }) {
    const trace = traceKernel(engine, points, settings);
    return { theorem: kernelBound(trace.gram, points.y, trace.interceptStep), mistakes: trace.last, separated: trace.stopReason === "separated" };
  },
};

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
