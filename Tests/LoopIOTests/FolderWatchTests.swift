import Foundation
import HandoffTestSupport
import LoopIO
import Testing

/// A loop and a folder.
private struct Bench {
    let loop: EventLoop
    let folder: ScratchFolder

    init() throws {
        loop = try EventLoop()
        folder = try ScratchFolder()
    }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    func createFolder(_ name: String) { #expect(mkdir(path(name), 0o700) == 0) }

    func write(_ text: String, to name: String) throws {
        let file = Descriptor(owning: try SystemCall.retrying { open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600) })
        let bytes = Array(text.utf8)
        #expect(Glibc.write(file.raw, bytes, bytes.count) == bytes.count)
    }
}

/// The notifications of folder watches; finding and starting programs.
struct FolderWatchTests {
    @Test func `files that are added, written and removed are reported, in watched folders only`() throws {
        let test = try Bench()
        test.createFolder("a")
        test.createFolder("b")
        var changes = 0
        let watch = try FolderWatch(on: test.loop) {
            changes += 1
            test.loop.stop()
        }
        #expect(watch.setFolders([test.path("a"): .anything, test.path("none"): .anything]))
        #expect(!watch.setFolders([test.path("a"): .anything]))
        try test.write("x", to: "a/x")
        try test.loop.runUntilStopped()
        #expect(changes == 1)
        unlink(test.path("a/x"))
        try test.loop.runUntilStopped()
        #expect(changes == 2)
        try test.write("x", to: "b/x")
        try test.loop.runTurns(3)
        #expect(changes == 2)
        #expect(watch.setFolders([test.path("b"): .anything]))
        try test.write("x", to: "a/x")
        try test.loop.runTurns(3)
        #expect(changes == 2)
    }

    @Test func `a folder that was removed since the last scan requires a new scan`() throws {
        let test = try Bench()
        test.createFolder("a")
        let watch = try FolderWatch(on: test.loop) {}
        #expect(watch.setFolders([test.path("a"): .anything]))
        #expect(rmdir(test.path("a")) == 0)
        #expect(watch.setFolders([test.path("a"): .anything]))
        #expect(!watch.setFolders([:]))
    }

    @Test func `a watch for names reports these and the removal of the folder only`() throws {
        let test = try Bench()
        test.createFolder("a")
        var changes = 0
        let watch = try FolderWatch(on: test.loop) {
            changes += 1
            test.loop.stop()
        }
        _ = watch.setFolders([test.path("a"): .names(["wanted"])])
        try test.write("x", to: "a/other")
        try test.loop.runTurns(3)
        #expect(changes == 0)
        test.createFolder("a/wanted")
        try test.loop.runUntilStopped()
        #expect(changes == 1)
        rename(test.path("a"), test.path("c"))
        try test.loop.runUntilStopped()
        #expect(changes == 2)
    }

    @Test func `two paths to one folder share a watch, which ends with the last path`() throws {
        let test = try Bench()
        test.createFolder("a")
        #expect(symlink("a", test.path("link")) == 0)
        var changes = 0
        let watch = try FolderWatch(on: test.loop) {
            changes += 1
            test.loop.stop()
        }
        _ = watch.setFolders([test.path("a"): .names(["x"]), test.path("link"): .names(["y"])])
        try test.write("x", to: "a/y")
        try test.loop.runUntilStopped()
        _ = watch.setFolders([test.path("link"): .names(["z"])])
        try test.write("x", to: "a/z")
        try test.loop.runUntilStopped()
        #expect(changes == 2)
    }

    @Test func `the watches of a loop are independent and share one inotify instance`() throws {
        let test = try Bench()
        test.createFolder("a")
        let before = try instances()
        var reported: [String] = []
        var first: FolderWatch? = try FolderWatch(on: test.loop) { reported.append("first") }
        let second = try FolderWatch(on: test.loop) {
            reported.append("second")
            test.loop.stop()
        }
        #expect(try instances() == before + 1)
        #expect(first?.setFolders([test.path("a"): .names(["x"]), test.folder.path: .anything]) == true)
        #expect(second.setFolders([test.path("a"): .names(["x", "y"])]))
        try test.write("y", to: "a/y")
        try test.loop.runUntilStopped()
        #expect(reported == ["second"])
        try test.write("x", to: "a/x")
        try test.loop.runUntilStopped()
        #expect(reported.sorted() == ["first", "second", "second"])
        // A folder that one watch no longer needs is still watched for the other.
        first = nil
        reported = []
        try test.write("z", to: "z")
        try test.write("x", to: "a/x")
        try test.loop.runUntilStopped()
        #expect(reported == ["second"])
    }

    @Test func `a watch that is released by another one's handler is not notified`() throws {
        let test = try Bench()
        var reported: [String] = []
        var later: FolderWatch?
        let first = try FolderWatch(on: test.loop) {
            reported.append("first")
            later = nil
            test.loop.stop()
        }
        later = try FolderWatch(on: test.loop) { reported.append("later") }
        _ = first.setFolders([test.folder.path: .anything])
        _ = later?.setFolders([test.folder.path: .anything])
        try test.write("x", to: "x")
        try test.loop.runUntilStopped()
        #expect(reported == ["first"])
    }

    /// Returns the number of inotify instances of this process.
    private func instances() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == "anon_inode:inotify"
        }
    }

    @Test func `a program is an executable file, by path or in one of the folders`() throws {
        let test = try Bench()
        try test.write("#!/bin/sh", to: "run")
        try test.write("x", to: "text")
        chmod(test.path("run"), 0o700)
        test.createFolder("folder")
        let search = ProgramSearch(path: "relative:/nonexistent:\(test.folder.path)")
        #expect(search.find("run") == test.path("run"))
        #expect(search.find(test.path("run")) == test.path("run"))
        #expect(search.find("text") == nil)
        #expect(search.find("folder") == nil)
        #expect(search.find("../\(test.folder.path)/run") == nil)
        #expect(search.find("") == nil)
    }

    @Test func `a detached program gets its arguments and variables, and its exit is reported`() throws {
        let test = try Bench()
        // Any free number: a descriptor that the loop uses would be taken from it.
        let open = fcntl(1, F_DUPFD, 100)
        defer { close(open) }
        let script = #"printf '%s\n' "$1" "$VALUE" "$(pwd)" >out; [ ! -e /proc/self/fd/\#(open) ] && exit 7"#
        let started = try DetachedProgram.start(
            ["/bin/sh", "-c", script, "sh", "$HOME ;"], environment: ["VALUE": "a=b"], folder: test.folder.path)
        var status: Int32?
        try DetachedProgram(started, on: test.loop) {
            status = $0
            test.loop.stop()
        }
        try test.loop.runUntilStopped()
        #expect(status == 7)
        let out = try PlainFile.read(test.path("out"), limit: 1000).bytes
        #expect(String(decoding: out, as: UTF8.self) == "$HOME ;\na=b\n\(test.folder.path)\n")
        #expect(throws: Errno.noSuchFile) {
            _ = try DetachedProgram.start([test.path("none")], environment: [:], folder: "/")
        }
    }
}
