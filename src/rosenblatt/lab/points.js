// Points: what is said of one, and what is done to some.

const row_link = (row, word = "row") => `<span class="row" tabindex="0" data-row="${row}">${word} ${row + 1}</span>`;

// A row that is spoken of lights up when its words are touched.
function light(event) {
  const row = event.target.closest?.("[data-row]")?.dataset.row;
  const there = row !== undefined && row < points.data.x.length;
  const at = there ? { x: [points.data.x[row]], y: [points.data.y[row]] } : NOTHING;
  if (there || lab.lit) for (const side of sides) set("lit", side, at);
  lab.lit = there;
}
for (const kind of ["pointerover", "focusin", "pointerdown"]) document.addEventListener(kind, light);
