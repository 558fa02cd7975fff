import DesktopBus
import Glibc
import HandoffDesktopService
import HandoffTestSupport
import LoopIO
import Testing

/// The files that the daemon may have opened.
@Suite struct ReceivedFileTests {
    @Test(arguments: [
        "", "report.pdf", "--help", "/a/../b", "/a/./b", "/a//b", "/a/", "/", "/a\0b", "file:///a",
    ])
    func `a path that is not absolute and plain is refused`(_ path: String) {
        #expect(ReceivedFile(path) == nil)
    }

    @Test func `an overlong path is refused`() {
        #expect(ReceivedFile("/" + String(repeating: "x", count: 4094)) != nil)
        #expect(ReceivedFile("/" + String(repeating: "x", count: 4095)) == nil)
    }

    /// The kind of a file with this name and content.
    private func kind(
        _ name: String, _ content: String = "", mode: UInt32 = 0o644,
        types: DocumentTypes = DocumentTypes(environment: [:])
    ) throws -> ReceivedFile.Kind? {
        let folder = try ScratchFolder()
        let number = creat(folder.file(name), mode)
        try #require(number >= 0)
        #expect(write(number, content, content.utf8.count) == content.utf8.count)
        close(number)
        return ReceivedFile(folder.file(name))?.kind(in: types)
    }

    @Test(arguments: [
        "report.pdf", "REPORT.PDF", "a.txt", "photo.jpg", "drawing.svg", "song.mp3", "film.mkv", "letter.odt",
        "sheet.xlsx", "page.html", "data.csv", "archive.zip", "a.tar.gz", "notes.md", "README", "mail.eml", "main.c",
        "ü 日本.png",
    ])
    func `a document is opened`(name: String) throws {
        #expect(try kind(name) == .plain)
        #expect(try kind(name, mode: 0o755) == .runnable)
    }

    @Test(arguments: [
        "Evil.Desktop", "a.kdelnk", "a.jar", "a.exe", "a.EXE", "a.msi", "a.bat", "a.cmd", "a.com", "a.scr", "a.pif",
        "a.lnk",
        "a.jnlp", "a.appimage", "a.AppImage", "a.sh", "a.py", "a.pl", "a.rb", "a.php", "a.lua", "a.tcl", "a.js",
        "a.hta",
        "a.vbs", "a.wsf", "a.ps1", "a.reg", "a.flatpakref", "a.snap", "a.deb", "a.rpm", "a.run", "a.iso", "a.url",
        "a.docm", "a.xpi", "a.ps", "a.so", "a.pdf.exe", "a.pdf.unknown", "noextension", "report.pdf ", "a.txt~",
    ])
    func `a file that a desktop might run or install is shown in its folder`(name: String) throws {
        #expect(try kind(name, "text\n") == .runnable)
    }

    @Test(arguments: [
        "\u{7F}ELF", "MZ\u{90}", "#!/bin/sh\n", "\u{FEFF}#!/bin/sh\n", "[Desktop Entry]\nExec=sh",
        "L\0\0\0\u{1}\u{14}\u{2}\0",
    ])
    func `a file that starts like a program is not a document, whatever its name`(content: String) throws {
        #expect(try kind("a.txt", content) == .runnable)
        #expect(try kind("a.html", content) == .runnable)
    }

    @Test func `without the database nothing is a document, and types added by the user count`() throws {
        let data = try ScratchFolder()
        #expect(try kind("a.pdf", types: DocumentTypes(folders: [data.path])) == .runnable)
        #expect(try kind("a.pdf", types: DocumentTypes(environment: ["XDG_DATA_DIRS": data.path])) == .plain)
        try #require(mkdir(data.file("mime"), 0o755) == 0)
        let globs = "# list\n50:application/x-wine-extension-pdf:*.pdf\n60:text/plain:*.note:cs\n"
        let number = creat(data.file("mime/globs2"), 0o644)
        #expect(write(number, globs, globs.utf8.count) == globs.utf8.count)
        close(number)
        let types = DocumentTypes(environment: ["XDG_DATA_HOME": data.path])
        #expect(try kind("a.pdf", types: types) == .runnable)
        #expect(try kind("a.txt", types: types) == .plain)
        #expect(try kind("a.note", types: types) == .plain)
        #expect(try kind("a.NOTE", types: types) == .runnable)
    }

    @Test func `a folder is opened, and a special file is not`() {
        let types = DocumentTypes(environment: [:])
        #expect(ReceivedFile("/etc/missing")?.kind(in: types) == nil)
        #expect(ReceivedFile("/dev/null")?.kind(in: types) == nil)
        #expect(ReceivedFile("/etc")?.kind(in: types) == .plain)
    }

    @Test func `the folder of a file is known, and its address escapes reserved bytes`() {
        #expect(ReceivedFile("/home/a/b.txt")?.folder == "/home/a")
        #expect(ReceivedFile("/b.txt")?.folder == "/")
        #expect(FileManager.address(of: "/a b/%#?ü\n~") == "file:///a%20b/%25%23%3F%C3%BC%0A~")
    }
}
