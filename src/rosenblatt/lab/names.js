// What columns and classes are called, and which columns of a file are drawn.

const NAMELESS = ["+1", "−1"];

function show_names(told) {
  lab.columns = told.columns;
  lab.classes = told.classes;
  lab.many = told.runs[0].many || points.data.label.includes("3");
  for (const span of form.querySelectorAll(".many")) span.hidden = !lab.many;
  $("try").hidden = lab.many; // which starts at zero
  if (!lab.many && lab.brush === "3") choose_brush("+1");
  for (const side of sides) {
    const plot = model(`pane_${side.name}`);
    [plot.below[0], plot.left[0]].forEach((axis, i) => put(axis, { axis_label: told.columns[i] ?? null }));
  }
  document.querySelectorAll("#brush .name").forEach((word, i) => {
    word.textContent = told.classes[i] ?? (lab.many ? String(i + 1) : NAMELESS[i]);
    word.parentElement.title = told.classes.length && !lab.many ? `${told.classes[i]}, ${NAMELESS[i]}` : "";
    word.parentElement.hidden = i === 2 && !lab.many;
  });
  if (told.choice || !told.edited) offer_columns(told.choice);
}

function offer_columns(choice) {
  $("columns").hidden = !choice || choice.columns.length < 4;
  if (!choice) return;
  const offered = { drawn_x: choice.numbers, drawn_y: choice.numbers, label: choice.columns };
  const chosen = { drawn_x: choice.drawn[0], drawn_y: choice.drawn[1], label: choice.label };
  for (const [id, names] of Object.entries(offered)) {
    const called = (name) => (/^\d+$/.test(name) ? `column ${Number(name) + 1}` : name);
    const option = (name) => new Option(called(name), name, name === chosen[id], name === chosen[id]);
    $(id).replaceChildren(...names.map(option));
  }
}

function choose_columns() {
  if (lab.file) ask({ do: "file", ...lab.file, drawn: [$("drawn_x").value, $("drawn_y").value], label: $("label").value });
}

function load(file) {
  if (!file) return;
  if (file.size > facts.most_bytes) {
    const sizes = `${(file.size / 1e6).toFixed(1)} MB; the lab takes files up to ${facts.most_bytes / 1e6} MB`;
    say(`${file.name} has ${sizes}. Take some of the rows, or use rosenblatt train for all.`, true);
    return;
  }
  const reader = new FileReader();
  reader.onload = () => {
    lab.file = { name: file.name, text: reader.result.split(",")[1] ?? "" };
    ask({ do: "file", ...lab.file });
  };
  reader.readAsDataURL(file);
}
