"""Models that others have trained: their files read into ``llama.Llama`` and ``gpt2.GPT2``.

``smollm2.load()`` fetches the course's real model. ``huggingface`` reads a local folder, ``gguf_file`` a
local GGUF file. They need the libraries of the extra ``models``.
"""
