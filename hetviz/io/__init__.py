"""Reading and writing: bundles, tables, coordinates. User bytes enter only through here."""

from hetviz.io.bundle import load, read_bundle
from hetviz.io.coordinates import coordinates_csv, escaped, read_coordinates
from hetviz.io.guidance import GuidanceRead, guidance_csv, guidance_template, read_guidance
from hetviz.io.loaded import ColumnInfo, DatasetInfo, FileInfo, Loaded
from hetviz.io.loose import read_tables
from hetviz.io.newer import Newer, newer_version
from hetviz.io.samples import SampleCard, sample_card, sample_path, samples
from hetviz.io.saving import save
from hetviz.io.tables import Choices, TableRead, read_table

__all__ = [
    "Choices",
    "ColumnInfo",
    "DatasetInfo",
    "FileInfo",
    "GuidanceRead",
    "Loaded",
    "Newer",
    "SampleCard",
    "TableRead",
    "coordinates_csv",
    "escaped",
    "guidance_csv",
    "guidance_template",
    "load",
    "newer_version",
    "read_bundle",
    "read_coordinates",
    "read_guidance",
    "read_table",
    "read_tables",
    "sample_card",
    "sample_path",
    "samples",
    "save",
]
