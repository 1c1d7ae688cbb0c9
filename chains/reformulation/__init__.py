"""Before stage 1. Question and history -> the query that is searched for."""

from chains.reformulation.reformulate import Reformulate, verbatim
from chains.reformulation.standalone import standalone

__all__ = ["Reformulate", "standalone", "verbatim"]
