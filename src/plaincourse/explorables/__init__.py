"""Pictures that a reader can move: widgets where a kernel runs, alive without one in the built book."""

from plaincourse.explorables.attention import Attention
from plaincourse.explorables.base import Explorable
from plaincourse.explorables.caching import Caching
from plaincourse.explorables.descent import Descent
from plaincourse.explorables.gate import Gate
from plaincourse.explorables.inside import Inside
from plaincourse.explorables.matmul import WEIGHT, Matmul
from plaincourse.explorables.normalization import Normalization
from plaincourse.explorables.parameters import Parameters
from plaincourse.explorables.reach import Reach
from plaincourse.explorables.rope import Rope
from plaincourse.explorables.sampling import Sampling

__all__ = [
    "WEIGHT",
    "Attention",
    "Caching",
    "Descent",
    "Explorable",
    "Gate",
    "Inside",
    "Matmul",
    "Normalization",
    "Parameters",
    "Reach",
    "Rope",
    "Sampling",
]
