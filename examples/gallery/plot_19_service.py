"""
A model that learns over HTTP
=============================

``rosenblatt serve`` predicts over HTTP and learns from labelled examples. Every acknowledged
example is on disk. This example starts a service with a model of twenty rows, sends it a stream of
rows, and asks for its error.
"""

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import PercentFormatter

import rosenblatt

COLUMNS = ["wind", "pressure", "humidity", "heat", "cloud", "light", "dust", "waves"]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
cause = rng.normal(size=len(COLUMNS))


def observe(count):
    """Rows of weather, with and without their labels."""
    weather = rng.normal(size=(count, len(COLUMNS)))
    labels = np.where(weather @ cause > 0, "storm", "calm").tolist()
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in weather.tolist()]
    return [{**row, "label": label} for row, label in zip(rows, labels, strict=True)], rows


model = rosenblatt.train(observe(20)[0], rule="arow", solution="last")
rosenblatt.save(model, folder / "model.safetensors")
options = ["--learn", "--port", str(port)]
command = [sys.executable, "-m", "rosenblatt", "serve", str(folder / "model.safetensors"), *options]
service = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ask(path, rows=None):
    """Send rows as JSON, or nothing, and return the response."""
    body = None if rows is None else json.dumps(rows).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


for _ in range(300):  # until it is ready
    try:
        ask("/readyz")
        break
    except OSError:
        time.sleep(0.1)

# %%
# Sixty hours of weather from ten stations. The service predicts each request before it learns it,
# and ``/model`` reports the progressive error.

errors = []
for _ in range(60):
    learnt, rows = observe(10)
    predicted = ask("/predict", rows)["labels"]
    errors.append(
        np.mean([row["label"] != label for row, label in zip(learnt, predicted, strict=True)])
    )
    ask("/learn", learnt)
answer = ask("/predict", rows[0])
print(f"predicted {answer['labels'][0]}, was {learnt[0]['label']}; score {answer['scores'][0]:.2f}")
model = ask("/model")
print(
    f"{model['sequence']} examples, {model['mistakes']} updates, error {model['error']['all']:.1%}"
)
service.terminate()
print("exit status", service.wait(60))

# %%
# The error on each request before it was learnt, and the mean over ten requests.

figure, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
axis.plot(errors, ".", color="0.6", label="a request of 10 rows")
axis.plot(np.arange(9, 60), np.convolve(errors, np.ones(10) / 10, "valid"), label="mean of ten")
axis.yaxis.set_major_formatter(PercentFormatter(1))
axis.set(xlabel="request", ylabel="wrong before it was learnt")
axis.legend(frameon=False)
