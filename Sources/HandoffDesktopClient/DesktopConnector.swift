package import HandoffLog
package import LoopIO

/// How the program is reached that speaks to the user's desktop for this one (`handoff-desktop`). On the daemon's loop.
///
/// It listens at a socket of the service manager's. Where there is no such socket it is started as a part of this process, and
/// gets one end of a socket pair for each connection over its standard input.
package final class DesktopConnector {
    /// Why there is no connection.
    package enum Problem: Error, Equatable, Sendable {
        /// It is not there at the moment.
        case notReached(Errno)
        /// It is not installed.
        case missing

        /// Whether it may be there later.
        var isPassing: Bool { self != .missing }
    }

    private let loop: EventLoop
    private let log: Logger
    /// The socket of the service manager's.
    private let path: String
    /// The program and its arguments, the first by absolute path; nil: it is not started by us.
    private let words: [String]?
    private let environment: [String: String]
    /// What the child takes connections from; nil while there is none.
    private var channel: ByteStream?

    /// - Parameters:
    ///   - path: where it listens.
    ///   - words: how it is started where it does not; nil where it must not be.
    ///   - environment: the variables that it gets then.
    package init(loop: EventLoop, log: Logger, path: String, words: [String]?, environment: [String: String]) {
        self.loop = loop
        self.log = log
        self.path = path
        self.words = words
        self.environment = environment
    }

    /// Makes a connection, without waiting for anybody.
    package func open() throws(Problem) -> Descriptor {
        do throws(Errno) {
            return try UnixSocket.connect(to: path, timeout: .zero)
        } catch {
            guard error == .noSuchFile || error == .nameTooLong else { throw .notReached(error) }
        }
        return try openChild()
    }

    /// Lets the child end, if there is one: it finishes what it was told.
    package func close() {
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
        // For the sake of the dead process alone: of its end the connections tell.
        try DetachedProgram(started, on: loop) { [log] status in
            log.info("The program for the desktop has ended", ["status": "\(status)"])
        }
        return stream
    }

    private func lost(_ stream: ByteStream?) {
        guard stream === channel else { return }
        close()
    }
}
