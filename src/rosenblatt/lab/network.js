// A network: the lines of its units in the plane, and the graph that grows beside it.

function draw_units(side, run, k) {
  const { ink, faint, hot } = colours(), shown = (run.units ?? []).slice(0, k);
  const lines = shown.flatMap((unit, i) => unit.line.map(([xs, ys]) => ({ xs, ys, newest: i === k - 1 })));
  set("units", side, {
    xs: lines.map((one) => one.xs), ys: lines.map((one) => one.ys),
    colour: lines.map((one) => (one.newest ? hot : faint)), size: lines.map((one) => (one.newest ? 2.6 : 1.4)),
  });
  const named = shown.map((unit, i) => ({ place: unit.place, text: `${i + 1} on`, colour: i === k - 1 ? hot : ink })).filter((one) => one.place);
  set("names", side, { x: named.map((one) => one.place[0]), y: named.map((one) => one.place[1]), text: named.map((one) => one.text), colour: named.map((one) => one.colour) });
  const graph = $(`beside_${side.name}`).querySelector("svg");
  graph.classList.toggle("shown", Boolean(run.units?.length));
  if (run.units?.length) draw_graph(graph, run, k);
}

// What a unit is for

function role_of(run, number) {
  const unit = run.units[number], { growth } = run.choices;
  if (growth === "upstart") {
    if (unit.parent < 0) return "the first unit, which answers";
    const parent = unit.parent + 1;
    return unit.sign < 0 ? `on where unit ${parent} is wrongly on, and turns it off` : `on where unit ${parent} is wrongly off, and turns it on`;
  }
  if (growth === "tiling") {
    const master = !run.units.slice(0, number).some((one) => one.layer === unit.layer);
    return master ? `the master of layer ${unit.layer + 1}, which answers` : `in layer ${unit.layer + 1}: parts points that look alike there`;
  }
  if (!number) return "sees the point and answers";
  return growth === "tower" ? `sees the point and unit ${number}, and answers` : "sees the point and all units before, and answers";
}

function words_of_unit(run, { k, at, over }) {
  const wrong = `<p>${words_of_errors(at)} by the network</p>`;
  const done = over ? `<p><b>${run.ending}</b></p>` : "";
  if (!k) return `<p><b>Start</b>: no unit yet</p>${wrong}`;
  const unit = run.units[k - 1], own = unit.weights.slice(0, unit.width), sent = unit.weights.slice(unit.width);
  const layered = run.choices.growth === "tiling" && unit.layer;
  const where = layered ? ", of the layer before" : unit.width > 2 ? ", on the sphere" : "";
  const seen = !layered && sent.length ? `; of units before ${tuple(sent)}` : "";
  return `<p><b>Unit ${k}</b>: ${role_of(run, k - 1)}</p>
    <p class="rule">w = <b class="hot">${tuple(layered ? unit.weights : own)}</b>${where}${seen}, b = <b class="hot">${short(unit.bias)}</b></p>${wrong}${done}`;
}

// The graph: what units see on the left, who answers on the right

const LINKS = { // which units a unit hears, and by which weight
  upstart: (units, i) => units.flatMap((one, j) => (one.parent === i ? [[j, one.sign]] : [])),
  tower: (units, i) => (i ? [[i - 1, units[i].weights.at(-1)]] : []),
  pyramid: (units, i) => units.slice(0, i).map((_, j) => [j, units[i].weights[units[i].width + j]]),
  tiling: (units, i) => units.map((one, j) => [j, one.layer]).filter(([, layer]) => layer === units[i].layer - 1).map(([j], place) => [j, units[i].weights[place]]),
};

function draw_graph(svg, run, k) {
  const { growth } = run.choices, all = run.units, units = all.slice(0, k);
  const deepest = Math.max(...all.map((unit) => unit.layer));
  const column = (unit) => (growth === "upstart" ? deepest - unit.layer : unit.layer);
  const columns = Array.from({ length: deepest + 1 }, () => []);
  all.forEach((unit, i) => columns[column(unit)].push(i));
  const across = 84, down = 46, rows = Math.max(2, ...columns.map((each) => each.length));
  const width = across * (deepest + 3), height = down * rows;
  const place = all.map((unit, i) => {
    const mates = columns[column(unit)], chain = growth === "tower" || growth === "pyramid";
    const lift = chain ? (i % 2 ? 0.2 : -0.2) * down : 0; // so that links past a unit are seen
    return [across * (column(unit) + 1.25), height * ((mates.indexOf(i) + 0.5) / mates.length) + lift];
  });
  const inputs = ["x₁", "x₂"].map((name, i) => ({ name, at: [26, height * (0.3 + 0.4 * i)] }));
  const shapes = [], link = (from, to, kind, title = "") => shapes.push(`<line x1="${from[0]}" y1="${from[1]}" x2="${to[0]}" y2="${to[1]}" class="${kind}"><title>${title}</title></line>`);
  units.forEach((unit, i) => {
    if (growth !== "tiling" || unit.layer === 0) for (const { at } of inputs) link(at, place[i], "input");
    for (const [j, weight] of LINKS[growth](units, i)) link(place[j], place[i], weight < 0 ? "off" : "on", `unit ${j + 1} → unit ${i + 1}: ${short(weight)}`);
  });
  const answering = growth === "upstart" ? 0 : units.findIndex((unit) => unit.layer === units[k - 1]?.layer);
  if (k) link(place[answering], [place[answering][0] + 52, place[answering][1]], "answer");
  if (k) shapes.push(`<text x="${place[answering][0] + 58}" y="${place[answering][1]}" class="end">y</text>`);
  for (const { name, at } of inputs) shapes.push(`<rect x="${at[0] - 16}" y="${at[1] - 12}" width="32" height="24" rx="4"/><text x="${at[0]}" y="${at[1]}">${name}</text>`);
  units.forEach((_, i) => shapes.push(`<g class="${i === k - 1 ? "newest" : ""}"><circle cx="${place[i][0]}" cy="${place[i][1]}" r="15"/><text x="${place[i][0]}" y="${place[i][1]}">${i + 1}</text><title>Unit ${i + 1}: ${role_of(run, i)}</title></g>`));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.maxWidth = `${width * 1.4}px`;
  svg.innerHTML = shapes.join("");
}
