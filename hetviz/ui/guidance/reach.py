"""How far what was said reaches: for each two datasets, how many items have a link."""

from __future__ import annotations

import streamlit as st

from hetviz.data import HeteroData
from hetviz.ui.guidance.conflicts import report_of
from hetviz.ui.shell import theme


def show(data: HeteroData) -> None:
    """Show a table of the datasets that links join, and of those that none do."""
    report = report_of(data)
    table = None if report is None else report.coverage
    if table is None or table.empty:
        return
    with st.expander("How far the links reach"):
        rows = []
        for row in table.to_dict("records"):
            within = row["source"] == row["target"]
            pair = f"within {row['source']}" if within else f"{row['source']} – {row['target']}"
            reached = [(row["source"], row["source_linked"], row["source_items"])]
            reached += (
                [] if within else [(row["target"], row["target_linked"], row["target_items"])]
            )
            links = f"{row['together']:,}" + (
                f" and {row['apart']:,} apart" if row["apart"] else ""
            )
            items = "; ".join(f"{some:,} of {all_:,} {name}" for name, some, all_ in reached)
            rows.append([pair, links if row["together"] or row["apart"] else "none", items])
        theme.table(["Datasets", "Links", "Items that have one"], rows, words=True)
