"""The scikit-learn estimators of the linear family."""
