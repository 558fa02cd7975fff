import DesktopBus
import Glibc
import HandoffDesktopService
import HandoffTestSupport
import Testing

/// What the daemon may have opened.
@Suite struct ReceivedFileTests {
    @Test(arguments: [
        "", "report.pdf", "--help", "/a/../b", "/a/./b", "/a//b", "/a/", "/", "/a\0b", "file:///a",
    ])
    func `what is no plain absolute path is refused`(_ path: String) {
        #expect(ReceivedFile(path) == nil)
    }

    @Test func `a path that is too long is refused`() {
        #expect(ReceivedFile("/" + String(repeating: "x", count: 4094)) != nil)
        #expect(ReceivedFile("/" + String(repeating: "x", count: 4095)) == nil)
    }

    @Test func `a file is opened, and one that could be run is not`() throws {
        let folder = try ScratchFolder()
        for name in ["report.pdf", "script", "Evil.Desktop"] {
            let number = creat(folder.file(name), name == "script" ? 0o755 : 0o644)
            #expect(number >= 0)
            close(number)
        }
        func kind(_ name: String) -> ReceivedFile.Kind? { ReceivedFile(folder.file(name))?.kind }
        #expect(kind("report.pdf") == .plain)
        #expect(kind("script") == .runnable)
        #expect(kind("Evil.Desktop") == .runnable)
        #expect(kind("missing") == nil)
        #expect(ReceivedFile("/dev/null")?.kind == nil)
        #expect(ReceivedFile("/etc")?.kind == .plain)
    }

    @Test func `the folder of a file is known, and its address has no byte that means something else`() {
        #expect(ReceivedFile("/home/a/b.txt")?.folder == "/home/a")
        #expect(ReceivedFile("/b.txt")?.folder == "/")
        #expect(FileManager.address(of: "/a b/%#?ü\n~") == "file:///a%20b/%25%23%3F%C3%BC%0A~")
    }
}
