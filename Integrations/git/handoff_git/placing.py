"""The description of offered work, and the place and the branch in which it continues."""
import os
import re
import subprocess
import time
import urllib.parse

from . import capture
from .repository import Failure, Repository, is_id, run, shown, visible, why

MAX_NAME = 200
ADDRESS = re.compile(r"(https?|ssh|git)://((?P<user>[A-Za-z0-9._~-]+)@)?[A-Za-z0-9\[][A-Za-z0-9._:\]-]*/[^\s?#\\]+")
SHORT = re.compile(r"([A-Za-z0-9._~-]+@)?[A-Za-z0-9][A-Za-z0-9._-]*:(?!/?/)[^\s?#\\:]+")


def address(text):
    """Returns the URL of a remote without a password, or None for a path, a command, or an unknown form."""
    if not isinstance(text, str) or len(text) > 1000 or not text.isascii() or not text.isprintable():
        return None
    scheme, separator, rest = text.partition("://")
    if separator:
        user, at, host = rest.split("/", 1)[0].rpartition("@")
        keeps = at and scheme in ("ssh", "git") and not user.startswith("-")
        text = f"{scheme}://" + (user.split(":")[0] + "@" if keeps else "") + rest[len(user) + len(at):]
    if not (ADDRESS if separator else SHORT).fullmatch(text) or "::" in text.split("/", 1)[0].replace("[::", ""):
        return None
    return text


def identity(text):
    """Returns the host and path of a remote, or None. They identify the repository in the URLs of documents, as in
    `handoffctl document`."""
    text = address(text)
    if not text:
        return None
    scheme, separator, rest = text.partition("://")
    place, path = rest.split("/", 1) if separator else text.split(":", 1)
    host = place.rpartition("@")[2].lower()
    port = {"https": ":443", "http": ":80", "ssh": ":22", "git": ":9418"}.get(scheme if separator else "")
    parts = [urllib.parse.unquote(each) for each in path.split("/") if each]
    if not parts or any(each in (".", "..") or re.search(r"[@/:\x00-\x20\x7f]", each) for each in parts):
        return None
    path = "/".join(urllib.parse.quote(each, safe="") for each in parts)
    while path.endswith(".git"):
        path = path[:-4]
    return f"{host.removesuffix(port or ':')}/{path}"


def document(repository):
    """Returns the URL by which devices find their checkouts of a repository."""
    return f"handoff-document:git/{urllib.parse.quote(repository, safe='')}/"


def counted(work):
    words = ("staged", "changed", "untracked")
    return ", ".join(f"{work[each]:,} {each}" for each in words if work.get(each)) or "no uncommitted work"


class Offered:
    """The description of the work, from another device. Raises Failure if it is invalid."""

    def __init__(self, content):
        info, self.device = content["userInfo"], content["origin"]["deviceName"]
        texts = ("name", "repository", "branch", "head", "subject", "problem", "format")
        if info.get("version") != 1 or not all(isinstance(info.get(each), (str, type(None))) for each in texts):
            raise Failure("the other device sent no valid description of its work")
        self.problem = info.get("problem")
        if self.problem:
            return
        self.title, self.bases, self.remotes = content["title"], info.get("bases"), {}
        for each in texts:
            setattr(self, each, info.get(each))
        numbers = {each: info.get(each) for each in ("staged", "changed", "untracked", "untrackedLeft", "time")}
        bases = self.bases if isinstance(self.bases, list) else [None]
        if not is_id(self.head) or not all(type(each) is int and each >= 0 for each in numbers.values()) or \
                not all(isinstance(each, str) for each in bases):
            raise Failure("the other device sent no valid description of its work")
        self.counts = numbers
        remotes = info.get("remotes")
        for name, url in remotes.items() if isinstance(remotes, dict) else ():
            if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", name) and address(url) == url:
                self.remotes[name] = url
        if self.repository != identity(f"https://{self.repository}"):
            self.repository = None


def checkout(offered, into):
    """Returns the checkout on this device: the given one, that of the current folder, or one that has the remote."""
    if into:
        return Repository(into)
    try:
        here = Repository(os.getcwd())
        if identity(here.remotes().get("origin")) == offered.repository and \
                (offered.repository or here.commit(offered.head)):
            return here
    except (Failure, FileNotFoundError):
        pass
    if not offered.repository:
        return None
    done = subprocess.run(["handoffctl", "document", document(offered.repository)], stdin=subprocess.DEVNULL, capture_output=True)
    return Repository(os.fsdecode(done.stdout[:-1])) if done.returncode == 0 else None


class Place:
    """The target of a continuation, and the reason. `kind`: here (in a checkout), worktree or clone (in a new folder)."""

    def __init__(self, offered, options):
        self.repository = None if options.clone else checkout(offered, options.into)
        self.kind, self.folder, self.reason = "clone", options.clone, None
        self.notes = []
        if not options.clone and not self.repository:
            name = visible(offered.repository or offered.name or "")
            raise Failure(f"no checkout of {name} was found on this device: add the folder with your checkouts to documents.conf "
                          "(checkouts = FOLDER), run the command in a checkout, or use --into FOLDER or --clone FOLDER")
        if options.clone:
            self.notes.append("the complete history of the branch is sent")
            return
        repository = self.repository
        self.kind, self.folder = ("worktree", options.worktree) if options.worktree else ("here", repository.top)
        if os.path.exists(repository.path(capture.MARK)):
            raise Failure(f"an earlier continuation was interrupted in {shown(repository.top)}: run handoff-git resume there")
        if repository.format != offered.format:
            raise Failure(f"the checkouts have different object formats ({visible(offered.format or '')}, {repository.format})")
        if not repository.commit(offered.head):
            self.notes.append("commits, which are sent with the work")
        if self.kind == "here" and (problem := self._problem(repository, offered)):
            if options.branch:
                raise Failure(f"{shown(repository.top)}: {problem}; use --worktree FOLDER")
            self.reason, self.checkout = problem, repository.top
            if earlier := self._earlier(offered):
                self.repository, self.folder = earlier, earlier.top
                return
            slug = re.sub(r"[^A-Za-z0-9._-]+", "-", offered.branch or offered.head[:8]).strip("-.") or "work"
            names = (f"{repository.top}-{slug}" + (f"-{number}" if number > 1 else "") for number in range(1, 1000))
            self.kind = "worktree"
            self.folder = next(each for each in names if not os.path.lexists(each))

    def _earlier(self, offered):
        """Returns a working tree in which earlier work was continued, and which has no other work."""
        for tree in worktrees(self.repository):
            if tree != self.repository.top and os.path.isdir(tree):
                try:
                    found = Repository(tree)
                except Failure:
                    continue  # The bare repository, or the working tree of another user.
                if os.path.exists(found.path(capture.BASES)) and not self._problem(found, offered, is_earlier=True):
                    return found
        return None

    @staticmethod
    def _problem(repository, offered, is_earlier=False):
        """Returns the reason why the local work cannot be replaced, or None. Local work can be replaced if the offered work
        contains it, or if it is unchanged work of another device."""
        condition = Condition(repository)
        if condition.obstacle(True) or condition.is_clean and not is_earlier:
            return condition.obstacle(())
        with capture.Capture(repository) as work:
            keys = work.state(True, is_stored=False).keys
        contained = keys & {*(offered.bases or ()), *capture.bases(repository)}
        return condition.obstacle(contained) or (None if contained else "it has other commits")


def card(offered, place):
    """Returns a summary of the work, its origin and the items that are missing on this device, as fields and as text."""
    fields = {"title": offered.title, "device": offered.device, "repository": offered.repository, "branch": offered.branch,
              "head": offered.head, "subject": offered.subject, **offered.counts, "place": place.kind, "path": place.folder,
              "reason": place.reason, "missing": place.notes}
    age = max(0, int(time.time()) - offered.counts["time"])
    unit = next(((age // size, word) for size, word in ((86400, "d"), (3600, "h"), (60, "min")) if age >= size), (age, "s"))
    left = offered.counts["untrackedLeft"]
    kinds = {"here": "in the checkout {}", "worktree": "in the new working tree {}", "clone": "in the new clone {}"}
    lines = [
        f"{visible(offered.title or offered.name or '')}, from {visible(offered.device)}, {unit[0]} {unit[1]} ago",
        f"  work      {counted(offered.counts)}" + (f"; {left:,} untracked files are not included" if left else ""),
        f"  commit    {offered.head[:10]} {visible(offered.subject or '', 80)}",
        f"  branch    {visible(offered.branch or '(detached)')}",
        f"  continues {kinds[place.kind].format(shown(place.folder))}",
    ]
    if place.reason:
        lines.append(f"  because   {shown(place.checkout)}: {place.reason}")
    return fields, "\n".join(lines + [f"  missing   {each}" for each in place.notes])


class Condition:
    """The condition of a working tree whose state is to be replaced."""

    def __init__(self, repository):
        marks = {row[:1] for row in repository.git("ls-files", "-v", "-z").split(b"\0")}
        # Files with --assume-unchanged can contain work that Git does not show.
        self.has_hidden = any(mark.islower() for mark in marks)
        problems = repository.problems() or ["it is a sparse checkout"] * bool(marks & {b"S", b"s"})
        self._problem = problems[0] if problems else None
        counts = {"staged": 0, "changed": 0} if problems else repository.counts()
        self.is_clean = not problems and not counts["staged"] and not counts["changed"]
        self._work = f"it has uncommitted work ({counts['staged']} staged, {counts['changed']} changed)"

    def obstacle(self, keys):
        """Returns the reason why the state cannot be replaced, or None. `keys`: the keys that the new work contains."""
        return self._problem or (None if self.is_clean or keys else self._work)


def branch_for(repository, wanted, head, chosen=None):
    """Returns the branch for the head: the same branch if no commit is lost, otherwise a new branch. None: detached."""
    name = chosen or wanted
    if name is None:
        return None
    try:
        is_plain = len(os.fsencode(name)) <= MAX_NAME and not name.startswith("-") and "\0" not in name
    except UnicodeEncodeError:
        is_plain = False
    if not is_plain or name == "HEAD" or run("check-ref-format", f"refs/heads/{name}").returncode:
        raise Failure(f"{visible(name)} is not a valid branch name")
    if _is_usable(repository, name, head):
        return name
    if chosen:
        raise Failure(f"the branch {visible(name)} exists with other commits, or is checked out elsewhere: choose another name")
    names = (f"handoff/{name}" + (f"-{number}" if number > 1 else "") for number in range(1, 1000))
    return next(each for each in names if _is_usable(repository, each, head))


def _is_usable(repository, name, head):
    reference = f"refs/heads/{name}"
    if any(branch == reference and tree != repository.top for tree, branch in worktrees(repository).items()):
        return False
    if reference in _unfinished(repository):
        return False
    if tip := repository.commit(reference):
        return tip == head or repository.succeeds("merge-base", "--is-ancestor", tip, head)
    parts = name.split("/")
    above = any(repository.commit("refs/heads/" + "/".join(parts[:count])) for count in range(1, len(parts)))
    return not above and not repository.git("for-each-ref", "--count=1", f"{reference}/")


def worktrees(repository):
    """Returns the branches (None: detached) of all working trees of a repository, by their paths."""
    rows = os.fsdecode(repository.git("worktree", "list", "--porcelain")).split("\n\n")
    parts = [dict(line.partition(" ")[::2] for line in row.split("\n") if line) for row in rows]
    return {each["worktree"]: each.get("branch") for each in parts if each}


def _unfinished(repository):
    """Returns the branches that a rebase or bisection in any working tree will move or check out. The head is detached then."""
    linked, found = os.path.join(repository.common, "worktrees"), set()
    folders = [os.path.join(linked, each) for each in os.listdir(linked)] if os.path.isdir(linked) else []
    for folder in [repository.common, *folders]:
        for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
            try:
                with open(os.path.join(folder, name), errors="surrogateescape") as file:
                    text = file.read().strip()
            except OSError:
                continue
            found.add(text if text.startswith("refs/") else f"refs/heads/{text}")
    return found


def worktree(repository, folder, head):
    """Adds a working tree without files. Returns it."""
    if os.path.lexists(folder):
        raise Failure(f"{shown(folder)} already exists")
    repository.git("worktree", "add", "--no-checkout", "--detach", "--", folder, head)
    made = Repository(folder)
    if made.settings.get("extensions.worktreeconfig") == "true":
        made.git("config", "--worktree", "core.sparseCheckout", "false")
    return made


def clone(folder, remotes, object_format):
    """Creates a repository without commits, with the remotes of the other device. Returns it."""
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise Failure(f"{shown(folder)} exists and is not an empty folder")
    done = run("init", "--quiet", "--template=", f"--object-format={'sha256' if object_format == 'sha256' else 'sha1'}",
               "--initial-branch=main", "--", folder)
    if done.returncode:
        raise Failure(f"git init failed: {why(done)}")
    made = Repository(folder)
    for name, url in remotes.items():
        made.git("config", f"remote.{name}.url", url)
        made.git("config", f"remote.{name}.fetch", f"+refs/heads/*:refs/remotes/{name}/*")
    return made
