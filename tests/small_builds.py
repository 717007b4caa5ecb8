"""Sphinx in this process, for a test of one extension: what it registers is gone afterwards."""

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils


def build(source, conf, settings=None, *, warning):
    """Build the HTML of a folder into its `out`. conf: the folder of conf.py, or None. warning: a stream."""
    suffixes = {
        "source_suffix": {".rst": "restructuredtext"}
    }  # extensions add theirs to the default's dictionary
    with patch_docutils(), docutils_namespace():
        folders = source, conf, source / "out", source / "trees"
        Sphinx(*folders, "html", suffixes | (settings or {}), status=None, warning=warning).build()
