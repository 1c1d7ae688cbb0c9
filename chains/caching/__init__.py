"""A question, its audience and an index -> what was found or answered before, at three levels, or nothing.

embedding  the vectors of questions
retrieval  the chunks that a strategy found
answer     whole answers; equal questions at the same time are one call of the chain

A level never breaks an answer: a store that fails, and a value that cannot be read, are a miss.
"""
