"""Files of sentences in the shell: train, predict, score and inspect of taggers."""

import json
import sys
import time
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .format import count, why
from .options import LearningOptions, ReadingOptions, ResultOptions

if TYPE_CHECKING:
    from ..estimators.sequence import SequencePerceptron
    from ..jobs.evaluate_tags import SequenceEvaluation
    from ..training.report import Quiet

SEQUENCES: dict[str, Any] = {"rich_help_panel": "Sequences", "show_default": False}
OURS = {"solution", "order", "epochs", "early_stopping", "seed", "rule", "margin", "C"}
"""The options of learning that taggers have."""


class Search(StrEnum):
    """How tags are found."""

    VITERBI = "viterbi"
    GREEDY = "greedy"


@dataclass
class SequenceOptions:
    """How the tags of a sentence depend on each other and on its tokens."""

    markov: Annotated[
        int | None,
        typer.Option(help="Tags before one that it depends on (1).", metavar="0|1|2", **SEQUENCES),
    ] = None
    search: Annotated[
        Search | None, typer.Option(help="viterbi or greedy.", metavar="HOW", **SEQUENCES)
    ] = None
    templates: Annotated[
        Path | None,
        typer.Option(help="A file of CRF++'s or of templates.", metavar="FILE", **SEQUENCES),
    ] = None


def is_of_sentences(data: str, kind: str | None) -> bool:
    """Whether a file holds sentences, by its format or its name."""
    if kind is None and "." not in data:
        return False
    from ..learners.sequence.file_formats import format_of

    return format_of(data, kind) is not None


def refuse_options(
    result: ResultOptions, learning: LearningOptions, reading: ReadingOptions
) -> None:
    """Refuse options that would do nothing for a tagger."""
    groups: list[tuple[Any, set[str]]] = [
        (result, {"output", "test", "verbose", "quiet", "json"}),
        (learning, OURS),
        (reading, {"label", "format", "encoding"}),
    ]
    for group, used in groups:
        for field in fields(group):
            if field.name not in used and getattr(group, field.name) != field.default:
                option = "--" + field.name.replace("_", "-")
                raise ValueError(f"{option} is not for files of sentences; leave it out.")


def train_sequences(
    data: str,
    result: ResultOptions,
    learning: LearningOptions,
    reading: ReadingOptions,
    sequence: SequenceOptions,
) -> None:
    """Train a tagger on a file of sentences, keep it, and say what came of it."""
    from ..jobs.sentences import evaluate_file, train_tagger
    from ..learners.sequence.file_formats import format_of

    refuse_options(result, learning, reading)
    kind = format_of(data, reading.format)
    assert kind is not None
    parameters = parameters_of(learning, sequence)
    listener = listener_of(result)
    started = time.perf_counter()
    try:
        given = reading.label, listener.epoch, reading.encoding
        made = train_tagger(data, kind, *given, **parameters)
    finally:
        listener.close()
    tagger, sentences, tokens = made
    seconds = time.perf_counter() - started
    if result.output is not None:
        tagger.save(result.output)
    tested = None if result.test is None else evaluate_file(tagger, result.test)
    size = {"sentences": sentences, "tokens": tokens}
    if result.json:
        tell_json(data, tagger, seconds, tested, result, size)
        return
    tags = count(len(tagger.classes_), "tag")
    chunks = "" if tagger.scheme_ is None else f" (chunks in {tagger.scheme_})"
    head = f"{count(sentences, 'sentence')}, {count(tokens, 'token')}, {tags}{chunks}"
    print(f"{data}: {head}, {tagger.n_features_:,} features")
    print(why(tagger.stop_reason_, tagger.n_mistakes_, tagger.n_iter_, seconds))
    if result.output is not None:
        print(f"The model is in {result.output}.")
    if tested is not None:
        print(f"Test {summary(tested)}")


def parameters_of(learning: LearningOptions, sequence: SequenceOptions) -> dict[str, Any]:
    """The parameters of the tagger that were given."""
    given: dict[str, Any] = {
        "markov": sequence.markov,
        "search": sequence.search and sequence.search.value,
        "features": None if sequence.templates is None else templates_in(sequence.templates),
        "solution": learning.solution and learning.solution.value,
        "order": learning.order and learning.order.value,
        "max_iter": learning.epochs,
        "rule": learning.rule and learning.rule.value,
        "margin": learning.margin,
        "C": learning.C,
        "early_stopping": learning.early_stopping or None,
        "random_state": learning.seed,
    }
    return {name: value for name, value in given.items() if value is not None}


def templates_in(path: Path) -> Any:
    """A template file: CRF++'s as it is, else a template a line."""
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    return str(path) if any("%x[" in line for line in lines) else lines


def listener_of(result: ResultOptions) -> "Quiet":
    """Who hears of each epoch."""
    from ..training import report as progress

    if result.quiet:
        return progress.Quiet()
    return progress.AsJson() if result.json else progress.Printed(result.verbose)


def tell_json(
    data: str,
    tagger: "SequencePerceptron",
    seconds: float,
    tested: "SequenceEvaluation | None",
    result: ResultOptions,
    size: dict[str, int],
) -> None:
    """Print what came of a training as an object."""
    from ..training.report import say

    say(
        "done",
        data=data,
        model=None if result.output is None else str(result.output),
        **size,
        features=tagger.n_features_,
        classes=tagger.classes_.tolist(),
        scheme=tagger.scheme_,
        stop_reason=tagger.stop_reason_,
        epochs=tagger.n_iter_,
        mistakes=tagger.n_mistakes_,
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


def tagger_in(path: Path) -> "SequencePerceptron | None":
    """The tagger of a model file; None if it is another model."""
    from ..storage.file import estimator_named, load_model
    from ..storage.registry import estimator_of

    if estimator_named(path) != "SequencePerceptron":
        return None
    tagger: SequencePerceptron = estimator_of(load_model(path), path)
    return tagger


def predict_sequences(
    tagger: "SequencePerceptron", data: str, output: Path | None, kind: str | None
) -> None:
    """Write a file back with its tags filled in."""
    from ..jobs.sentences import tagged_pieces

    if output is None:
        sys.stdout.flush()
        for piece in tagged_pieces(tagger, data, kind):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    from ..disk import replacing

    with replacing(output) as temporary, open(temporary, "wb") as file:
        file.writelines(tagged_pieces(tagger, data, kind))


def score_sequences(
    tagger: "SequencePerceptron", data: str, kind: str | None, as_json: bool
) -> None:
    """Tell how well a file is tagged."""
    from ..jobs.sentences import evaluate_file

    found = evaluate_file(tagger, data, kind)
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


def inspect_sequences(tagger: "SequencePerceptron", top: int) -> None:
    """Tell what a tagger is, and for each tag what speaks loudest for it."""
    from ..learners.sequence.explaining import loudest_features, moves

    search = "greedy" if tagger._is_greedy else "Viterbi"
    print(
        f"SequencePerceptron for {count(len(tagger.classes_), 'tag')}, {search}, order of tags "
        f"{tagger.markov}; solution {tagger.solution}"
    )
    print(
        f"Tokens have {', '.join(tagger.columns_)}; {tagger.n_features_:,} features of "
        f"{count(len(tagger.templates_), 'template')}: {' '.join(tagger.templates_)}"
    )
    if tagger.scheme_ is not None:
        print(f"Chunks in {tagger.scheme_}; inside, IOBES.")
    print(
        f"{count(tagger.n_mistakes_, 'update')} in {count(tagger.n_iter_, 'epoch')}; stopped: "
        f"{tagger.stop_reason_}"
    )
    settings, weights = tagger._settings(), tagger._weights
    names = [*tagger._tags, "the start"]
    for tag, name in enumerate(tagger._tags):
        loud = loudest_features(tag, weights, settings, tagger._dictionary, top)
        print(f"{name}: " + ", ".join(f"{feature} {weight:+.4g}" for feature, weight in loud))
        if tagger.markov:
            after = moves(weights, settings, tag, min(top, 5))
            print("  after " + ", ".join(f"{names[p]} {weight:+.4g}" for p, weight in after))
