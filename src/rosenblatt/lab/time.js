// Time goes on by updates, or by every row that is met, right or wrong.

const by_rows = () => form.elements.rows.checked;

function ticks(side, run) {
  if (!run?.ending) return 0;
  return by_rows() ? side.visits.data.row.length - 1 : run.last;
}

// The update that a tick has come to, what its columns hold, and the row met there, if any.
function moment_of(side, run) {
  const columns = side.trace.data, met = side.visits.data;
  const last = ticks(side, run), tick = Math.min(lab.moment, last);
  const k = by_rows() ? met.moment?.[tick] ?? 0 : tick;
  const at = (name, j = k) => (columns[name] ? columns[name][j] : NaN);
  const right = by_rows() && tick > 0 && met.moment[tick - 1] === k;
  const row = right ? met.row[tick] : at("row");
  const fresh = !by_rows() || !right; // whether this tick made the update
  return { k, at, row, right, fresh, met: met.met?.[tick], epoch: right ? met.epoch[tick] : at("epoch"), over: tick === last };
}

function count_ticks() {
  lab.last = Math.max(...sides.map((side, i) => ticks(side, lab.runs[i])));
  $("scrub").max = lab.last;
}

// The same update on the other scale.
function change_scale() {
  pause();
  const met = Array.from(sides[0].visits.data.moment ?? []);
  const moment = by_rows() ? Math.max(met.indexOf(lab.moment), 0) : met[Math.min(lab.moment, met.length - 1)] ?? 0;
  count_ticks();
  show(moment);
}

function pause() {
  clearInterval(lab.timer);
  lab.timer = null;
  $("play").textContent = "Play";
  $("play").setAttribute("aria-label", "Play");
}

function play() {
  if (lab.moment >= lab.last) show(0);
  const speed = Number($("speed").value);
  const every = Math.max(1000 / speed, 33), stride = Math.max(1, Math.round((speed * every) / 1000));
  $("play").textContent = "Pause";
  $("play").setAttribute("aria-label", "Pause");
  lab.timer = setInterval(() => {
    show(lab.moment + stride);
    if (lab.moment >= lab.last) pause();
  }, every);
}

const step = (by) => { pause(); show(lab.moment + by); };
const toggle = () => (lab.timer ? pause() : play());
