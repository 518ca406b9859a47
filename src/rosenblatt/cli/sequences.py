"""Files of sentences in the shell: train, predict, score and inspect of taggers."""

import json
import sys
import time
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..parameters import SEQUENCE
from .format import count, summarize_run
from .options import LearningOptions, OutputOptions, ReadingOptions
from .panels import option

if TYPE_CHECKING:
    from ..jobs.evaluation import SequenceEvaluation
    from ..jobs.job import FileJob
    from ..learners.sequence.learner import SequenceLearner
    from ..storage.model import Model
    from .report import Quiet

tagging_option = partial(option, panel="Sequence tagging")
OURS = {"solution", "order", "epochs", "early_stopping", "seed", "rule", "own", "initial"}
"""The options of learning that taggers have."""
OUR_RULE_OPTIONS = {"margin", "C"}
"""And those of rules."""


@dataclass
class SequenceOptions:
    """How the tags of a sentence depend on each other and on its tokens."""

    markov: int | None = tagging_option(
        help=SEQUENCE["markov"].help + ".", metavar="0|1|2", shown="1"
    )
    search: str | None = tagging_option(
        help="Search for the best tags of a sentence: viterbi, greedy.",
        type=click.Choice(SEQUENCE["search"].choices),
        shown="viterbi",
    )
    templates: Path | None = tagging_option(
        help="File of feature templates, one per line, or of CRF++.", shown="built-in templates"
    )


def is_of_sentences(data: str, kind: str | None) -> bool:
    """Whether a file holds sentences, by its format or its name."""
    if kind is None and "." not in data:
        return False
    from ..learners.sequence.file_formats import detect_format

    return detect_format(data, kind) is not None


def refuse_options(
    result: OutputOptions, learning: LearningOptions, reading: ReadingOptions
) -> None:
    """Refuse options that would do nothing for a tagger."""
    files = {"output", "test", "verbose", "quiet", "json", "checkpoint", "resume"}
    groups: list[tuple[Any, set[str]]] = [
        (result, files),
        (learning, OURS),
        (reading, {"label", "format", "encoding"}),
    ]
    refused = [name for name in learning.own if name not in OUR_RULE_OPTIONS]
    for group, used in groups:
        refused += [
            field.name
            for field in fields(group)
            if field.name not in used and getattr(group, field.name) != field.default
        ]
    for name in refused:
        raise ValueError(f"--{name.replace('_', '-')} is not for files of sentences; leave it out.")


def train_sequences(
    data: str,
    result: OutputOptions,
    learning: LearningOptions,
    reading: ReadingOptions,
    sequence: SequenceOptions,
) -> None:
    """Train a tagger on a file of sentences, save it, and print the result."""
    from ..jobs.data import SentenceFile
    from ..jobs.evaluate import evaluate
    from ..jobs.files import train
    from ..learners.kinds import make_learner
    from ..storage.file import save_model

    refuse_options(result, learning, reading)
    job = make_sentence_job(result, learning, sequence)
    started = time.perf_counter()
    try:
        file = SentenceFile(data, reading.format, reading.label, reading.encoding)
        model = train(file, job)
    finally:
        job.reporter.close()
    seconds = time.perf_counter() - started
    if result.output is not None:
        save_model(result.output, model)
    tested = None
    if result.test is not None:
        tested = evaluate(make_learner(model, data), SentenceFile(result.test))
    tell = tell_json if result.json else tell_words
    tell(data, model, seconds, tested, result.output)


def make_sentence_job(
    result: OutputOptions, learning: LearningOptions, sequence: SequenceOptions
) -> "FileJob":
    """How to learn, with checkpoints, a model to begin with, or one to resume."""
    from ..jobs.job import Checkpointer, FileJob
    from ..training.plan import Request
    from .train import begun_model

    request = Request(parameters=collect_parameters(learning, sequence))
    job = FileJob(request, make_listener(result))
    if result.checkpoint is not None and result.output is not None:
        job = replace(job, checkpointer=Checkpointer(result.output, result.checkpoint))
    if result.resume:
        job = replace(job, begun=begun_model(result.output))
    if learning.initial is not None:
        initial = load_tagger(learning.initial)
        if initial is None:
            raise ValueError(f"{learning.initial} is not a tagger; begin with one, or without it.")
        job = replace(job, initial=initial.model)
    return job


def tell_words(
    data: str,
    model: "Model",
    seconds: float,
    tested: "SequenceEvaluation | None",
    output: Path | None,
) -> None:
    """Print the result of a training."""
    facts, scheme = model.facts, model.features["scheme"]
    tags = count(len(model.classes), "tag")
    chunks = "" if scheme is None else f" (chunks in {scheme[0]})"
    size = f"{count(facts['sentences'], 'sentence')}, {count(facts['tokens'], 'token')}"
    if tested is not None:
        print(f"Test {summary(tested)}")
    last = model.history[-1].mistakes if model.history else None
    updates, epochs = model.states[0].mistakes, len(model.history)
    print(summarize_run(facts["stop_reason"], updates, last, epochs, seconds, "mistake"))
    print(f"{data}: {size}, {tags}{chunks}, {len(model.states[0].emissions):,} features")
    if output is not None:
        print(f"Wrote the model to {output}.")


def collect_parameters(learning: LearningOptions, sequence: SequenceOptions) -> dict[str, Any]:
    """The parameters of the tagger that were given."""
    given: dict[str, Any] = {
        "markov": sequence.markov,
        "search": sequence.search,
        "features": None if sequence.templates is None else read_templates(sequence.templates),
        "solution": learning.solution,
        "order": learning.order,
        "max_iter": learning.epochs,
        "rule": learning.rule,
        "margin": learning.own.get("margin"),
        "C": learning.own.get("C"),
        "early_stopping": learning.early_stopping or None,
        "random_state": learning.seed,
    }
    return {name: value for name, value in given.items() if value is not None}


def read_templates(path: Path) -> Any:
    """A template file: CRF++'s as it is, else a template a line."""
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    return str(path) if any("%x[" in line for line in lines) else lines


def make_listener(result: OutputOptions) -> "Quiet":
    """Who hears of each epoch."""
    from . import report as progress

    if result.quiet:
        return progress.Quiet()
    return progress.AsJson() if result.json else progress.Printed(result.verbose)


def tell_json(
    data: str,
    model: "Model",
    seconds: float,
    tested: "SequenceEvaluation | None",
    output: Path | None,
) -> None:
    """Print the result of a training as an object."""
    from .report import print_event

    facts, scheme = model.facts, model.features["scheme"]
    print_event(
        "done",
        data=data,
        model=None if output is None else str(output),
        sentences=facts["sentences"],
        tokens=facts["tokens"],
        features=len(model.states[0].emissions),
        classes=model.classes.tolist(),
        scheme=scheme and scheme[0],
        stop_reason=facts["stop_reason"],
        epochs=len(model.history),
        mistakes=model.states[0].mistakes,
        seconds=round(seconds, 6),
        test=None if tested is None else tested.as_dict(),
    )


def summary(found: "SequenceEvaluation") -> str:
    """How well a file was tagged, in a line."""
    wrong = found.tokens - found.right
    text = f"accuracy {found.accuracy:.2%}: {wrong:,} of {count(found.tokens, 'token')} wrong"
    if found.unknown:
        share = found.unknown_right / found.unknown
        text += f"; of {count(found.unknown, 'unknown word')} {share:.2%} right"
    if found.chunks is not None:
        text += f"; chunk F1 {100 * found.chunks[''].f1:.2f}"
    return text + "."


class TaggerFile(NamedTuple):
    """A model file with a tagger: all that it says, and the learner."""

    model: "Model"
    learner: "SequenceLearner"


def load_tagger(path: Path) -> TaggerFile | None:
    """The tagger of a model file; None if it is another model."""
    from ..learners import load_model
    from ..storage.file import read_estimator_name

    if read_estimator_name(path) != "SequencePerceptron":
        return None
    from ..learners.sequence.learner import SequenceLearner
    from ..storage.registry import restore

    model = load_model(path)
    return TaggerFile(model, restore(SequenceLearner.from_model, model, path))


def predict_sequences(tagger: TaggerFile, data: str, output: Path | None, kind: str | None) -> None:
    """Write a file back with its tags filled in."""
    from ..jobs.data import SentenceFile
    from ..jobs.sentences import fill_in_tags

    pieces = fill_in_tags(tagger.learner, SentenceFile(data, kind))
    if output is None:
        sys.stdout.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    from ..disk import replace_file

    with replace_file(output) as temporary, open(temporary, "wb") as file:
        file.writelines(pieces)


def score_sequences(tagger: TaggerFile, data: str, kind: str | None, as_json: bool) -> None:
    """Print how well a file is tagged."""
    from ..jobs.data import SentenceFile
    from ..jobs.evaluate import evaluate

    found = evaluate(tagger.learner, SentenceFile(data, kind))
    if as_json:
        print(json.dumps({"data": data, **found.as_dict()}))
        return
    print(f"{data}: {summary(found)}")
    wide = max(len(str(one.label)) for one in found.by_tag)
    print(f"{'tag':<{max(wide, 3)}}  precision  recall      F1      tokens")
    for one in found.by_tag:
        numbers = f"{one.precision:9.2%}{one.recall:8.2%}{one.f1:8.4f}{one.rows:12,d}"
        print(f"{one.label!s:<{max(wide, 3)}}  {numbers}")
    if found.chunks is not None:
        wide = max(len(kind) for kind in [*found.chunks, "chunk"])
        print(f"{'chunk':<{wide}}  precision  recall      F1      chunks")
        for kind_of_chunk, score in found.chunks.items():
            numbers = f"{score.precision:9.2%}{score.recall:8.2%}{score.f1:8.4f}{score.wanted:12,d}"
            print(f"{kind_of_chunk or 'all':<{wide}}  {numbers}")


def inspect_sequences(tagger: TaggerFile, top: int) -> None:
    """Print what a tagger is, and for each tag the features with the largest weights."""
    from ..learners.sequence.explaining import best_predecessors

    (model, learner), given = tagger, tagger.model.parameters
    search = "greedy" if learner.greedy else "Viterbi"
    print(
        f"{model.estimator} for {count(len(learner.classes), 'tag')}, {search}, order of tags "
        f"{given['markov']}; solution {given['solution']}"
    )
    templates = learner.templates
    print(
        f"Tokens have {', '.join(learner.columns)}; {learner.n_features:,} features of "
        f"{count(len(templates), 'template')}: {' '.join(templates)}"
    )
    if learner.tags.scheme is not None:
        print(f"Chunks in {learner.tags.scheme.name}; inside, IOBES.")
    updates, epochs = count(learner.state.mistakes, "update"), count(len(model.history), "epoch")
    print(f"{updates} in {epochs}; stopped: {model.facts.get('stop_reason', 'max_iter')}")
    if learner.refusal("learn"):
        print(learner.refusal("learn"))
    names = [*learner.tags.names, "the start"]
    for tag, name in enumerate(learner.tags.names):
        loud = learner.loudest_features(tag, top)
        print(f"{name}: " + ", ".join(f"{feature} {weight:+.4g}" for feature, weight in loud))
        if given["markov"]:
            weights, settings = learner.coefficients(), learner.settings
            after = best_predecessors(weights, settings, tag, min(top, 5))
            print("  after " + ", ".join(f"{names[p]} {weight:+.4g}" for p, weight in after))
