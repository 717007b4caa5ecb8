"""All explorables, for the tests of their Python and of their pages: a new one is among them by itself."""

from plaincourse import explorables

KINDS = explorables.Explorable.__subclasses__()
