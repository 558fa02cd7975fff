"""Completes command lines of handoff-git, handoff-terminal, handoff-agents and handoff-editor.

The programs answer `PROGRAM completion words -- WORD...` as handoffctl does, so the shells use the script of handoffctl with
another name.
"""
import argparse
import signal
import subprocess

import handoff
from handoff import visible

# Seconds for all candidates, while the user waits for them.
TIMEOUT = 2


def _lines(*words):
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)
        return done.stdout.decode("utf-8", "replace").splitlines()
    except OSError:  # It is not installed.
        return []


def _values(action, types):
    """Returns the words that an option or operand accepts, with their meanings. None: names of files."""
    if action.choices:
        return [(each, "") for each in action.choices]
    if action.metavar == "FOLDER":
        return None
    if action.metavar == "DEVICE":
        return [tuple(line.partition("\t")[::2]) for line in _lines("handoffctl", "completion", "words", "--", "send", "")[1:]]
    if action.metavar == "tmux:NAME":
        return [("tmux:" + each, "") for each in _lines("tmux", "list-sessions", "-F", "#{session_name}")]
    if action.metavar != "ID" or action.option_strings:
        return []
    try:
        offers = handoff.call("ListActivities")["activities"]
    except (handoff.Refused, OSError):
        return []  # The daemon is not running.
    return [(each["id"], f"{each.get('title') or each['type']} on {each['deviceName']}")
            for each in offers if each["type"] in types]


def _found(parser, words, last, types):
    """Returns the candidates for the last word, and the part of it before them. Candidates None: names of files."""
    options = {name: each for each in parser._actions for name in each.option_strings if each.help != argparse.SUPPRESS}
    operands = [each for each in parser._actions if not each.option_strings]
    while words:
        word, *words = words
        if word == "--":
            return None, ""
        if word in options and options[word].nargs != 0:
            if not words:
                return _values(options[word], types), ""
            words = words[1:]
        elif not word.startswith("-") and operands:
            operand = operands.pop(0)
            if isinstance(operand, argparse._SubParsersAction):
                return _found(operand.choices[word], words, last, types) if word in operand.choices else ([], "")
    name, equals, _ = last.partition("=")
    if equals and name in options and options[name].nargs != 0:
        return _values(options[name], types), name + equals
    if last.startswith("-"):
        return [(name, each.help or "") for name, each in options.items() if name.startswith("--")], ""
    if operands and isinstance(operands[0], argparse._SubParsersAction):
        return [(each.dest, each.help or "") for each in operands[0]._choices_actions], ""
    return (_values(operands[0], types) if operands else []), ""


def parsed(parser, words, types):
    """Parses the arguments, as the parser does. Prints the candidates and exits if a shell requests them."""
    if words[:3] != ["completion", "words", "--"]:
        return parser.parse_args(words)
    signal.alarm(TIMEOUT)
    *before, last = words[3:] or [""]
    found, prefix = _found(parser, before, last, types)
    print("words" if found is not None else f"files {prefix}")
    for word, meaning in found or []:
        # A control character would break the line, and could control the terminal.
        if visible(word, len(word)) == word and (prefix + word).startswith(last):
            print(f"{prefix}{word}\t{visible(meaning, 60)}")
    raise SystemExit(0)
