// The dual view: how often each row was mistaken, α, and w as the sum of those rows.

const MOST_NUMBERS = 60; // numbers at points; with more, sizes alone tell

function alphas(side, k) {
  const found = new Map(), rows = side.trace.data.row ?? [];
  for (let j = 1; j <= k; j++) found.set(rows[j], (found.get(rows[j]) ?? 0) + 1);
  return found;
}

const shows_alphas = (run) => run.choices.form === "kernel" || (form.elements.dual.checked && !run.units?.length);

function draw_alphas(side, run, k) {
  if (!shows_alphas(run)) return set("alpha", side, NOTHING);
  const found = [...alphas(side, k)], unit = lab.size ?? 10;
  set("alpha", side, {
    x: found.map(([row]) => points.data.x[row]), y: found.map(([row]) => points.data.y[row]),
    size: found.map(([, count]) => unit * Math.min(1.2 + 0.9 * Math.sqrt(count), 7)),
    text: found.map(([, count]) => (found.length > MOST_NUMBERS ? "" : String(count))),
  });
}

function words_of_alphas(side, run, k, at) {
  if (["kernel", "network"].includes(run.choices.form) || !form.elements.dual.checked || !k) return "";
  const most = [...alphas(side, k)].sort((a, b) => b[1] - a[1]), eta = run.choices.eta0;
  const terms = most.slice(0, 3).map(([row, count]) => {
    const sign = points.data.label[row] === "+1" ? "+" : "−";
    return `${sign} ${count}·${tuple(row_of(run, row))}`;
  });
  const rest = most.length > 3 ? ` + ${most.length - 3} more` : "";
  const begun = run.choices.start ? "w₀ + " : "", rate = eta === 1 ? "" : `${short(eta)}·`;
  const sum = terms.join(" ").replace(/^\+ /, "") + rest;
  return `<p class="rule">w = ${begun}${rate}Σ αᵢyᵢxᵢ = ${begun}${rate ? `${rate}[${sum}]` : sum} = <b>${tuple(weights_at(at))}</b></p>`;
}

// What a mistake does in the dual form
function rule_of_alpha(side, run, k, at) {
  const row = at("row"), y = points.data.label[row] === "+1" ? 1 : -1, now = alphas(side, k);
  const alpha = `α<sub>${row + 1}</sub> ← ${now.get(row) - 1} + 1 = <b class="hot">${now.get(row)}</b>`;
  const bias = `; b ← ${short(at("b", k - 1))} ${signed(at("b") - at("b", k - 1))} = <b class="hot">${short(at("b"))}</b>`;
  const test = `y·f(x) = ${short(y * at("activation"))} ≤ ${short(run.choices.margin)}`;
  return `<p><b>Update ${grouped(k)}</b>, epoch ${at("epoch")}: ${row_link(row)}, y = ${y > 0 ? "+1" : "−1"}, ${test}</p>
    <p class="rule">${alpha}${bias}</p>
    <p class="facts">f(x) = Σ αᵢyᵢK(xᵢ, x) + b, over ${now.size} support row${now.size === 1 ? "" : "s"}</p>`;
}
