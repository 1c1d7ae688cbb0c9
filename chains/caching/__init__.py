"""Caches at three levels: vectors of questions, retrieved chunks, whole answers.

`TypedCache` keeps values of one type in a `MemoryStore` or in the ledger; `CachedRetriever` and `CachedAnswers` put one
around a retriever or a chain, and `SingleFlight` makes one call of equal calls at the same time. A cache never breaks
an answer: a store that fails and a value that cannot be read are misses.
"""
