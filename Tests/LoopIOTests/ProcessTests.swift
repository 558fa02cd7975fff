import Glibc
import Testing

@testable import LoopIO

/// Tests of process-wide state, each in a separate process.
@Suite(.timeLimit(.minutes(5))) struct ProcessTests {
    @Test func `a signal reaches the loop`() async {
        await #expect(processExitsWith: .success) {
            try ProcessSignals.prepare(blocking: [SIGUSR1, SIGTERM])
            let loop = try EventLoop()
            var seen: [Int32] = []
            let first = try loop.signal(SIGUSR1) {
                seen.append(SIGUSR1)
                pthread_kill(pthread_self(), SIGTERM)
            }
            let second = try loop.signal(SIGTERM) {
                seen.append(SIGTERM)
                loop.stop()
            }
            pthread_kill(pthread_self(), SIGUSR1)
            try loop.run()
            precondition(seen == [SIGUSR1, SIGTERM])
            first.cancel()
            second.cancel()
        }
    }

    @Test func `a signal that is not blocked is rejected`() throws {
        let error = Locked<Errno?>(nil)
        // A separate thread, because those of the test runner block signals.
        let thread = try OwnedThread(name: "signals") {
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, SIGUSR2)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            do throws(Errno) {
                try EventLoop().signal(SIGUSR2) {}.cancel()
            } catch let caught {
                error.withLock { $0 = caught }
            }
        }
        thread.join()
        #expect(error.withLock { $0 } == Errno(rawValue: EBUSY))
    }

    @Test func `a write to a closed pipe is an error`() async {
        await #expect(processExitsWith: .success) {
            try ProcessSignals.prepare(blocking: [])
            let ends = try Ends.pipe()
            ends.closeFirst()
            precondition(write(ends.second, [1], 1) == -1 && errno == EPIPE)
        }
    }

    @Test func `without a service manager calls have no effect`() async {
        await #expect(processExitsWith: .success) {
            for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID"] {
                unsetenv(name)
            }
            precondition(!ServiceManager.notify("READY=1"))
            precondition(ServiceManager.listenDescriptors() == [])
            let isWatched = try EventLoop().startWatchdog()
            precondition(!isWatched)
        }
    }

    @Test func `the loop sends watchdog notifications`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let manager = try NotifySocket(path: folder.path + "/notify")
            setenv("WATCHDOG_USEC", "200000", 1)
            setenv("WATCHDOG_PID", "\(getpid())", 1)
            let loop = try EventLoop()
            precondition(ServiceManager.notify("READY=1\nSTATUS=Testing"))
            precondition(manager.receive() == "READY=1\nSTATUS=Testing")
            let isWatched = try loop.startWatchdog()
            precondition(isWatched)
            var messages: [String] = []
            let source = try loop.watch(manager.descriptor.raw, .readable) { _ in
                messages.append(manager.receive())
                if messages.count == 3 { loop.stop() }
            }
            try loop.runUntilStopped()
            precondition(messages == Array(repeating: "WATCHDOG=1", count: 3))
            source.cancel()
        }
    }

    @Test func `sockets of the service manager keep name and path`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let loop = try EventLoop()
            let path = folder.path + "/control.socket"
            let listener = try Listener(unixPath: path, on: loop)
            let port = try BoundPort(port: 0)
            guard let raw = listener.rawDescriptor else { preconditionFailure() }
            // The service manager passes them from 3 on. Move other descriptors with these numbers.
            let unix = fcntl(raw, F_DUPFD, 100)
            let tcp = fcntl(port.tcp.raw, F_DUPFD, 100)
            precondition(dup2(unix, 3) == 3 && dup2(tcp, 4) == 4)
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "2", 1)
            setenv("LISTEN_FDNAMES", "control:peers", 1)
            let passed = ServiceManager.listenDescriptors()
            precondition(
                passed == [
                    PassedSocket(name: "control", path: path, descriptor: 3),
                    PassedSocket(name: "peers", path: nil, descriptor: 4),
                ])
            precondition(fcntl(3, F_GETFD) & FD_CLOEXEC != 0)
            precondition(getenv("LISTEN_FDS") == nil)
            exit(0)
        }
    }
}

/// The service manager's end of sd_notify(3).
private final class NotifySocket {
    let descriptor: Descriptor

    init(path: String) throws {
        descriptor = Descriptor(owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let raw = descriptor.raw
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(raw, $0, 110) }
        }
        precondition(result == 0)
        setenv("NOTIFY_SOCKET", path, 1)
    }

    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 1_000)
        let count = recv(descriptor.raw, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
