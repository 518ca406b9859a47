"""
What do the weights and the bias mean?
======================================

A linear classifier uses only the projection of a row on the weight vector w. The bias is the
threshold on that line. Doubling w and b changes no prediction.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay, ProjectionDisplay

tumours = load_breast_cancer()
X, y = scale(tumours.data), tumours.target_names[tumours.target]
model = Perceptron(solution="average", max_iter=10, random_state=0).fit(X, y)
print(f"{model.score(X, y):.1%} of {len(X)} rows with {X.shape[1]} columns are right")

# %%
# Left: all thirty columns projected on one line. Right: the plane spanned by w and the direction
# orthogonal to it in which the rows vary most. The boundary is a line in this plane, and distances
# to it are exact.

figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
ProjectionDisplay.from_estimator(model, X, y).plot(axes[0])
_ = BoundaryDisplay.from_estimator(model, X, y).plot(axes[1])

# %%
# The columns with the largest weights; all columns are standardised:

largest = np.argsort(-np.abs(model.coef_[0]))[:5]
for column in largest:
    print(f"{tumours.feature_names[column]:22} {model.coef_[0, column]:+.2f}")
