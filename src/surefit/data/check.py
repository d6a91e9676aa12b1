"""check_data: read every row once, find what is wrong, and write what will be trained."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from surefit.data.cache import cache_key, cached_report, prepared_files
from surefit.data.checks.check import Stage, Terms, Totals
from surefit.data.detection import ROWS_LOOKED_AT, Detection
from surefit.data.examination import Examination, verdict_of
from surefit.data.finding_files import ORIGIN, Fetched, find_files
from surefit.data.lengths import Lengths
from surefit.data.long_rows import split_row
from surefit.data.prepared import PreparedWriter, place_prepared
from surefit.data.reading import read_rows
from surefit.data.report import DatasetReport, DataSource, Sample
from surefit.data.row import DataFile, Row, Side
from surefit.data.split import Split
from surefit.data.turns import settle_turns
from surefit.home import prepared_folder
from surefit.recipe.data_spec import ROLES, DataSpec
from surefit.tokens import ANSWERS_ONLY, ChatTokenizer, TemplateRefusalError

BATCH_ROWS = 256  # rows handed to the tokenizer at once: enough for speed, little in memory
SAMPLES = 3

Progress = Callable[[int, int | None], None]


def check_data(
    spec: DataSpec,
    base_folder: Path,
    tokenizer: ChatTokenizer | None,
    *,
    max_length: int | None,
    batch: int,
    seed: int,
    progress: Progress | None = None,
    into: Path | None = None,
    prepare: bool = False,
    packing: bool = False,
    fetched: Fetched | None = None,
    model_limit: int | None = None,
) -> DatasetReport:
    """Read the data, check it, and say whether it can be trained.

    Args:
        spec: which rows.
        base_folder: what relative paths start from.
        tokenizer: the model's; None checks everything that needs no model.
        max_length: where rows are cut, in tokens; None cuts nothing.
        batch: sequences per optimizer step.
        seed: decides which rows are held back where `spec.eval` is a share.
        progress: told the rows read and the rows expected, now and then.
        into: a folder that shall hold the prepared set (see `surefit.data.prepared`).
        prepare: write the prepared set into the cache, also without `into`.
        packing: rows shall be packed into sequences of `max_length`.
        fetched: files of what `spec` names elsewhere, such as on the Hub.
        model_limit: the longest row that the model can read, in tokens; None where it names none.

    A refusal is a verdict and no exception. A prepared set is written only when nothing refuses; it
    is kept under `home.prepared_folder()` by a key of data, tokenizer, template and options, and a
    second call with the same key tokenizes nothing again.

    Raises:
        OutsideError: the disk fails while rows are read or written.
    """
    wanted = prepare or into is not None
    if tokenizer is not None:
        tokenizer = tokenizer.with_arguments(spec.template_arguments)
    terms = Terms(spec, max_length, batch, tokenizer, packing, wanted, model_limit)
    files = find_files(spec, base_folder, fetched)
    sources = tuple(_source(file) for file in files if file.readable)
    target = writer = None
    if tokenizer is not None and wanted:
        target = prepared_folder() / cache_key(terms, tokenizer.sha256, seed, sources)
        known = cached_report(target)
        if known is not None:
            return _placed(known.model_copy(update={"sources": sources}), target, into)
        writer = PreparedWriter(target)
    try:
        reading = _Reading(terms, Split(spec.eval_share, seed), files, progress, writer)
        report = reading.run(sources)
        if tokenizer and target and writer and report.verdict != "refuse":
            report = report.model_copy(update={"prepared": str(target)})
            writer.finish(*prepared_files(tokenizer.sha256, report))
            return _placed(report, target, into)
    finally:
        if writer is not None:
            writer.discard()
    return report


def _placed(report: DatasetReport, target: Path, into: Path | None) -> DatasetReport:
    if into is None:
        return report.model_copy(update={"prepared": str(target)})
    place_prepared(target, into)
    return report.model_copy(update={"prepared": str(into)})


@dataclass
class _Reading:
    """One pass over the rows."""

    terms: Terms
    split: Split
    files: list[DataFile]
    progress: Progress | None
    writer: PreparedWriter | None = None
    totals: Totals = field(default_factory=Totals)
    samples: list[Sample] = field(default_factory=list)
    held: tuple[Row, Side] | None = None
    """The row written next: kept back by one, so that a share of few rows still holds one back."""

    def __post_init__(self) -> None:
        self.examination = Examination(self.terms, self.totals)
        spec = self.terms.spec
        self.role_weights = (
            ANSWERS_ONLY
            if spec.role_weights is None
            else {role: spec.weight_of(role) for role in ROLES}
        )
        self.lengths: dict[Side, Lengths] = {
            "train": Lengths(self.terms.max_length),
            "eval": Lengths(self.terms.max_length),
        }

    def run(self, sources: tuple[DataSource, ...]) -> DatasetReport:
        usable = self._usable_rows()
        while batch := list(islice(usable, BATCH_ROWS)):
            for row in self._tokenized(batch):
                self._take(row)
        self._take_last()
        for file in self.files:
            self.examination.look_at_file(file)
            failed = not file.readable or file.without_rows
            self.totals.unreadable_files += failed
            self.totals.eval_unreadable |= failed and file.side == "eval"
        self.totals.shortest = self.lengths["train"].shortest
        self.packed = self.lengths["train"].packed() if self.terms.packing else None
        self.totals.sequences = self.packed.sequences if self.packed else 0
        self.examination.look_at_set()
        return self._report(sources)

    def _usable_rows(self) -> Iterator[Row]:
        """Rows that the checks without tokens leave over, as turns or text."""
        rows = self._rows()
        first = list(islice(rows, ROWS_LOOKED_AT))
        self.detection = Detection(self.terms.spec, first)
        self.totals.format = self.detection.format.name if self.detection.format else "unknown"
        self.totals.guessed_columns = self.detection.guessed_columns
        look = self.examination.look_at_row
        for row in chain(first, rows):
            if row.side == "train":
                self.totals.rows += 1
            row.plain = type(row.value) is dict and not row.notes
            if not look(Stage.LINE, row):
                continue
            self.detection.shape(row)
            row.plain = row.plain and row.shaped
            if not look(Stage.COLUMNS, row):
                continue
            settle_turns(row)
            if row.messages and not look(Stage.TURNS, row):
                continue
            if look(Stage.TEXTS, row):
                yield row

    def _rows(self) -> Iterator[Row]:
        """All rows of all readable files, with progress told by the rows read."""
        rows = 0
        for file in self.files:
            if not file.readable:
                continue
            before = rows
            for row in read_rows(file):
                rows += 1
                if self.progress is not None and rows % BATCH_ROWS == 0:
                    self.progress(rows, None)
                yield row
            file.without_rows = rows == before and file.readable
        if self.progress is not None:
            self.progress(rows, rows)

    def _tokenized(self, rows: list[Row]) -> list[Row]:
        """The rows with their tokens; without a tokenizer, as they are."""
        tokenizer, look = self.terms.tokenizer, self.examination.look_at_row
        if tokenizer is None:
            return rows
        for row in rows:
            self._render(row, tokenizer)
        rows = [row for row in rows if look(Stage.RENDERED, row)]
        texts = [row.rendered for row in rows]
        for row, encoded in zip(rows, tokenizer.encode_batch(texts), strict=True):
            row.encoded = encoded
            self.totals.longest = max(self.totals.longest, len(encoded.ids))
        if self.terms.spec.long_rows != "cut" and self.terms.max_length is not None:
            rows = self._without_long_ones(rows, tokenizer, self.terms.max_length)
        return [row for row in rows if look(Stage.TOKENS, row)]

    def _without_long_ones(
        self, rows: list[Row], tokenizer: ChatTokenizer, limit: int
    ) -> list[Row]:
        """The rows, those over the limit left out or split into parts, as the recipe says."""

        def encode(row: Row) -> None:
            self._render(row, tokenizer)
            row.encoded = tokenizer.encode_batch([row.rendered])[0]

        kept: list[Row] = []
        for row in rows:
            if len(row.encoded.ids) <= limit:
                kept.append(row)
                continue
            self.examination.look_at_row(Stage.LENGTH, row)
            if self.terms.spec.long_rows == "drop":
                self.examination.list_dropped(row)
                continue
            parts = split_row(row, limit, tokenizer, encode)
            self.totals.parts += len(parts)
            kept += parts
        return kept

    def _render(self, row: Row, tokenizer: ChatTokenizer) -> None:
        if row.text is not None:
            row.rendered = tokenizer.render_text(row.text)
            return
        try:
            row.rendered = tokenizer.render_answers(
                row.messages,
                tools=row.tools,
                loss=self.terms.spec.loss,
                role_weights=self.role_weights,
            )
            row.weights = tokenizer.token_weights(row.rendered)
            if row.rejected is not None:
                tokenizer.render(row.rejected, tools=row.tools)
        except TemplateRefusalError as refusal:
            row.refusal, row.plain = str(refusal), False

    def _take(self, row: Row) -> None:
        side = self.split.side_of(row)
        if self.held is not None:
            self._store(*self.held)
        self.held = (row, side)

    def _take_last(self) -> None:
        if self.held is None:
            return
        row, side = self.held
        wanted = self.terms.spec.eval_share is not None
        if wanted and self.totals.eval_rows == 0 and self.totals.train_rows > 0:
            side = "eval"
        self._store(row, side)

    def _store(self, row: Row, side: Side) -> None:
        """Count a row and write it."""
        if self.terms.spec.eval_share is not None:
            row.held_back = side == "eval"
            self.examination.look_at_row(Stage.SIDED, row)
        if side == "eval":
            self.totals.eval_rows += 1
        else:
            self.totals.train_rows += 1
        if row.side == "train":
            self.totals.usable += 1
        tokenizer = self.terms.tokenizer
        if tokenizer is None:
            return
        limit = self.terms.max_length
        ids, mask = row.encoded.ids[:limit], row.encoded.mask[:limit]
        trained = mask.count(1)
        lost = row.encoded.mask.count(1) - trained
        self.lengths[side].add(len(row.encoded.ids), trained, lost)
        if self.writer is not None:
            weights = None if row.weights is None else row.weights[:limit]
            self.writer.add(side, ids, mask, weights)
        if side == "train" and len(self.samples) < SAMPLES:
            pieces = tokenizer.pieces(row.rendered, limit)
            self.samples.append(Sample(place=row.place, pieces=pieces))

    def _report(self, sources: tuple[DataSource, ...]) -> DatasetReport:
        findings = self.examination.findings()
        return DatasetReport(
            verdict=verdict_of(findings),
            format=self.totals.format,
            format_reason=self.detection.reason,
            sources=sources,
            rows=self.totals.rows,
            usable=self.totals.train_rows,
            eval_rows=self.totals.eval_rows,
            max_length=self.terms.max_length,
            findings=findings,
            dropped=tuple(self.examination.dropped),
            tokens=self.lengths["train"].counts(
                self.terms.batch, self.examination.count_of("SD402")
            ),
            eval_tokens=self.lengths["eval"].counts(self.terms.batch),
            packed=self.packed,
            samples=tuple(self.samples),
        )


def _source(file: DataFile) -> DataSource:
    try:
        with file.path.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:  # a failing disk, or a file of /proc that only looks like one
        digest = ""
        file.problem, file.detail = "damaged", error.strerror or str(error)
    return DataSource(
        path=str(file.path),
        size_bytes=file.size_bytes,
        sha256=digest,
        origin=file.notes.get(ORIGIN),
    )
