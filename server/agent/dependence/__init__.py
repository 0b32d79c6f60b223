"""Does a message depend on what came before? Told from its text alone, Chinese or English, by no model call.

A linear model ranks; a greeting, and an answer that is nothing but an answer, are decided by rule.
"""

from server.agent.dependence.scorer import Dependence, dependence

__all__ = ["Dependence", "dependence"]
