"""Pictures that a reader can move: widgets where a kernel runs, alive without one in the built book."""

from plaincourse.explorables.base import Explorable
from plaincourse.explorables.matmul import WEIGHT, Matmul

__all__ = ["Explorable", "Matmul", "WEIGHT"]
