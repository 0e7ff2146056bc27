"""Reads a Dockerfile: its stages, each a list of instructions."""

import dataclasses
import json
import re
import shlex


@dataclasses.dataclass
class Stage:
    base: str
    name: str
    instructions: list  # (keyword, the rest)

    def all(self, keyword):
        return [rest for found, rest in self.instructions if found == keyword]

    def last(self, keyword):
        return self.all(keyword)[-1]

    def argv(self, keyword):
        """Of an ENTRYPOINT or CMD, which must be in JSON: no shell."""
        return json.loads(self.last(keyword))

    def pairs(self, keyword):
        """The names and values of ENV or LABEL."""
        return dict(word.split("=", maxsplit=1)
                    for rest in self.all(keyword)
                    for word in shlex.split(rest))


def parse(text):
    """([ARG before the first stage], [Stage])"""
    lines = [line for line in text.splitlines()
             if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    args, stages = [], []
    for line in joined.splitlines():
        keyword, _, rest = line.partition(" ")
        rest = rest.strip()
        if keyword == "FROM":
            base, _, name = rest.partition(" AS ")
            stages.append(Stage(base, name, []))
        elif stages:
            stages[-1].instructions.append((keyword, rest))
        else:
            args.append((keyword, rest))
    return args, stages
