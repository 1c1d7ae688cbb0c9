"""Before stage 1. Question and history -> the query that is searched for."""

from chains.reformulation.condense import Condense
from chains.reformulation.parts import split_questions
from chains.reformulation.reformulate import Reformulate, verbatim
from chains.reformulation.standalone import standalone

__all__ = ["Condense", "Reformulate", "split_questions", "standalone", "verbatim"]
