"""Which files hold sentences, by their names; it imports nothing, as every command asks."""

FORMATS = ("conllu", "conll", "tagged", "text")
ENDINGS = {
    "conllu": "conllu",
    "conll": "conll",
    "iob": "conll",
    "iob2": "conll",
    "bio": "conll",
    "tagged": "tagged",
}
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".zip", ".lz4")


def detect_format(path: str, given: str | None) -> str | None:
    """The format of a file of sentences, by its name unless it is given; None if it is none."""
    if given is not None:
        return given if given in FORMATS else None
    name = path.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return ENDINGS.get(name.rpartition(".")[2]) if "." in name else None
