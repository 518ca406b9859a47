"""Files to read."""

import pytest
from pyarrow import feather


@pytest.fixture
def write(tmp_path):
    """Write bytes, a string or a data frame to a file."""

    def to_file(name, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".parquet"):
            data.to_parquet(path)
        elif name.endswith(".arrow"):
            feather.write_feather(data, path, compression="uncompressed")
        else:
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return to_file
