import Glibc
import HandoffTestSupport
import Testing

@testable import LoopIO

@Suite(.timeLimit(.minutes(5))) struct ListenerTests {
    private let loop: EventLoop
    private let folder: ScratchFolder

    init() throws {
        loop = try EventLoop()
        folder = try ScratchFolder()
    }

    private var path: String { folder.path + "/test.socket" }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    @Test func `accepts on a unix socket that only this user may use`() throws {
        let listener = try Listener(unixPath: path, on: loop)
        #expect(mode(of: path) == 0o600)
        var credentials: PeerCredentials?
        listener.onAccept = { [loop] descriptor, address in
            #expect(address == nil)
            #expect(fcntl(descriptor.raw, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(descriptor.raw, F_GETFD) & FD_CLOEXEC != 0)
            credentials = try? PeerCredentials(of: descriptor.raw)
            loop.stop()
        }
        let client = try UnixSocket.connect(to: path)
        try loop.runUntilStopped()
        #expect(credentials == PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid()))
        listener.close()
        #expect(!exists(path))
        client.close()
    }

    @Test func `a missing folder is created for this user only`() throws {
        let inner = folder.path + "/made"
        let listener = try Listener(unixPath: inner + "/x.socket", on: loop)
        #expect(mode(of: inner) == 0o700)
        listener.close()
        rmdir(inner)
    }

    @Test(arguments: [0o701, 0o710, 0o755, 0o777] as [mode_t])
    func `a folder that others may enter is rejected`(_ mode: mode_t) throws {
        chmod(folder.path, mode)
        #expect {
            _ = try Listener(unixPath: path, on: loop)
        } throws: { error in
            guard case .unsafeFolder(folder.path, _)? = error as? SocketFileError else { return false }
            return true
        }
        #expect(!exists(path))
        chmod(folder.path, 0o700)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make a folder of another user"))
    func `a folder of another user is rejected`() throws {
        chown(folder.path, 12_345, 12_345)
        #expect {
            _ = try Listener(unixPath: path, on: loop)
        } throws: { error in
            error as? SocketFileError == .unsafeFolder(path: folder.path, reason: "it belongs to another user")
        }
        chown(folder.path, 0, 0)
    }

    @Test func `a link to a folder is rejected`() throws {
        let link = folder.path + "/link"
        let target = try ScratchFolder()
        symlink(target.path, link)
        #expect(throws: SocketFileError.self) {
            _ = try Listener(unixPath: link + "/x.socket", on: loop)
        }
        #expect(!exists(target.path + "/x.socket"))
    }

    @Test(arguments: ["", "relative/x.socket", "/tmp/\(String(repeating: "x", count: 120))/y", "/a\0b"])
    func `an invalid socket path is rejected`(_ path: String) throws {
        #expect(throws: SocketFileError.self) { _ = try Listener(unixPath: path, on: loop) }
    }

    @Test func `a live socket is not replaced`() throws {
        let listener = try Listener(unixPath: path, on: loop)
        #expect(throws: SocketFileError.inUse(path: path)) { _ = try Listener(unixPath: path, on: loop) }
        let client = try UnixSocket.connect(to: path)
        client.close()
        listener.close()
    }

    @Test func `a live socket with a full queue is not replaced`() throws {
        let listener = try Listener(unixPath: path, on: loop)
        var clients: [Int32] = []
        defer { for client in clients { close(client) } }
        do {
            while clients.count < 10_000 { clients.append(try UnixSocket.connect(to: path, timeout: .zero).release()) }
            Issue.record("the queue was never full")
        } catch {
            #expect(error == .wouldBlock)
        }
        #expect(throws: SocketFileError.inUse(path: path)) { _ = try Listener(unixPath: path, on: loop) }
        listener.close()
    }

    @Test func `a dead socket is replaced`() throws {
        let listener = try Listener(unixPath: path, on: loop)
        // A second name of the file outlives the listener, like the file of a killed daemon.
        let dead = folder.path + "/dead.socket"
        link(path, dead)
        listener.close()
        #expect(exists(dead))
        let successor = try Listener(unixPath: dead, on: loop)
        let client = try UnixSocket.connect(to: dead)
        client.close()
        successor.close()
        #expect(!exists(dead))
    }

    @Test func `a file that is not a socket is not changed`() throws {
        for make in [
            { path in mkdir(path, 0o700) }, { path in symlink("/nowhere", path) }, { path in creat(path, 0o600) },
        ]
            as [(String) -> Int32]
        {
            let result = make(path)
            try #require(result >= 0)
            #expect(throws: SocketFileError.notASocket(path: path)) { _ = try Listener(unixPath: path, on: loop) }
            var status = stat()
            #expect(lstat(path, &status) == 0)
            unlink(path)
            rmdir(path)
        }
    }

    @Test func `closing does not remove a successor's socket`() throws {
        let first = try Listener(unixPath: path, on: loop)
        unlink(path)
        let second = try Listener(unixPath: path, on: loop)
        first.close()
        #expect(exists(path))
        second.close()
        #expect(!exists(path))
    }

    @Test func `an adopted socket is never removed`() throws {
        let maker = try Listener(unixPath: path, on: loop)
        let raw = try #require(maker.rawDescriptor)
        let handedOver = Descriptor(owning: fcntl(raw, F_DUPFD, 0))
        // The first listener removes its own file when it closes, so the test gives the socket
        // another name.
        let other = folder.path + "/other.socket"
        link(path, other)
        maker.close()
        let listener = try Listener(adopting: handedOver, on: loop)
        var count = 0
        listener.onAccept = { [loop] _, _ in
            count += 1
            loop.stop()
        }
        let client = try UnixSocket.connect(to: other)
        try loop.runUntilStopped()
        #expect(count == 1)
        listener.close()
        #expect(exists(other))
        client.close()
    }

    @Test func `a socket that does not listen is not adopted`() throws {
        let pair = try Ends.sockets()
        #expect(throws: Errno.invalidArgument) { _ = try Listener(adopting: pair.takeFirst(), on: loop) }
        let pipe = try Ends.pipe()
        #expect(throws: Errno.notASocket) { _ = try Listener(adopting: pipe.takeFirst(), on: loop) }
    }

    @Test func `a paused listener leaves connections in the queue`() throws {
        let listener = try Listener(unixPath: path, on: loop)
        var count = 0
        listener.onAccept = { _, _ in
            count += 1
            listener.pause()
        }
        let first = try UnixSocket.connect(to: path)
        let second = try UnixSocket.connect(to: path)
        try loop.runTurns(20)
        #expect(count == 1)
        listener.resume()
        try loop.runTurns(20)
        #expect(count == 2)
        listener.close()
        first.close()
        second.close()
    }

    @Test func `a handler may close the listener`() throws {
        let listener = try Listener(unixPath: path, on: loop)
        var count = 0
        listener.onAccept = { _, _ in
            count += 1
            listener.close()
        }
        let first = try UnixSocket.connect(to: path)
        let second = try UnixSocket.connect(to: path)
        try loop.runTurns(20)
        #expect(count == 1)
        first.close()
        second.close()
    }

    @Test func `without free descriptors a listener waits instead of spinning`() async {
        // In a separate process, because the limit is process-wide.
        await #expect(processExitsWith: .success) {
            let clock = ManualClock()
            let loop = try EventLoop(clock: clock)
            let port = try BoundPort(port: 0, address: .loopbackIPv4)
            let number = port.port
            let listener = try Listener(adopting: port.tcp, on: loop)
            var accepted = 0
            var shortages: [Errno] = []
            listener.onAccept = { _, _ in accepted += 1 }
            listener.onShortage = { shortages.append($0) }
            let client = plainSocket(toPort: number, isBlocking: true)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var none = rlimit(rlim_cur: 3, rlim_max: limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            try loop.runTurns(50)
            precondition(shortages == [Errno(rawValue: EMFILE)], "\(shortages)")
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            clock.advance(by: .seconds(1))
            try loop.runTurns(10)
            precondition(accepted == 1)
            client.close()
        }
    }
}
