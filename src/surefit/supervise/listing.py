"""All runs at a glance: from the index where they have ended, from the folders where they go on."""

from pydantic import ValidationError

from surefit.runs import RunFolder, list_run_folders
from surefit.runs.index import IndexRow, read_rows, stamp_of, write_rows
from surefit.supervise.view import RunView


def list_runs() -> list[RunView]:
    """Every run, newest first. Rows that are missing or stale are read from the folders and kept.

    Raises:
        OutsideError: the folder of runs may not be read.
    """
    rows = read_rows()
    views: list[RunView] = []
    fresh: list[IndexRow] = []
    for run in list_run_folders():
        stamp = stamp_of(run)
        view = _from_row(rows.get(run.id), stamp, run)
        if view is None:
            from surefit.supervise.observing import observe  # a list of ended runs needs none of it

            view = observe(run)
            if view.state.is_final:
                fresh.append(_row(view, stamp))
        views.append(view)
    if fresh:
        write_rows(fresh)
    return sorted(views, key=lambda view: view.created, reverse=True)


def register(run: RunFolder) -> None:
    """Put an ended run into the index."""
    from surefit.supervise.observing import observe

    stamp = stamp_of(run)
    view = observe(run, recover=False)
    if view.state.is_final:
        write_rows([_row(view, stamp)])


def _row(view: RunView, stamp: str) -> IndexRow:
    return IndexRow(
        view.id, stamp, str(view.state), view.created, view.model_dump_json(by_alias=True)
    )


def _from_row(row: IndexRow | None, stamp: str, run: RunFolder) -> RunView | None:
    if row is None or row.stamp != stamp:
        return None
    try:
        view = RunView.model_validate_json(row.view)
    except ValidationError:
        return None  # written by another version
    return view if view.folder == str(run.path) else None
