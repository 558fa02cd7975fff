import CLinux
import Glibc

/// A listening TCP or unix socket on an event loop. Use it on the loop's thread only. Releasing it
/// closes the socket.
package final class Listener {
    /// The maximum number of connections accepted per turn of the loop.
    private static let connectionsPerTurn = 32
    /// The delay before accepting again after descriptors or memory have run out. The connection
    /// stays in the kernel's queue, and a level-triggered loop would otherwise spin on it.
    private static let shortageDelay: Duration = .milliseconds(250)

    /// Called with a non-blocking connection and, for TCP, the peer's address.
    package var onAccept: ((consuming Descriptor, SocketAddress?) -> Void)?
    /// Called when descriptors or memory have run out. The listener retries automatically.
    package var onShortage: ((Errno) -> Void)?

    private let loop: EventLoop
    private let socketFile: UnixSocketFile?
    private var descriptor: Descriptor?
    private var source: EventSource?
    private var timer: LoopTimer?
    private var isPaused = false

    /// Listens on a socket that was created by `BoundPort` or passed by the service manager. Its
    /// file is never removed.
    /// - Throws: `invalidArgument` if the socket does not listen, `notASocket` if the descriptor is
    ///   not a socket.
    package convenience init(adopting descriptor: consuming Descriptor, on loop: EventLoop) throws(Errno) {
        let raw = descriptor.raw
        var isListening: Int32 = 0
        var size = UInt32(MemoryLayout<Int32>.size)
        try SystemCall.retrying { getsockopt(raw, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) }
        guard isListening != 0 else { throw .invalidArgument }
        try SystemCall.setNonBlocking(raw)
        try SystemCall.setCloseOnExec(raw)
        try self.init(descriptor, file: nil, on: loop)
    }

    /// Listens on a new unix socket in a folder of mode 0700 that belongs to this user. The file is
    /// removed when the listener closes.
    package convenience init(unixPath path: String, on loop: EventLoop) throws(SocketFileError) {
        var socket = try UnixSocket.listen(at: path)
        do throws(Errno) {
            try self.init(socket.takeDescriptor(), file: socket.file, on: loop)
        } catch {
            throw .system("watch control socket \(path)", error)
        }
    }

    private init(_ descriptor: consuming Descriptor, file: UnixSocketFile?, on loop: EventLoop) throws(Errno) {
        let raw = descriptor.raw
        self.loop = loop
        socketFile = file
        self.descriptor = consume descriptor
        source = try loop.watch(raw, .readable) { [weak self] _ in self?.accept() }
    }

    deinit {
        close()
    }

    /// The socket's number while it is open. The listener still owns it.
    var rawDescriptor: Int32? { descriptor?.raw }

    /// The bound address and port of a TCP socket.
    package var localAddress: SocketAddress? {
        guard let raw = rawDescriptor else { return nil }
        return try? SocketAddress.local(of: raw)  // Fails only for a unix socket.
    }

    /// Stops accepting, for example while there are too many connections. New connections stay in
    /// the kernel's queue.
    package func pause() {
        isPaused = true
        updateInterest()
    }

    /// Resumes accepting after `pause`.
    package func resume() {
        isPaused = false
        updateInterest()
    }

    /// Closes the socket. The file of a unix socket created here is removed, unless another process
    /// has replaced it.
    package func close() {
        source?.cancel()
        source = nil
        timer = nil
        // Before closing: every process that finds the file can connect.
        if descriptor != nil { socketFile?.remove() }
        descriptor = nil
        onAccept = nil
        onShortage = nil
    }

    private func updateInterest() {
        source?.setEvents(isPaused || timer != nil ? [] : .readable)
    }

    private func accept() {
        for _ in 0..<Self.connectionsPerTurn {
            guard let raw = rawDescriptor, !isPaused else { return }
            var storage = sockaddr_storage()
            var length = UInt32(MemoryLayout<sockaddr_storage>.size)
            let accepted = clinux_accept(raw, &storage, &length)
            if accepted >= 0 {
                onAccept?(Descriptor(owning: accepted), SocketAddress(storage: storage, length: length))
                continue
            }
            let error = Errno.current
            switch error.rawValue {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                return pauseForShortage(error)
            case EAGAIN:
                return
            default:
                // EINTR, or an error of this connection only (accept(2), "Error handling"): the
                // next one may succeed.
                continue
            }
        }
    }

    private func pauseForShortage(_ error: Errno) {
        timer = loop.timer(after: Self.shortageDelay) { [weak self] in
            self?.timer = nil
            self?.updateInterest()
        }
        updateInterest()
        onShortage?(error)
    }
}
