"""QR codes of the page, read by a naive decoder."""

import pytest

from .test_engine import pytestmark, run_cases  # noqa: F401

LENGTHS = [1, 17, 18, 60, 100, 134, 135, 200, 271, 272, 400, 700, 1000, 1500, 2300, 2953]


def multiply(a, b):
    """The product in the field of 256 elements with x⁸ = x⁴ + x³ + x² + 1."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a = (a << 1) ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return product


def evaluate(block, root):
    """A block's polynomial at a root; 0 if the block is sound."""
    total = 0
    for byte in block:
        total = multiply(total, root) ^ byte
    return total


def find_functions(size):
    """The modules that hold no data."""
    version = (size - 17) // 4
    taken = {(x, 6) for x in range(size)} | {(6, y) for y in range(size)}
    for left, top in ((0, 0), (size - 8, 0), (0, size - 8)):
        wide, high = (9 if left == 0 else 8), (9 if top == 0 else 8)
        taken |= {(left + dx, top + dy) for dx in range(wide) for dy in range(high)}
    if version >= 2:
        count = version // 7 + 2
        step = 26 if version == 32 else -(-(4 * version + 4) // (2 * count - 2)) * 2
        places = [6, *(size - 7 - step * k for k in range(count - 1))]
        for x in places:
            for y in places:
                if (x, y) in ((6, 6), (6, size - 7), (size - 7, 6)):
                    continue
                taken |= {(x + dx, y + dy) for dx in range(-2, 3) for dy in range(-2, 3)}
    if version >= 7:
        for i in range(6):
            for j in range(3):
                taken |= {(i, size - 11 + j), (size - 11 + j, i)}
    return taken


def decode(rows, blocks, checks):
    """The text of a code of level L and mask 0, whose blocks are sound."""
    size = len(rows)
    version, taken, bits = (size - 17) // 4, find_functions(size), []
    x, upward = size - 1, True
    while x > 0:
        if x == 6:
            x -= 1
        lines = range(size - 1, -1, -1) if upward else range(size)
        places = [(column, y) for y in lines for column in (x, x - 1)]
        bits += [rows[y][c] ^ ((c + y) % 2 == 0) for c, y in places if (c, y) not in taken]
        x, upward = x - 2, not upward
    total = len(bits) // 8
    stream = [int("".join(str(int(b)) for b in bits[8 * k : 8 * k + 8]), 2) for k in range(total)]
    room = total - blocks * checks
    lengths = [room // blocks + (k >= blocks - room % blocks) for k in range(blocks)]
    data, at = [[] for _ in lengths], 0
    for k in range(max(lengths)):
        for block, length in zip(data, lengths, strict=True):
            if k < length:
                block.append(stream[at])
                at += 1
    for k in range(checks):
        for number, block in enumerate(data):
            block.append(stream[at + k * blocks + number])
    for block in data:
        root = 1
        for _ in range(checks):
            assert evaluate(block, root) == 0
            root = multiply(root, 2)
    whole = [byte for block, length in zip(data, lengths, strict=True) for byte in block[:length]]
    text = "".join(f"{byte:08b}" for byte in whole)
    assert text[:4] == "0100"
    head = 12 if version < 10 else 20
    count = int(text[4:head], 2)
    return bytes(int(text[head + 8 * k : head + 8 * k + 8], 2) for k in range(count)).decode()


def test_codes_are_read_again(tmp_path):
    texts = [("https://example.org/#data=xor&t=" + "ä1,+;" * 600)[:length] for length in LENGTHS]
    texts = [text if len(text.encode()) <= 2953 else text[:1800] for text in texts]
    cases = [{"kind": "qr", "text": text} for text in texts]
    versions = set()
    for text, found in zip(texts, run_cases(cases, tmp_path), strict=True):
        assert decode(found["rows"], found["blocks"], found["checks"]) == text
        versions.add(len(found["rows"]))
    assert len(versions) > 10


def test_a_text_that_is_too_long_has_no_code(tmp_path):
    assert run_cases([{"kind": "qr", "text": "x" * 2954}], tmp_path) == [None]


def test_the_format_says_level_and_mask(tmp_path):
    (found,) = run_cases([{"kind": "qr", "text": "data=xor"}], tmp_path)
    rows, size = found["rows"], len(found["rows"])
    down = [rows[y][8] for y in (0, 1, 2, 3, 4, 5, 7, 8)]
    left = [rows[8][x] for x in (7, 5, 4, 3, 2, 1, 0)]
    word = int("".join(str(int(bit)) for bit in [*down, *left][::-1]), 2) ^ 0b101010000010010
    assert word >> 10 == 0b01000  # level L, mask 0
    remainder = word
    for shift in range(4, -1, -1):
        remainder ^= (0b10100110111 << shift) * (remainder >> (10 + shift) & 1)
    assert remainder == 0
    again = [rows[8][size - 1 - k] for k in range(8)] + [rows[size - 7 + k][8] for k in range(7)]
    assert again == [*down, *left]
    assert rows[size - 8][8] is True


@pytest.mark.parametrize("corner", [(0, 0), (-7, 0), (0, -7)])
def test_finders_are_in_three_corners(corner, tmp_path):
    (found,) = run_cases([{"kind": "qr", "text": "data=xor"}], tmp_path)
    rows, (x, y) = found["rows"], corner
    size = len(rows)
    seven = [[rows[(y + i) % size][(x + j) % size] for j in range(7)] for i in range(7)]
    far = [[max(abs(i - 3), abs(j - 3)) for j in range(7)] for i in range(7)]
    assert seven == [[each != 2 for each in line] for line in far]
