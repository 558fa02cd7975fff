"""Pages whose visible part is not simply the document scrolled: boxes, frames, copies, and lists
that render only a part."""

import threading
import urllib.parse

from pages import PARAGRAPHS, paragraph

# Lets the last script of the slow page end.
LATE = threading.Event()
STYLE = "<style>body { font: 18px/1.5 sans-serif; margin: 0 } p { margin: 1em 20px }</style>"
# A position by the id of an element, from the edge at which the text starts.
DOWN = "document.querySelector('#p{}')?.getBoundingClientRect().top ?? 1e9"


def text(first=0, end=PARAGRAPHS, ids=True):
    return "".join(f'<p{f" id=p{number}" if ids else ""}>{paragraph(number)}</p>' for number in range(first, end))


def page(body, head=""):
    return f"<!doctype html><meta charset=utf-8><title>Shape</title>{STYLE}{head}{body}"


MAIN = page(f"""<div style="position: fixed; inset: 0; display: flex; flex-direction: column">
    <header style="background: #ddd; padding: 20px">Words of the header that stay</header>
    <div style="display: flex; flex: 1; min-height: 0">
    <nav style="overflow: auto; width: 200px">{"".join(f"<p>Chapter {number}</p>" for number in range(200))}</nav>
    <main style="overflow: auto; flex: 1">{text()}</main></div></div>""")

BODY = page(text(), "<style>html { overflow: hidden; height: 100% } body { overflow: auto; height: 100% }</style>")

CHAT = page(f"""<header style="height: 60px">A conversation</header>
    <div id=box style="display: flex; flex-direction: column-reverse; overflow: auto; height: calc(100vh - 60px)">
    <div>{text()}</div></div>""")

HIDDEN = page(f"""<div style="display: none">{text(ids=False)}</div><div style="visibility: hidden; height: 0">{text(ids=False)}</div>
    <details><summary>All of it</summary>{text(ids=False)}</details>{text()}""")

# The reader has unfolded it.
DETAILS = page(f"{text(0, 40)}<details><summary>More</summary>{text(40, 200)}</details>{text(200)}")

REPEATED = page("<main style='overflow: auto; height: 100vh'>" + "".join(
    f"<p id=p{number}>{'The same words in each of these paragraphs, as drafts and forms have them. ' * 6}</p>"
    for number in range(PARAGRAPHS)) + "</main>")

# Ten thousand rows, of which only those in view exist. Their elements are reused for other rows, so
# that their order is arbitrary.
LIST = page("""<header style="height: 50px">Ten thousand rows</header>
    <div id=box style="overflow: auto; height: calc(100vh - 50px)"><div id=all style="height: 300000px; position: relative"></div></div>
    <script>
        const box = document.querySelector("#box"), all = document.querySelector("#all"), rows = [];
        const show = () => {
            const first = Math.max(0, Math.floor(box.scrollTop / 30) - 3), count = Math.ceil(box.clientHeight / 30) + 6;
            while (rows.length < count) rows.push(all.appendChild(document.createElement("div")));
            for (let number = first; number < first + count; number += 1) {
                const row = rows[number % count];
                row.id = "p" + number;
                row.textContent = "Row " + number;
                row.style = `position: absolute; height: 30px; top: ${number * 30}px`;
            }
        };
        box.addEventListener("scroll", () => requestAnimationFrame(show));
        show();
    </script>""")

FRAME = page("""<style>html, body { height: 100%; overflow: hidden }</style><h1 style="height: 50px; margin: 0">A manual</h1>
    <iframe src="/shapes/plain" style="border: 0; width: 100%; height: calc(100% - 50px)"></iframe>""")
PLAIN = page(text())
IN_FRAME = ("document.querySelector('iframe').contentDocument.querySelector('#p{}')?.getBoundingClientRect().top ?? 1e9")

VERTICAL = page(text(), "<style>html { writing-mode: vertical-rl } p { max-height: 80vh }</style>")
LEFT = "innerWidth - (document.querySelector('#p{}')?.getBoundingClientRect().right ?? -1e9)"

INFINITE = page(f"<main>{text(0, 20)}</main><footer>The end is loading</footer>", """<script type=module>
    let part = 1, isLoading = false;
    const show = async () => {
        if (isLoading || part >= 8 || document.querySelector("footer").getBoundingClientRect().top > innerHeight + 100) return;
        isLoading = true;
        const more = await (await fetch("/shapes/part" + part)).text();
        part += 1;
        document.querySelector("main").insertAdjacentHTML("beforeend", more);
        await new Promise((done) => setTimeout(done, 150));
        isLoading = false;
        show();
    };
    addEventListener("scroll", show);
    show();
    </script>""")

JSON = "[" + ",\n".join(f'"{paragraph(number)}"' for number in range(PARAGRAPHS)) + "]"
XML = "<?xml version='1.0'?><text>" + "\n".join(f"<p>{paragraph(number)}</p>" for number in range(PARAGRAPHS)) + "</text>"



def pdf(pages=12):
    """A document of this many pages, with a number on each."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>",
               f"<< /Type /Pages /Count {pages} /Kids [{' '.join(f'{4 + 2 * n} 0 R' for n in range(pages))}] >>",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for number in range(pages):
        words = f"BT /F1 40 Tf 100 500 Td (Page {number + 1}) Tj ET"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * number} 0 R "
                       "/Resources << /Font << /F1 3 0 R >> >> >>")
        objects.append(f"<< /Length {len(words)} >> stream\n{words}\nendstream")
    data, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj {each} endobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    return data + (f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n"
                   f"startxref\n{len(data)}\n%%EOF\n").encode()


PAGES = {"main": MAIN, "body": BODY, "chat": CHAT, "hidden": HIDDEN, "details": DETAILS, "repeated": REPEATED, "list": LIST,
         "frame": FRAME, "plain": PLAIN, "vertical": VERTICAL, "infinite": INFINITE}


def shape(path):
    """Returns the page at a path below /shapes/, and its type, or None."""
    name = urllib.parse.unquote(path.rsplit("/", 1)[1])
    if name.startswith("part"):
        first = int(name[4:]) * 20
        return text(first, first + 20), "text/html"
    if name == "json":
        return JSON, "application/json"
    if name == "xml":
        return XML, "application/xml"
    if name == "pdf":
        return pdf(), "application/pdf"
    if name == "slow":
        # Its last script is as slow as some scripts that count visitors.
        return page(text() + '<script src="/shapes/late.js"></script>').replace("Shape", "Slow"), "text/html"
    if name == "late.js":
        LATE.wait(60)
        return "", "text/javascript"
    return PAGES[name], "text/html"
