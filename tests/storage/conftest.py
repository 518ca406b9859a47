"""Where the tests of this folder write."""

import pytest


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """One file that many examples overwrite."""
    return tmp_path_factory.mktemp("models") / "model.safetensors"
