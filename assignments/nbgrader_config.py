"""nbgrader's settings for this course. They also hold for ``nbgrader`` run by hand in this folder, and for
its formgrader.
"""

from pathlib import Path

from nbconvert.preprocessors import ClearMetadataPreprocessor, CSSHTMLHeaderPreprocessor
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbgrader import preprocessors

c = get_config()  # noqa: F821  nbgrader defines it
c.CourseDirectory.course_id = "plain-transformer"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", ".pytest_cache"]

# Feedback shows a student's own Markdown: no script may come with it.
c.GenerateFeedback.preprocessors = [preprocessors.GetGrades, SanitizeHTML, CSSHTMLHeaderPreprocessor]
c.SanitizeHTML.enabled = True
c.SanitizeHTML.tags = [
    "a",
    "blockquote",
    "br",
    "code",
    "div",
    "em",
    "i",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "sub",
    "sup",
    "ul",
]
c.SanitizeHTML.attributes = {"a": ["href"], "div": ["class"]}

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
