"""Writes ids.tsv: namespace, text, hash buckets, id of the text, of a missing value and of a rare one.

Uses the package xxhash of PyPI: python ids.py > ids.tsv
"""
import xxhash


def xxh64(text, seed):
    return xxhash.xxh64_intdigest(text.encode(), seed)


def signed(n):
    return n - (1 << 64) if n >= 1 << 63 else n


texts = ["a", "x", "05db9164", "Straße", "日本語", "0", "-7", "1234567890123456789", "long" * 40] + ["t" * n for n in range(2, 70)]
for namespace in ["C1", "item", "länge"]:
    seed = xxh64(namespace, 0)
    for text in texts:
        for buckets in [0, 100]:
            value = xxh64(text, seed)
            if buckets:
                value = xxh64(str(value % buckets), seed)
            print(namespace, text, buckets, signed(value), signed(xxh64(namespace, 1)), signed(xxh64(namespace, 2)), sep="\t")
