"""The scikit-learn faces of the linear family."""
