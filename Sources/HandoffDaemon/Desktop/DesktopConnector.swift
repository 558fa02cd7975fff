package import LoopIO

/// Connects to `handoff-desktop`, the program that gives the daemon access to the user's desktop.
/// Use on the daemon's loop.
///
/// The program listens on a socket of the service manager. If that socket does not exist, it is
/// started as a child process, and receives one end of a socket pair over its standard input for
/// each connection.
package final class DesktopConnector {
    /// A reason why there is no connection.
    package enum Problem: Error, Equatable, Sendable {
        /// The program cannot be reached now.
        case notReached(Errno)
        /// The program is not installed.
        case missing

        /// True if a later attempt can succeed.
        var isTransient: Bool { self != .missing }
    }

    private let loop: EventLoop
    private let log: Logger
    /// The socket of the service manager.
    private let path: String
    /// The program's absolute path and its arguments; nil if it must not be started.
    private let words: [String]?
    private let environment: [String: String]
    /// The stream that passes connections to the child; nil if there is no child.
    private var channel: ByteStream?

    /// - Parameters:
    ///   - path: The socket of the program.
    ///   - words: The command to start if the socket does not exist; nil to start nothing.
    ///   - environment: The environment of the started program.
    init(loop: EventLoop, log: Logger, path: String, words: [String]?, environment: [String: String]) {
        self.loop = loop
        self.log = log
        self.path = path
        self.words = words
        self.environment = environment
    }

    /// Opens a connection without blocking.
    func open() throws(Problem) -> Descriptor {
        do throws(Errno) {
            return try UnixSocket.connect(to: path, timeout: .zero)
        } catch {
            guard error == .noSuchFile || error == .nameTooLong else { throw .notReached(error) }
        }
        return try openChild()
    }

    /// Lets a child process exit after its pending calls.
    func close() {
        channel?.close()
        channel = nil
    }

    private func openChild() throws(Problem) -> Descriptor {
        do throws(Errno) {
            let channel = if let channel { channel } else { try start() }
            let pair = try Descriptor.socketPair()
            try channel.write([0], passing: pair.second)
            return pair.first
        } catch {
            throw error == .noSuchFile ? .missing : .notReached(error)
        }
    }

    private func start() throws(Errno) -> ByteStream {
        guard let words else { throw .noSuchFile }
        let pair = try Descriptor.socketPair()
        let started = try DetachedProgram.start(words, environment: environment, folder: "/", input: pair.second.raw)
        let stream = try ByteStream(pair.first, on: loop)
        channel = stream
        stream.onRead = { _ in }
        stream.onEnd = { [weak self, weak stream] in self?.lost(stream) }
        stream.onError = { [weak self, weak stream] _ in self?.lost(stream) }
        // Only reaps the process. Its connections report that it has ended.
        try DetachedProgram(started, on: loop) { [log] status in
            log.info("handoff-desktop has exited", ["status": "\(status)"])
        }
        return stream
    }

    private func lost(_ stream: ByteStream?) {
        guard stream === channel else { return }
        close()
    }
}
