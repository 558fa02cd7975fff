"""A web site for browsers, on the loopback of a test: the same text at every width, and the
difficult features of real pages."""

import functools
import http.server
import io
import random
import threading
import time
import urllib.parse
import wave

PARAGRAPHS = 220
WORDS = ("river stone window letter garden winter number paper silver morning bridge market silent forest copper candle harbour "
         "meadow thunder village answer shadow kitchen mountain story corner island engine yellow orchard").split()


@functools.cache
def paragraph(number):
    """Returns about ninety words that no other paragraph has in this order."""
    pick = random.Random(number)
    return f"Paragraph {number}. " + " ".join(pick.choice(WORDS) for _ in range(pick.randrange(60, 120))) + "."


def article(title="An article", head="", between=lambda number: ""):
    body = "".join(f'{between(number)}<p id="p{number}">{paragraph(number)}</p>' for number in range(PARAGRAPHS))
    return f"""<!doctype html><meta charset=utf-8><title>{title}</title>
        <style>body {{ font: 18px/1.5 sans-serif; max-width: 45em; margin: 2em auto }} p {{ margin: 1em 0 }}
        html {{ scroll-padding-top: 7em }} header {{ position: sticky; top: 0; background: white }}</style>{head}<h1>{title}</h1>{body}"""


# Content that a script fetches, in pieces, and an address that it writes itself.
APP = """<!doctype html><meta charset=utf-8><title>Loading</title><style>body { font: 18px/1.5 sans-serif }</style><main></main><script>
    const show = async () => {
        await new Promise((done) => setTimeout(done, 300));
        for (let part = 0; part < 4; part += 1) {
            document.querySelector("main").insertAdjacentHTML("beforeend", await (await fetch("/part/" + part)).text());
            await new Promise((done) => setTimeout(done, 100));
        }
        document.title = "An app at " + location.pathname;
    };
    show();
</script>"""


SECRET = "wombat seventeen purple lantern"
EDITOR = f"<div style='height:300px'><p>{SECRET} and other words that only its writer has seen so far</p></div>"
# Typed or invisible text at the top of the view. The paragraphs after it are the page's own.
PRIVATE = {
    # Editors that draw text: a control that is too small, transparent, clipped or off the page receives the keys.
    "speck": f"<div><div><textarea style='width:1px;height:1px;border:0;padding:0;position:absolute'></textarea></div>{EDITOR}</div>",
    "opacity": f"<div><textarea style='opacity:0;position:absolute;top:0'></textarea>{EDITOR}</div>",
    "overlay": "<div style='position:relative'><textarea style='color:transparent;background:none;position:absolute;inset:0;"
               f"width:100%'></textarea>{EDITOR}</div>",
    "cut": f"<div><div style='overflow:hidden;position:relative;width:3px;height:0'><textarea></textarea></div>{EDITOR}</div>",
    "off": f"<div><div class=helpers style='position:absolute;left:-9999px'><textarea></textarea>WW</div>{EDITOR}</div>",
    "editable": f"<div contenteditable>{EDITOR}</div>",
    "textbox": f"<div role=textbox tabindex=0>{EDITOR}</div>",
    # Text that repeats a control.
    "mirror": f"<textarea style='width:400px'>{SECRET}</textarea><div style='height:300px'><p>{SECRET}</p></div>",
    "preview": f"<textarea style='width:400px'>some **{SECRET}** here</textarea>"
               f"<div style='height:300px'><p>some <b>{SECRET}</b> here</p></div>",
    "echo": f"<input value='{SECRET}'><div style='height:300px'><p>You have typed: {SECRET}!</p></div>",
    "letters": f"<input value='{SECRET}'><div style='height:300px'><p>"
               + "".join(f"<span>{letter}</span>" for letter in SECRET) + "</p></div>",
    # Invisible text next to visible text.
    "none": f"<p>Seen words begin <span style='display:none'>{SECRET}</span> and go on.",
    "hidden": f"<p>Seen words begin <span style='visibility:hidden'>{SECRET}</span> and go on.",
    "clear": f"<p>Seen words begin <span style='opacity:0'>{SECRET}</span> and go on.",
    "transparent": f"<p>Seen words begin <span style='color:transparent'>{SECRET}</span> and go on.",
    "small": f"<p>Seen words begin <span style='font-size:0'>{SECRET}</span> and go on.",
    "clipped": "<p>Seen words begin <span style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0);white-space:"
               f"nowrap'>{SECRET}</span> and go on.",
    "away": f"<p>Seen words begin <span style='position:absolute;left:-9999px'>{SECRET}</span> and go on.",
    "details": f"<p>Seen words begin</p><details><summary>More</summary><p>{SECRET}</p></details><p>and go on.</p>",
}


def private_page(name):
    return article(f"Private {name}", head="<style>h1 { display: none }</style>" + PRIVATE[name])


def tone():
    """Returns sixty seconds of sound that a film's element plays."""
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(bytes(range(120, 136)) * (8000 * 60 // 16))
    return data.getvalue()


PIXEL = b'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="700"><rect width="600" height="700" fill="teal"/></svg>'


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sound = tone()

    def do_GET(self):
        # Not at the top of the file, because those pages use the text of these.
        from page_shapes import shape
        path = self.path.split("?")[0]
        if path == "/image.svg":
            # After everything else, and with an unknown size.
            time.sleep(0.7)
            return self.answer(PIXEL, "image/svg+xml")
        if path == "/tone.wav":
            return self.answer(self.sound, "audio/wav")
        if path.startswith("/part/"):
            part = int(path.rsplit("/", 1)[1])
            return self.answer("".join(f'<p id="p{n}">{paragraph(n)}</p>' for n in range(part * 50, part * 50 + 50)))
        if path.startswith("/small/"):
            return self.answer(f"<!doctype html><title>small {path[7:]}</title><p>Small.")
        if path == "/images":
            image = '<img src="/image.svg?{}" alt="">'
            return self.answer(article("Pictures", between=lambda n: image.format(n) if n % 20 == 5 else ""))
        if path.startswith("/shapes/"):
            return self.answer(*shape(path))
        if path.startswith("/members/") and "member=1" not in self.headers.get("Cookie", ""):
            return self.redirect("/sign-in?to=" + path)
        if path == "/sign-in":
            # As long as the page itself, and with its words that many pages of a site share.
            to = urllib.parse.parse_qs(self.path.partition("?")[2])["to"][0]
            return self.answer(article("Sign in", head=f"""<form onsubmit="document.cookie = 'member=1'; location = '{to}'; return false">
                <input type=password><button>Sign in</button></form>""").replace("Paragraph", "Condition"))
        if path.startswith("/app"):
            return self.answer(APP)
        if path == "/untitled":
            return self.answer("<!doctype html><meta charset=utf-8><p>A page without a title.")
        if path == "/playing":
            # It starts on its own, and once more when its duration is known.
            return self.answer(article("Playing", head="""<audio src="/tone.wav" autoplay controls
                onloadedmetadata="setTimeout(() => this.play(), 300)"></audio>"""))
        if path == "/film":
            return self.answer(article("A film", head='<video src="/tone.wav" preload="auto" controls></video>'))
        if path.startswith("/private/"):
            return self.answer(private_page(path[9:]))
        if path == "/form":
            return self.answer("<!doctype html><meta charset=utf-8><title>A form</title><form method=post action=/result>"
                               "<input name=word></form><a href=/redirected>back</a>")
        if path == "/long-title":
            return self.answer("<!doctype html><meta charset=utf-8><title>x</title><script>document.title = 'long ' + 'ü'.repeat(2 << 20)</script>")
        if path == "/half":
            return self.answer(article("half") + "<script>document.title = 'half \\ud83d';"
                               "for (const each of document.querySelectorAll('p')) each.prepend('\\ud83d half ')</script>")
        if path == "/header":
            return self.answer(article("Pinned", head="<header><h2>Pinned words that stay</h2></header>"))
        return self.answer(article("An article" if path == "/" else urllib.parse.unquote(path[1:])))

    def redirect(self, path):
        self.send_response(302)
        self.send_header("Location", path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/redirect":
            self.send_response(303)
            self.send_header("Location", "/redirected")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        return self.answer(article("The result"))

    def answer(self, body, kind="text/html"):
        data = body if isinstance(body, bytes) else body.encode()
        first, last = 0, len(data) - 1
        wanted = self.headers.get("Range")
        if wanted and wanted.startswith("bytes="):
            begin, _, end = wanted[6:].partition("-")
            first, last = int(begin or 0), min(int(end or last), last)
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        try:
            self.wfile.write(data[first:last + 1])
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Logs nothing. A browser that a test kills resets its connections."""


class Site:
    """Serves the pages until the test ends."""

    hosts = ("reading.example", "other.example", "bank.example")

    def __init__(self, stage):
        self.server = Server(("127.0.0.1", 0), Pages)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        stage.closers.append(self.server.shutdown)

    def url(self, path="/", host="reading.example"):
        return f"http://{host}{path}" if self.port == 80 else f"http://{host}:{self.port}{path}"
