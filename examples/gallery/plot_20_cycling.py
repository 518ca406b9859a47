"""
What happens where no plane separates
=====================================

On rows that no plane separates, the perceptron never stops. Its weights do not grow without end
either: they stay in a ball around zero, however long the run (the cycling theorem: Minsky & Papert
1969; Block & Levin 1970). The bound ‖w‖ ≤ R√M of the convergence proof grows with the mistakes M,
but the weights do not follow it. On whole numbers the ball holds finitely many weights. So in a
fixed order they come back, and from there the run repeats itself.
"""

import numpy as np
from matplotlib import pyplot as plt

from rosenblatt import radius, steps

corners, odd = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [-1, 1, 1, -1]

seen, path = {}, [np.zeros(3)]
for number, step in enumerate(steps(corners, odd, order="fixed", max_iter=20), start=1):
    path.append(np.append(step.new_weights, step.new_bias))
    place = (*path[-1], step.row)  # the next row follows from the last one
    if place in seen:
        break
    seen[place] = number
print(f"XOR: after update {number} the weights are those after update {seen[place]}")

# %%
# A second set has real numbers and two overlapping clouds. Nothing repeats there, and the length of
# the weights still stays below a constant.

random = np.random.default_rng(0)
X = np.vstack([random.normal(-0.7, 1, (40, 2)), random.normal(0.7, 1, (40, 2))])
y = np.repeat([-1, 1], 40)
lengths = [
    float(np.linalg.norm(np.append(step.new_weights, step.new_bias)))
    for step in steps(X, y, random_state=0, max_iter=400)
]
M, R = np.arange(1, len(lengths) + 1), np.hypot(radius(X), 1)
longest, bound = max(lengths), R * np.sqrt(M[-1])
print(f"clouds: {len(lengths):,} updates, ‖w‖ at most {longest:.1f}, R√M = {bound:.0f}")

# %%
# Left: the weights of XOR go round in a cycle of four updates; one of them moves only the bias.
# Right: the length of the weights on the clouds, and the bound of the proof.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
turns = np.array(path)
left.plot(turns[:, 0], turns[:, 1], color="0.6", zorder=0)
for k in range(len(turns) - 1):
    left.annotate(
        "", turns[k + 1, :2], turns[k, :2], arrowprops={"arrowstyle": "->", "color": "C0"}
    )
left.plot(0, 0, "o", color="C1", label="start")
left.set(xlabel="w₁", ylabel="w₂", title="XOR: the weights come back", aspect="equal")
left.legend(frameon=False)
right.loglog(M, R * np.sqrt(M), "--", color="0.4", label="R√M")
right.loglog(M, lengths, ".", markersize=2, label="‖w‖")
right.axhline(max(lengths), color="C1", label=f"at most {max(lengths):.1f}")
right.set(xlabel="updates M", title="overlapping clouds: the weights stay bounded")
right.legend(frameon=False)
