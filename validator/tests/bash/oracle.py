"""Asks bashlex how it reads command lines; nothing is ever run.

Standard input: a line each. Standard output: for each line one JSON list, ["words", word, ...]
for one simple command, ["features", name, ...] for anything else that parses, ["error", type].
"""

import json
import sys

import bashlex
import bashlex.ast

OPERATORS = {"&": "background"}


class Features(bashlex.ast.nodevisitor):
    """What a line has apart from words; what stands within a substitution is not looked at."""

    def __init__(self):
        self.names = set()

    def visitnode(self, node):
        kind = node.kind
        if kind == "operator":
            self.names.add(OPERATORS.get(node.op, "chaining"))
        elif kind == "pipe":
            self.names.add("pipeline")
        elif kind == "redirect":
            self.names.add("heredoc" if node.type.startswith("<<") else "redirection")
        elif kind in ("parameter", "tilde"):
            self.names.add("expansion")
        elif kind == "reservedword":
            operator = {"(": "subshell", ")": "subshell", ";": "chaining"}
            self.names.add(operator.get(node.word, "shell"))
        elif kind == "assignment":
            self.names.add("assignment")

    def visitcommandsubstitution(self, node, command):
        self.names.add("substitution")
        return False

    def visitprocesssubstitution(self, node, command):
        self.names.add("substitution")
        return False


def read(line):
    try:
        trees = bashlex.parse(line)
    except Exception as error:  # it raises many kinds, and AttributeError for some lines
        return ["error", type(error).__name__]
    features = Features()
    for tree in trees:
        features.visit(tree)
    # Other kinds of nodes only hold these.
    if len(trees) == 1 and trees[0].kind == "command" and not features.names:
        return ["words"] + [part.word for part in trees[0].parts]
    return ["features"] + sorted(features.names)


for line in sys.stdin.buffer.read().decode().split("\n")[:-1]:
    print(json.dumps(read(line)))
