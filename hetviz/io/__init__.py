"""Readers and writers of bundles, tables and coordinates; the only entry point of user files."""

from hetviz.io.bundle.coordinates import coordinates_csv as coordinates_csv
from hetviz.io.bundle.coordinates import escape_formula as escape_formula
from hetviz.io.bundle.coordinates import read_coordinates as read_coordinates
from hetviz.io.bundle.loaded import ColumnInfo as ColumnInfo
from hetviz.io.bundle.loaded import DatasetInfo as DatasetInfo
from hetviz.io.bundle.loaded import FileInfo as FileInfo
from hetviz.io.bundle.loaded import Loaded as Loaded
from hetviz.io.bundle.saving import save as save
from hetviz.io.formats.registry import read_table as read_table
from hetviz.io.infer.parsed import Choices as Choices
from hetviz.io.intake.guidance import GuidanceRead as GuidanceRead
from hetviz.io.intake.guidance import guidance_csv as guidance_csv
from hetviz.io.intake.guidance import guidance_template as guidance_template
from hetviz.io.intake.guidance import read_guidance as read_guidance
from hetviz.io.intake.make_data import read_tables as read_tables
from hetviz.io.intake.new_version import NewVersion as NewVersion
from hetviz.io.intake.new_version import read_new_version as read_new_version
from hetviz.io.intake.reading import load as load
from hetviz.io.intake.reading import read_bundle as read_bundle
