"""The lab: a page on which points are placed, and the perceptron is watched as it learns."""
