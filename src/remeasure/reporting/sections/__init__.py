"""What the notebook's cells call: one function a section, from a loaded report to HTML."""

from remeasure.reporting.loading import load
from remeasure.reporting.sections.answer import answer
from remeasure.reporting.sections.average import average
from remeasure.reporting.sections.companion import companion
from remeasure.reporting.sections.corpus import corpus
from remeasure.reporting.sections.cost import cost
from remeasure.reporting.sections.equivalence import equivalence
from remeasure.reporting.sections.ladder import dropout, ladder
from remeasure.reporting.sections.ledger import ledger
from remeasure.reporting.sections.maps import maps
from remeasure.reporting.sections.masked import masked
from remeasure.reporting.sections.norm import norm
from remeasure.reporting.sections.normalisation import normalisation
from remeasure.reporting.sections.parameters import parameters
from remeasure.reporting.sections.positions import positions
from remeasure.reporting.sections.recurrent import recurrent
from remeasure.reporting.sections.referent import referent
from remeasure.reporting.sections.reproduce import reproduce
from remeasure.reporting.sections.runs import runs
from remeasure.reporting.sections.scaling import scaling
from remeasure.reporting.sections.seeds import seeds
from remeasure.reporting.stylesheet import stylesheet

__all__ = [
    "answer",
    "average",
    "companion",
    "corpus",
    "cost",
    "dropout",
    "equivalence",
    "ladder",
    "ledger",
    "load",
    "maps",
    "masked",
    "norm",
    "normalisation",
    "parameters",
    "positions",
    "recurrent",
    "referent",
    "reproduce",
    "runs",
    "scaling",
    "seeds",
    "stylesheet",
]
