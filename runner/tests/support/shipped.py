"""What the project itself ships, loaded once."""

from jdkmatrix.config.load import load_matrix
from tests.support.project import ROOT

MATRIX = load_matrix(ROOT / "matrix.toml")
TEMPLATES = ROOT / "report-templates"
