"""Creates docs/images/first-handoff.svg: the README's first transcripts as a terminal shows them.
Run by scripts/screenshots.

The picture is of real output: the transcripts are run between two daemons on loopback, and their
output is parsed as a terminal does. Only two things are changed: the path of the home folder, and
the QR code, which is next to the text instead of below it.
"""

import html
import os
import re
import sys

from harness import ROOT, Stage, leave_network
from terminal import lines
from transcripts import Play, blocks, steps

IMAGE = os.path.join(ROOT, "docs", "images", "first-handoff.svg")
CELL, LINE, MARGIN, BAR = 7.8, 19, 18, 34
MODULE = 2.6
# The parameters of the sequences that handoffctl writes (Emphasis.swift).
EMPHASIS = {"1": "strong", "32": "good", "33": "warning", "1;31": "problem"}
STYLE = """
  .back { fill: #ffffff; stroke: #d0d7de } .bar { fill: #f3f5f7 } .dot { fill: #c9d1d9 }
  text { fill: #1f2328; font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }
  .name { fill: #57606a; font-size: 12px } .typed, .strong, .problem { font-weight: 600 }
  .good { fill: #116329 } .warning { fill: #7d4e00 } .problem { fill: #a40e26 } .desk { fill: #0550ae } .laptop { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; stroke: #30363d } .bar { fill: #161b22 } .dot { fill: #30363d }
    text { fill: #e6edf3 } .name { fill: #8b949e } .desk { fill: #79c0ff } .laptop { fill: #d2a8ff }
    .good { fill: #7ee787 } .warning { fill: #f2cc60 } .problem { fill: #ffa198 }
  }
"""


def spans(text):
    """Returns the pieces of a line, each with its style class, without the escape sequences."""
    found, kind = [], None
    for piece in re.split(r"(\x1b\[[0-9;]*m)", text):
        if sequence := re.fullmatch(r"\x1b\[([0-9;]*)m", piece):
            kind = EMPHASIS.get(sequence[1])
        elif piece:
            found.append((kind, piece))
    return found


def squares(code, left, top):
    """Returns the dark modules of a QR code of half blocks on a light ground, as one path."""
    light = {(column, 2 * row + half) for row, line in enumerate(code) for column, block in enumerate(line)
             for half, of_it in ((0, "▀█"), (1, "▄█")) if block in of_it}
    # The area around a code is light.
    columns, rows = (1 + max(place[axis] for place in light) for axis in (0, 1))
    path = "".join(f"M{left + column * MODULE:.1f} {top + row * MODULE:.1f}h{MODULE}v{MODULE}h-{MODULE}z"
                   for row in range(rows) for column in range(columns) if (column, row) not in light)
    width, height = columns * MODULE, rows * MODULE
    return (f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" fill="#fff"/>'
            f'<path d="{path}" fill="#000" shape-rendering="crispEdges"/>'), width


def drawn(played):
    """Returns the picture of steps that were run."""
    rows, code = [], None
    for step in played:
        rows.append((step.device, step.command))
        text, blocks_of_it = lines(step.raw)
        if blocks_of_it:
            code = blocks_of_it, len(rows) - 1
        rows += [(None, line) for line in text]
        rows.append((None, ""))
    rows.pop()
    columns = max(sum(len(piece) for _, piece in spans(text)) + (8 if device else 0) for device, text in rows)
    width, height = round(columns * CELL + 2 * MARGIN), BAR + len(rows) * LINE + 2 * MARGIN - 6
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
             "<title>The first handoff, as a terminal shows it</title>", f"<style>{STYLE}</style>",
             f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
             f'<path class="bar" d="M1 {BAR}V9a8 8 0 0 1 8-8H{width - 9}a8 8 0 0 1 8 8V{BAR}z"/>']
    parts += [f'<circle class="dot" cx="{x}" cy="{BAR / 2}" r="5"/>' for x in (20, 38, 56)]
    parts.append(f'<text class="name" x="{width / 2}" y="{BAR / 2 + 4}" text-anchor="middle">two devices of one person</text>')
    for number, (device, text) in enumerate(rows):
        y, x = BAR + MARGIN + number * LINE + 9, MARGIN
        for kind, piece in [(device, f"{device}$".ljust(8)), ("typed", text)] if device else spans(text):
            if piece.strip():
                # The text has the width of its cells in every font.
                name = f' class="{kind}"' if kind else ""
                length = len(piece.rstrip()) * CELL
                parts.append(f'<text{name} x="{x:.1f}" y="{y}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" '
                             f'xml:space="preserve">{html.escape(piece.rstrip())}</text>')
            x += len(piece) * CELL
    if code:
        picture, wide = squares(code[0], 0, BAR + MARGIN + code[1] * LINE - 4)
        parts.append(f'<g transform="translate({width - MARGIN - wide:.1f} 0)">{picture}</g>')
    return "\n".join([*parts, "</svg>", ""])


def main():
    leave_network()
    stage = Stage("picture")
    try:
        play = Play(stage, "desk", "laptop")
        play.file("desk", "report.odt", "A report. " * 1000)
        os.mkdir(os.path.join(play.home("laptop"), "Documents"))
        played = []
        for block in [block for block in blocks(os.path.join(ROOT, "README.md")) if steps(block)][:2]:
            played += play.run(block)
        for step in played:
            step.raw = step.raw.replace(play.home("laptop"), "/home/ada")
        with open(IMAGE, "w") as file:
            file.write(drawn(played))
    finally:
        stage.close(keep=False)


if __name__ == "__main__":
    sys.exit(main())
