"""LangChain callback handlers that each call of the chain gets anew.

A handler travels with the callbacks of its call: it reaches every step in every way of calling, and no other call.
"""

from chains.callbacks.deadline import Deadline
from chains.callbacks.handlers import CallRecord

__all__ = ["CallRecord", "Deadline"]
