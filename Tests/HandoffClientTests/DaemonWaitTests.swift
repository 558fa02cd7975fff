import Foundation
import HandoffClient
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct DaemonWaitTests {
    /// A delay longer than any test.
    private static let hours = Backoff(first: .seconds(36_000), maxDelay: .seconds(36_000))

    @Test(arguments: ["app.socket", "/app.socket", "", "handoff/app.socket"])
    func `a wait accepts any path`(path: String) throws {
        let test = try LoopTest()
        var backoff = Self.hours
        let wait = DaemonWait(for: path, on: test.loop) { _ in }
        wait.wait(&backoff)
        try test.loop.runTurns(2)
    }

    @Test func `a socket that appears ends the wait`() throws {
        let test = try LoopTest()
        let path = test.folder.file("app.socket")
        var backoff = Self.hours
        var daemon: FakeDaemon?
        let wait = DaemonWait(for: path, on: test.loop) { appeared in
            #expect(appeared)
            test.end()
        }
        wait.wait(&backoff)
        test.loop.later { daemon = try? FakeDaemon(path: path, loop: test.loop) }
        try test.run()
        withExtendedLifetime(daemon) {}
    }

    @Test func `the folder of the socket may be missing at first`() throws {
        let test = try LoopTest()
        let folder = test.folder.file("handoff-app")
        var backoff = Self.hours
        var daemon: FakeDaemon?
        let wait = DaemonWait(for: folder + "/app.socket", on: test.loop) { _ in test.end() }
        wait.wait(&backoff)
        test.loop.later {
            try? FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        try test.run()
        wait.wait(&backoff)
        test.loop.later { daemon = try? FakeDaemon(path: folder + "/app.socket", loop: test.loop) }
        try test.run()
        withExtendedLifetime(daemon) {}
    }

    @Test func `attempts are a minute apart while the folder is watched`() throws {
        let clock = ManualClock()
        let test = try LoopTest(clock: clock)
        var backoff = Backoff(first: .seconds(1), maxDelay: .seconds(2))
        var attempts = 0
        let wait = DaemonWait(for: test.folder.file("app.socket"), on: test.loop) { appeared in
            #expect(!appeared)
            attempts += 1
        }
        for (delay, seconds) in [(1, 1), (60, 59)] {
            wait.wait(&backoff)
            clock.advance(by: .seconds(seconds))
            try test.loop.runTurns(5)
            #expect(attempts == 1, "\(delay)")
        }
        clock.advance(by: .seconds(1))
        try test.loop.runTurns(5)
        #expect(attempts == 2)
    }
}
