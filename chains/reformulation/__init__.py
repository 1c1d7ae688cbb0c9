"""Before stage 1: make a follow-up a query that stands alone."""

from chains.reformulation.condense import Condense, Foreign, Translate
from chains.reformulation.reformulate import Reformulate, verbatim
from chains.reformulation.splitting import split_questions
from chains.reformulation.standalone import standalone

__all__ = ["Condense", "Foreign", "Reformulate", "Translate", "split_questions", "standalone", "verbatim"]
