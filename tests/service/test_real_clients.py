"""Client packages of other servers, where they are installed, work unchanged."""

import asyncio

import numpy as np
import pytest

from .conftest import Running, examples, trained

ROWS = examples(4, labelled=False)
KINDS = {"size": ("FP64", float), "colour": ("BYTES", object), "note": ("BYTES", object)}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    running = Running(trained(tmp_path_factory.mktemp("served") / "model.safetensors"))
    yield running
    running.stop()


@pytest.fixture
def wanted(service):
    return service.predict(ROWS)[1]


def make_inputs(kind, binary):
    """An input for each column, made by a client package."""
    inputs = []
    for name, (datatype, dtype) in KINDS.items():
        tensor = kind(name, [len(ROWS)], datatype)
        values = np.array([row[name] for row in ROWS], dtype)
        tensor.set_data_from_numpy(values, binary_data=binary)
        inputs.append(tensor)
    return inputs


@pytest.mark.parametrize("binary", [False, True])
def test_triton(service, wanted, binary):
    client = pytest.importorskip("tritonclient.http")
    asked = client.InferenceServerClient(service.address)
    assert asked.is_server_live()
    assert asked.is_server_ready()
    assert asked.is_model_ready("model")
    assert asked.get_model_metadata("model")["name"] == "model"
    answer = asked.infer("model", make_inputs(client.InferInput, binary))
    assert answer.as_numpy("labels").tolist() == wanted["labels"]
    assert answer.as_numpy("scores").tolist() == wanted["scores"]
    asked.close()


@pytest.mark.parametrize("binary", [False, True])
def test_kserve(service, wanted, binary):
    kserve = pytest.importorskip("kserve")

    async def ask():
        asked = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2"))
        address = f"http://{service.address}"
        assert await asked.is_server_ready(address)
        assert await asked.is_model_ready(address, "model")
        inputs = make_inputs(kserve.InferInput, binary)
        return await asked.infer(address, kserve.InferRequest("model", inputs), model_name="model")

    labels, scores = asyncio.run(ask()).outputs
    assert labels.as_numpy().tolist() == wanted["labels"]
    assert scores.as_numpy().tolist() == wanted["scores"]
