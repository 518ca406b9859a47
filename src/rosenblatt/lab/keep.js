// What is kept of a run: files, figures, a page of its own, lines, a link.

const TYPES = { gif: "image/gif", html: "text/html" };

function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function save_files(files) {
  for (const [name, file] of Object.entries(files ?? {})) save(name, TYPES[name.split(".").at(-1)], Uint8Array.from(atob(file), (c) => c.charCodeAt(0)));
}

async function save_figure(kind) {
  for (const [i, side] of sides.entries()) {
    if (!lab.runs[i]) continue;
    const drawn = Bokeh.index.find_one(model(`pane_${side.name}`)).export(kind);
    const blob = kind === "png" ? await with_legend(drawn.canvas, title_of(lab.runs[i])) : await drawn.to_blob();
    save(`rosenblatt-${side.name}.${kind}`, "", blob);
  }
}

// The plane as large as it is on the screen, under its title and what its marks mean.
function with_legend(plane, title) {
  const ratio = window.devicePixelRatio || 1, { ink, paper, hot, wrong, w, positive, negative } = colours();
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d"), line = 24 * ratio;
  canvas.width = plane.width;
  canvas.height = plane.height + 2.4 * line;
  pen.fillStyle = paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(plane, 0, 2.4 * line);
  pen.textBaseline = "middle";
  const text = (words, x, y, weight) => {
    pen.font = `${weight} ${14 * ratio}px system-ui, sans-serif`;
    pen.fillStyle = ink;
    pen.fillText(words, x, y);
    return pen.measureText(words).width;
  };
  text(title, 10 * ratio, 0.7 * line, 600);
  let x = 10 * ratio;
  const size = 6 * ratio, marks = {
    square: [positive.line, ink], circle: [negative.line, ink], ring: [null, hot], wrong: [null, wrong], line: [null, ink], arrow: [null, w],
  };
  for (const [mark, words] of [["square", "+1"], ["circle", "−1"], ["ring", "in use"], ["wrong", "misclassified"], ["line", "boundary"], ["arrow", "w, its length scaled"]]) {
    const [fill, stroke] = marks[mark], y = 1.65 * line;
    pen.beginPath();
    if (mark === "square") pen.rect(x, y - size, 2 * size, 2 * size);
    else if (mark === "line" || mark === "arrow") { pen.moveTo(x, y); pen.lineTo(x + 3 * size, y); }
    else pen.arc(x + size, y, size, 0, 7);
    pen.lineWidth = (mark === "square" || mark === "circle" ? 1 : 2.4) * ratio;
    pen.strokeStyle = stroke;
    pen.fillStyle = fill ?? "transparent";
    pen.fill();
    pen.stroke();
    x += (mark === "line" || mark === "arrow" ? 3 : 2) * size + 6 * ratio;
    x += text(words, x, y, 400) + 16 * ratio;
  }
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function save_page() {
  say("The page is being made.");
  ask({ do: "page", moment: lab.moment });
}

function copy(text, button) {
  return navigator.clipboard?.writeText(text).then(() => {
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1200);
  }, () => say("The browser does not allow copying; copy it by hand.", true));
}

async function copy_link() {
  await copy(location.href, $("copy-link"));
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  if (here) say("This link works on this computer, while the lab runs. For others, save the run as a page.");
}

function show_python() {
  const shown = lab.runs.filter((run) => run?.python);
  $("python").value = shown.map((run) => run.python).join("\n\n# The other run\n");
  $("lines").hidden = !shown.length;
}

// A page that was saved shows what the lab last told, and asks nobody.

function open_saved() {
  document.body.classList.add("saved");
  receive(facts.saved);
  const moment = Number(new URLSearchParams(location.hash.slice(1)).get("t") ?? NaN);
  if (isFinite(moment)) show(moment);
}
