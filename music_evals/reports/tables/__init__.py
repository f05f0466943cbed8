"""The tables of a report's sections: a module per benchmark, and `common` for a benchmark without one."""

from music_evals.reports.records import Records
from music_evals.reports.table import Table
from music_evals.reports.tables import lilybench, msu, muse, ziqi
from music_evals.reports.tables.common import (
    floors_table,
    protocols_table,
    replies_table,
    score_table,
    third_party_table,
)

_MODULES = {
    "MUSE": muse.tables,
    "ZIQI-Eval": ziqi.tables,
    "MSU-Bench": msu.tables,
    "LilyBench": lilybench.tables,
    "LilyBench: generation": lilybench.generation_tables,
}


def section_tables(records: Records, section: str) -> list[Table]:
    """Make all tables of a section; none without a run that counts."""
    if not len(records.current(section)):
        return []
    own_tables = _MODULES.get(section)
    own = own_tables(records) if own_tables else [score_table(records, section)]
    shared = [make(records, section) for make in (protocols_table, third_party_table, floors_table, replies_table)]
    return [table for table in [*own, *shared] if table is not None and table.rows]
