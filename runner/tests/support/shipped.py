"""The project's own shipped files, loaded once."""

from jdkmatrix.claims.load import load_claims
from jdkmatrix.config.assemble import merged
from jdkmatrix.config.load import parse_files, read_files
from jdkmatrix.jdks.catalogue import load_catalogue
from tests.support.project import ROOT

FILES = read_files(ROOT / "matrix.toml")
TOML = merged(FILES).tables  # as if matrix.toml held all that published sources add to it
MATRIX = parse_files(FILES)
REGISTRY = load_claims(ROOT / "published", MATRIX.scenarios)
JDKS = frozenset(entry.id for entry in load_catalogue(ROOT / "jdks.json").entries)
LOADS = frozenset(name for tables in FILES.values() for name in tables.get("loads", ()))
TEMPLATES = ROOT / "report-templates"
