import CLinux
import Glibc

/// A listening TCP or unix socket on a loop. Used on the loop's thread only; dropping it ends it.
package final class Listener {
    /// One turn of the loop accepts at most this many connections, then looks at other descriptors.
    private static let connectionsPerTurn = 32
    /// How long to wait when descriptors or memory have run out: the connection stays in the kernel's queue, and a
    /// level-triggered loop would spin on it.
    private static let breather: Duration = .milliseconds(250)

    /// A connection, non-blocking, and for TCP where it comes from.
    package var onAccept: ((consuming Descriptor, SocketAddress?) -> Void)?
    /// Connections could not be accepted for lack of descriptors or memory; it goes on by itself.
    package var onShortage: ((Errno) -> Void)?

    private let loop: EventLoop
    private let socketFile: UnixSocketFile?
    private var descriptor: Descriptor?
    private var source: EventSource?
    private var timer: LoopTimer?
    private var isPaused = false

    /// Listens on a socket made by `BoundPort` or handed over by the service manager, whose file is never removed.
    /// - Throws: `invalidArgument` for a socket that does not listen, `notASocket` for what is none.
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

    /// Listens on a new unix socket, in a folder of mode 0700 that is ours; the file is removed at the end.
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

    /// The socket's number while it is open; it stays the listener's.
    package var rawDescriptor: Int32? { descriptor?.raw }

    /// The bound address and port, for TCP.
    package var localAddress: SocketAddress? {
        guard let raw = rawDescriptor else { return nil }
        return try? SocketAddress.local(of: raw)  // Fails for a unix socket only.
    }

    /// Leaves new connections in the kernel's queue, for example while there are too many.
    package func pause() {
        isPaused = true
        updateInterest()
    }

    /// Accepts again after `pause`.
    package func resume() {
        isPaused = false
        updateInterest()
    }

    /// Ends it. The file of a unix socket that we made is removed, unless somebody has replaced it.
    package func close() {
        source?.cancel()
        source = nil
        timer = nil
        // Removed before it is closed: who finds the file can connect.
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
                return breathe(error)
            case EAGAIN:
                return
            default:
                // EINTR, or the connection's own error (accept(2), "Error handling"): the next one may be well.
                continue
            }
        }
    }

    private func breathe(_ error: Errno) {
        timer = loop.timer(after: Self.breather) { [weak self] in
            self?.timer = nil
            self?.updateInterest()
        }
        updateInterest()
        onShortage?(error)
    }
}
