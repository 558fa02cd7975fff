"""The plot 'growth' of Benchmarks/plot: the cost of a change in an account of many devices. The
part 'growth' of Benchmarks/run measures it.

HANDOFF_GROWTH_FIGURES: files written by 'Benchmarks/run --json FILE growth', separated by commas,
for a picture without measuring.
"""

import json
import os
import subprocess
import tempfile

from common import harness
import growth_part


class Growth:
    """The cost of a change, by the number of devices in the account, each with ten activities. One
    device changes a title."""

    CURVES = {"heard by half": "change heard by each", "heard by all": "change heard by all",
              "processor time of all together": "CPU of all for a change"}

    @classmethod
    def measure(cls, stage, programs, quick):
        """Returns the figures, or those that Benchmarks/run has written into the files that
        HANDOFF_GROWTH_FIGURES names."""
        figures = {}
        for path in filter(None, os.environ.get("HANDOFF_GROWTH_FIGURES", "").split(",")):
            with open(path) as file:
                figures |= json.load(file)["figures"]
        if not figures:
            os.environ.setdefault("HANDOFF_GROWTH_PARTS", "answers,changes")
            figures, _ = growth_part.measure(stage, quick)
        ends = {name.rpartition(", ")[2] for name in figures if name.startswith("change heard by all")}
        return figures, sorted(int(end.split()[0]) for end in ends)

    @classmethod
    def draw(cls, name, plot, found):
        """Draws the curves as SVG, by gnuplot."""
        figures, counts = found
        with tempfile.TemporaryDirectory() as folder:
            words = []
            for number, (title, kind) in enumerate(cls.CURVES.items()):
                data = os.path.join(folder, str(number))
                with open(data, "w") as file:
                    for count in counts:
                        figure = figures.get(f"{kind}, {count} devices")
                        if figure is None or figure["median"] <= 0:
                            continue
                        file.write(f"{count} {figure['median']} {figure['median']} {figure['p95']}\n")
                style = f"linewidth 2 pointtype 7 pointsize 0.4 linecolor {number + 1}"
                words.append(f"'{data}' using 1:2 with linespoints {style} title '{title}'")
                words.append(f"'{data}' using 1:2:3:4 with yerrorbars {style} notitle")
            target = os.path.join(harness.ROOT, "docs", "images", f"performance-{name}.svg")
            script = (
                f"set terminal svg size 720,360 font 'sans-serif,12' background 'white'\nset output '{target}'\n"
                "set title 'A change, by the number of devices'\nset ylabel 'milliseconds'\nset xlabel 'devices'\n"
                f"set logscale xy\nset grid\nset key outside below\nset xtics ({', '.join(map(str, counts))})\n"
                f"plot {', '.join(words)}\n")
            subprocess.run(["gnuplot"], input=script, text=True, check=True)

    @classmethod
    def table(cls, plot, found):
        """Prints the same as a table in Markdown, with the remaining figures."""
        figures, counts = found
        kinds = list(cls.CURVES.values()) + [
            "CPU of a device for a change", "packets for a change", "list by the socket", "status by the socket",
            "handoffctl list", "handoffctl status", "memory of a device", "idle, sent by all a minute",
            "idle, sent by a device a minute", "idle, delivered to a device a minute", "idle, packets of all a minute",
            "idle, wake-ups of a device a minute", "idle, CPU of a device a minute"]
        print(f"\n{cls.__doc__}\n\n| | {' | '.join(f'{count} devices' for count in counts)} |\n|---|{'---|' * len(counts)}")
        for kind in kinds:
            row = [figures.get(f"{kind}, {count} devices") for count in counts]
            if any(row):
                print(f"| {kind} | {' | '.join(cls._cell(figure) for figure in row)} |")

    @staticmethod
    def _cell(figure):
        if figure is None:
            return ""
        spread_text = "" if figure["p95"] == figure["median"] else f" ({figure['p95']:.2f})"
        return f"{figure['median']:.2f}{spread_text}, n {figure['n']}"
