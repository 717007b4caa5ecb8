"""Measured numbers that more than one part of the book uses.

GPT-2 small was asked what follows "Data visualization empowers users to" (token ids 6601, 32704, 795, 30132,
2985, 284). The numbers are those of Transformer Explainer (Cho et al. 2024), which runs the model in single
precision.
"""

# The twelve tokens with the largest logits of the vocabulary's 50,257, their ids and their logits, largest
# first.
NEXT_WORDS = (
    "visualize", "create", "see", "make", "easily", "quickly",
    "explore", "find", "understand", "build", "better", "identify",
)  # fmt: skip
NEXT_IDS = (38350, 2251, 766, 787, 3538, 2952, 7301, 1064, 1833, 1382, 1365, 5911)
NEXT_LOGITS = (
    -135.9131622, -136.6836090, -137.1203003, -137.6473846, -137.6664734, -137.7237854,
    -137.7835236, -138.0481415, -138.2928314, -138.4104004, -138.4533234, -138.4869232,
)  # fmt: skip
VOCABULARY = 50257
# log Σ e^(logit / temperature) over all 50,257 logits, by temperature: what the other 50,245 words weigh
# together.
LOG_SUM_EXP = {0.8: -168.666870, 1.0: -134.067004, 2.0: -63.620500}
