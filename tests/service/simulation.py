"""A crash at every boundary: each system call of log and snapshot is the last, fails, or tears.

``python -m tests.service.simulation`` records a history of a service once: starts, groups of
examples with and without keys, snapshots, forgetting, a rollback, a new model. Then

- after each call it makes the disks that a kill leaves (all that was written), that a loss of power
  leaves (only what was synced), and that a loss of power leaves by chance (a seeded choice of the
  writes that were not synced, some of them torn by sectors);
- it runs the history again with each call failing, and with each write torn by a full disk.

From each disk the service starts again. What was acknowledged must be there, once, at its number;
what was refused must not; the model must be what the log makes, to the bit; forgotten bytes must be
gone.
"""

import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from contextlib import closing
from pathlib import Path

SOURCE = Path(__file__).with_name("disk_calls.c")
SECTOR = 512
MARK = "secret-"


# The history


class History:
    """A service without a thread, and what it acknowledged, in a record of calls."""

    def __init__(self, folder, record):
        self.path, self.record = folder / "m", record

    def note(self, what, value):
        """Note an acknowledgement in the record."""
        data = json.dumps(value).encode()
        os.write(self.record, b"%s\t\t\t0\t%d\n%s" % (what.encode(), len(data), data))

    def start(self):
        from rosenblatt.service.learning import Keeping, Learning

        keeping = Keeping(seconds=1e9)
        self.learning = Learning(self.path, keeping, lambda sentence: None)

    def stop(self):
        self.learning.finish()

    def learn(self, *requests):
        """Learn requests that share a sync: lists of rows, with a key or None."""
        from rosenblatt.service.learning import Job
        from rosenblatt.service.log import hash_bytes
        from rosenblatt.service.requests import make_texts

        jobs = []
        for key, rows in requests:
            job = Job(make_texts(rows), None if key is None else hash_bytes(key.encode()))
            self.note("sent", [key, job.texts])

            def tell(future, key=key, texts=job.texts):
                if future.exception() is None:
                    self.note("learnt", [key, texts, future.result()])
                else:
                    self.note("refused", [key, texts])

            job.future.add_done_callback(tell)
            jobs.append(job)
        self.learning.learn_group(jobs)

    def save(self):
        self.learning.save(self.learning.served.model())

    def forget(self, numbers):
        from rosenblatt.service.replay import Replay

        learning = self.learning
        learning.recover()
        served = Replay(learning.log, learning.say, frozenset(numbers)).rebuild()
        self.note("forgetting", numbers)
        learning.forget(served, numbers)
        self.note("forgotten", numbers)

    def roll_back(self, number):
        from rosenblatt.service.replay import Replay

        learning = self.learning
        learning.recover()
        served = Replay(learning.log, learning.say).rebuild(number)
        learning.change(served, "rollback", number)

    def load(self, data):
        from rosenblatt.service.model import ServedModel
        from rosenblatt.storage.file import load_model

        served = ServedModel(load_model("new", data), "new")
        self.learning.change(served, "model", self.learning.log.last, data)

    def run(self):
        """All that a service does to its files."""
        rows = [{"x": k % 5, "y": k % 3, "kind": "ab"[k % 2], "more": f"{k}."} for k in range(40)]
        rows[2]["more"] = MARK + "a" * 40
        data = self.path.read_bytes()
        steps = (
            self.start,
            lambda: self.learn(("k1", rows[:2]), (None, rows[2:3]), ("k2", rows[3:5])),
            lambda: self.learn((None, rows[5:6])),
            self.save,
            lambda: self.learn(("k3", rows[6:9])),
            lambda: self.learn(("k1", rows[:2])),
            lambda: self.forget([3]),
            lambda: self.learn((None, rows[9:11])),
            lambda: self.roll_back(4),
            lambda: self.learn(("k4", rows[11:13])),
            lambda: self.learn((None, rows[13:15])),
            lambda: self.load(data),
            lambda: self.learn(("k5", rows[15:18]), (None, rows[18:19])),
            self.stop,
            self.start,
            lambda: self.learn((None, rows[19:20])),
            lambda: self.learn(("k3", rows[6:9])),
            self.stop,
        )
        for step in steps:
            try:
                step()
            except (OSError, ValueError) as error:
                self.note("error", str(error))
                if step == self.start:
                    step()  # as an operator would


# The disks


def read_record(data):
    """The calls and notes of a record."""
    found, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        what, path, other, place, size = data[at:end].decode().split("\t")
        at = end + 1 + int(size)
        found.append((what, path, other, int(place), data[end + 1 : at]))
    return found


NOTES = ("sent", "learnt", "refused", "forgetting", "forgotten", "error")


class Disk:
    """Files as they are, and as a loss of power would leave them."""

    def __init__(self, files):
        self.files = {path: [bytearray(data), bytes(data), []] for path, data in files.items()}
        self.names = dict(self.files)  # that are on disk
        self.pending = []  # changes of names that are not

    def apply(self, what, path, other, place, data):
        if what == "create":
            self.files[path] = [bytearray(), b"", []]
        elif what in ("write", "cut"):
            content, _, waiting = self.files[path]
            change(content, what, place, data)
            waiting.append((what, place, data))
        elif what == "sync" and path in self.files:
            file = self.files[path]
            file[1:] = [bytes(file[0]), []]
            self.names[path] = file  # as file systems with a journal do
        elif what == "sync":  # the folder
            self.names, self.pending = dict(self.files), []
        elif what in ("rename", "link"):
            self.files[other] = self.files[path]
        if what in ("rename", "unlink"):
            self.files.pop(path, None)
        if what in ("create", "rename", "link", "unlink"):
            self.pending.append(dict(self.files))

    def after_kill(self):
        return {path: bytes(file[0]) for path, file in self.files.items()}

    def after_power_loss(self, chance=None):
        names = self.names
        if chance is not None and self.pending:
            names = chance.choice([names, *self.pending])
        found = {}
        for path, (_, synced, waiting) in names.items():
            content = bytearray(synced)
            for what, place, data in waiting if chance is not None else ():
                fate = chance.randrange(3)
                if fate == 1 or (fate == 2 and what == "cut"):
                    change(content, what, place, data)
                elif fate == 2:
                    for at in range(0, len(data), SECTOR):
                        if chance.random() < 0.5:
                            change(content, what, place + at, data[at : at + SECTOR])
            found[path] = bytes(content)
        return found


def change(content, what, place, data):
    """Write bytes, or cut the file, or make it longer."""
    if len(content) < place:
        content.extend(bytes(place - len(content)))
    if what == "cut":
        del content[place:]
    else:
        content[place : place + len(data)] = data


# The checks


def check(files, notes, folder, was_killed=True):
    """Start a service on a disk, and compare it with what was acknowledged before."""
    from rosenblatt.service.learning import Learning

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, data in files.items():
        (folder / Path(path).name).write_bytes(data)
    learning = Learning(folder / "m", None, lambda sentence: None)
    with closing(learning.log):
        compare(learning, notes, was_killed)


def compare(learning, notes, was_killed):
    """Compare a service that has started with what was acknowledged before."""
    from rosenblatt.service.replay import Replay, find_difference

    log, folder = learning.log, learning.path.parent
    rows = {one.sequence: one for entries in log.entries(log.models()[0]) for one in entries}
    gone = {n for what, some in notes if what == "forgetting" for n in some}
    for what, value in notes:
        if what == "learnt":
            _, texts, last = value
            for number, text in zip(range(last - len(texts) + 1, last + 1), texts, strict=True):
                row = rows.get(number)
                kept = row is not None and (row.text == text or (row.text == "" and number in gone))
                assert kept, (number, text, row)
    allowed = count_requests(notes, was_killed)
    found = Counter(row.text for row in rows.values() if row.kind == "example")
    assert all(count <= allowed[text] for text, count in found.items()), found - allowed
    if [value for what, value in notes if what == "forgotten"]:
        left = [path for path in folder.iterdir() if MARK.encode() in path.read_bytes()]
        assert left == [], left
    assert learning.served.sequence == log.last
    whole = Replay(log, print).run(Replay(log).open_model(log.models()[0]))
    assert find_difference(learning.served.model(), whole.model()) is None


def count_requests(notes, was_killed):
    """How often each text may be in the log: once for each request that was not refused.

    A process that is killed before it could delete what it refused leaves it in the log.
    """
    allowed, keys = Counter(), set()
    answered = Counter()
    for what, value in notes:
        if what in ("learnt", "refused"):
            answered[what, json.dumps(value[:2])] += 1
    for what, value in notes:
        if what != "sent" or value[0] in keys:
            continue
        same = json.dumps(value)
        if not was_killed and answered["refused", same] and not answered["learnt", same]:
            continue
        keys |= {value[0]} - {None}
        allowed.update(value[1])
    return allowed


# Runs


def begin(folder):
    """A folder with a model."""
    from .conftest import trained

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rows = [{"x": 0, "y": 1, "kind": "a"}, {"x": 1, "y": 0, "kind": "b"}]
    trained(folder / "m", rows, text=(), bits=None, rule="arow", solution="last")
    return {str(path): path.read_bytes() for path in folder.iterdir()}


def record(folder, fail_at=0, tears=0):
    """Run the history in a child process; return its record of calls and notes."""
    calls = ctypes.CDLL(None)
    path = folder.with_name("record")
    child = os.fork()
    if not child:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        status = 1
        try:
            calls.calls_begin(str(folder).encode(), descriptor, fail_at, tears)
            History(folder, descriptor).run()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status == 0, (fail_at, tears, status)
    return read_record(path.read_bytes())


def split(found):
    """Notes, each as its kind and value."""
    return [(what, json.loads(data)) for what, *_, data in found if what in NOTES]


def run(work, seeds=2, each=1):
    """All schedules, or one of ``each``; return the number of boundaries and of schedules."""
    folder, there = work / "history", work / "restarted"
    files = begin(folder)
    found = record(folder)
    split_at = [k for k, (what, *_) in enumerate(found) if what not in NOTES]
    disk, notes, schedules = Disk(files), [], Counter()
    for number, (what, *details) in enumerate(found):
        if what in NOTES:
            notes.append((what, json.loads(details[-1])))
            continue
        disk.apply(what, *details)
        if split_at.index(number) % each:
            continue
        states = [("kill", disk.after_kill()), ("power", disk.after_power_loss())]
        for seed in range(seeds):
            chance = random.Random(f"{number} {seed}")
            states.append(("chance", disk.after_power_loss(chance)))
        for kind, state in states:
            try:
                check(state, notes, there)
            except Exception as error:
                raise AssertionError(f"{kind} after call {number} ({what} {details[0]})") from error
            schedules[kind] += 1
    for tears in (0, 1):
        kind = ("fail", "tear")[tears]
        for place in range(1, len(split_at) + 1, each):
            if tears and found[split_at[place - 1]][0] != "write":
                continue
            begin(folder)
            notes = split(record(folder, place, tears))
            state = {str(path): path.read_bytes() for path in folder.iterdir()}
            try:
                check(state, notes, there, was_killed=False)
            except Exception as error:
                raise AssertionError(f"{kind} of call {place}") from error
            schedules[kind] += 1
    return len(split_at), schedules


def main(seeds=2, each=1):
    """Run all schedules in a process whose calls are recorded."""
    if "LD_PRELOAD" in os.environ:
        with tempfile.TemporaryDirectory() as work:
            boundaries, schedules = run(Path(work), seeds, each)
        print(f"{boundaries} boundaries, {schedules.total():,} schedules: {dict(schedules)}")
        return
    with tempfile.TemporaryDirectory() as work:
        library = Path(work) / "calls.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
        command = [sys.executable, "-m", "tests.service.simulation", str(seeds), str(each)]
        ran = subprocess.run(command, env=os.environ | {"LD_PRELOAD": str(library)})
    sys.exit(ran.returncode)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
