"""nbgrader's settings for this course. They also hold for ``nbgrader`` run by hand in this folder, and for
its formgrader.
"""

from pathlib import Path

from nbconvert.preprocessors import ClearMetadataPreprocessor, CSSHTMLHeaderPreprocessor
from nbgrader import preprocessors

from plaingrader import formgrader

c = get_config()  # noqa: F821  nbgrader defines it
c.CourseDirectory.course_id = "plain-transformer"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", ".pytest_cache"]

# What students wrote is made harmless for the pages of the formgrader and of the feedback; what should get
# through is held by a content security policy.
c.HTMLExporter.preprocessors = ["plaingrader.harmless.Harmless"]
c.HTMLExporter.filters = {"markdown2html": "plaingrader.harmless.html"}
c.HTMLExporter.extra_template_basedirs = [str(formgrader.TEMPLATES), formgrader.NBGRADERS]
c.GenerateFeedback.preprocessors = [preprocessors.GetGrades, CSSHTMLHeaderPreprocessor]
formgrader.harden()

c.ClearSolutions.code_stub = {"python": "# your answer here"}
c.ClearSolutions.text_stub = "*Your answer here.*"

# The two of this course are first: what happened to a notebook on its way is mended, and it is marked outside
# the student's process.
c.Autograde.sanitize_preprocessors = [
    preprocessors.ClearOutput,
    "plaingrader.mend.Mend",
    preprocessors.DeduplicateIds,
    preprocessors.OverwriteKernelspec,
    preprocessors.OverwriteCells,
    preprocessors.CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    "plaingrader.execute.Judge",
    preprocessors.IgnorePattern,
    ClearMetadataPreprocessor,
    preprocessors.LimitOutput,
    preprocessors.SaveAutoGrades,
    preprocessors.AssignLatePenalties,
    preprocessors.CheckCellMetadata,
]
