"""The picture of docs/networks.md: python examples/networks.py docs."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from rosenblatt import PerceptronNetwork

COLOURS = np.array(["#D55E00", "#0072B2"])
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
network = PerceptronNetwork("upstart", random_state=0).fit(X, y)
print(f"{network.n_units_} units, {network.stop_reason_}")
for record in network.history_:
    print(f"with {record.epoch}: {record.errors} of 4 rows wrong")

figure = Figure(figsize=(9, 4.2), layout="constrained")
plane, graph = figure.subplots(1, 2)

side = np.linspace(-0.5, 1.5, 400)
grid = np.column_stack([part.ravel() for part in np.meshgrid(side, side)])
answers = network.predict(grid).reshape(len(side), -1)
plane.contourf(side, side, answers, levels=[-0.5, 0.5, 1.5], colors=COLOURS, alpha=0.2)
for unit, name in zip(network.units_, ["unit 1", "unit 2"], strict=True):
    w, b = unit.weights, unit.bias
    plane.plot(side, -(w[0] * side + b) / w[1], color="0.2", linewidth=1.5)
    plane.annotate(name, (-0.3, -(w[0] * -0.3 + b) / w[1]), (6, 4), textcoords="offset points")
    middle = np.array([0.5, -(w[0] * 0.5 + b) / w[1]])
    plane.annotate("", middle + 0.25 * w / np.linalg.norm(w), middle, arrowprops={"width": 1})
plane.scatter(*X.T, c=COLOURS[y], s=90, zorder=3, edgecolors="white")
plane.set(xlim=(-0.5, 1.5), ylim=(-0.5, 1.5), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
plane.set_title("Each unit is a line; its arrow points to where it is on", fontsize=10)

places = {"x1": (0, 0), "x2": (1, 0), "unit 1": (0.25, 1), "unit 2": (1, 0.62)}
for unit, name in zip(network.units_, ["unit 1", "unit 2"], strict=True):
    for weight, seen in zip(unit.weights, ["x1", "x2"], strict=True):
        graph.annotate("", places[name], places[seen], arrowprops={"arrowstyle": "->"})
        at = 0.55 * np.array(places[name]) + 0.45 * np.array(places[seen])
        graph.text(*at, f"{weight:g}", ha="center", bbox={"color": "white", "pad": 1})
graph.annotate(
    "", places["unit 1"], places["unit 2"], arrowprops={"arrowstyle": "->", "color": "#CC79A7"}
)
graph.text(0.62, 0.86, "turns off", color="#CC79A7", ha="center")
for name, place in places.items():
    unit = name.startswith("unit")
    text = (
        f"{name}\nb = {network.units_[int(name[-1]) - 1].bias:g}"
        if unit
        else f"${name[0]}_{name[1]}$"
    )
    box = {"boxstyle": "round" if unit else "circle", "facecolor": "white", "edgecolor": "0.2"}
    graph.text(*place, text, ha="center", va="center", bbox=box)
graph.set(xlim=(-0.25, 1.3), ylim=(-0.2, 1.25))
graph.axis("off")
graph.set_title("The network that XOR grows", fontsize=10)
figure.savefig(folder / "networks.png", dpi=90)
