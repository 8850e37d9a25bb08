"""Readers and writers of bundles, tables and coordinates; the only entry point of user files."""

from hetviz.io.bundle.coordinates import coordinates_csv, escape_formula, read_coordinates
from hetviz.io.bundle.loaded import ColumnInfo, DatasetInfo, FileInfo, Loaded
from hetviz.io.bundle.saving import save
from hetviz.io.formats.registry import read_table
from hetviz.io.infer.parsed import Choices, Table
from hetviz.io.intake.guidance import GuidanceRead, guidance_csv, guidance_template, read_guidance
from hetviz.io.intake.make_data import read_tables
from hetviz.io.intake.new_version import NewVersion, read_new_version
from hetviz.io.intake.reading import load, read_bundle

__all__ = [
    "Choices",
    "ColumnInfo",
    "DatasetInfo",
    "FileInfo",
    "GuidanceRead",
    "Loaded",
    "NewVersion",
    "Table",
    "coordinates_csv",
    "escape_formula",
    "guidance_csv",
    "guidance_template",
    "load",
    "read_bundle",
    "read_coordinates",
    "read_guidance",
    "read_new_version",
    "read_table",
    "read_tables",
    "save",
]
