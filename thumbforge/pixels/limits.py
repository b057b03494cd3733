"""How large a picture may be, wherever it comes from: decoding more could eat a machine's memory."""

MAX_BYTES = 64 * 1024 * 1024
"""Of a file, an answer, a program's output."""
MAX_PIXELS = 50_000_000
"""Width times height; 200 MB as RGBA. A 50-megapixel camera's photo passes."""
