package import LoopIO

/// Memory that an app shares for the bytes of a stream, and the bells of both sides.
///
/// The app rings for either direction by a byte on the stream's own socket. This side rings there
/// for bytes, and at `roomBell` for room, because an app may read and write on two threads, each of
/// which waits at its own.
///
/// Unchecked: only one stream loop uses it at a time, the one whose connection owns the app's
/// socket.
final class LocalMemory: @unchecked Sendable {
    /// Bytes of the app's direction that it wrote to the socket earlier, and that precede those in
    /// the memory.
    let position: UInt64
    /// From the app.
    var reader: RingReader
    /// To the app.
    var writer: RingWriter
    private var roomBell: Descriptor?
    /// The process that may have passed descriptors at `roomBell`.
    private let passer: DescriptorSource

    init(_ passed: PassedMemory) throws(Errno) {
        guard let roomBell = passed.roomBell.take() else { throw .badDescriptor }
        position = passed.position
        reader = passed.memory.reader(as: .daemon)
        writer = passed.memory.writer(as: .daemon)
        self.roomBell = .some(roomBell)
        passer = passed.roomBell.passer
    }

    deinit {
        // Nothing is read there, but passed descriptors may be pending and delay closing.
        if let former = roomBell.take() { LocalSocket.close(former, from: passer) }
    }

    /// Notifies the app that there is room for more bytes.
    func ringForRoom() {
        if let raw = roomBell?.raw { Bell.ring(raw) }
    }
}

/// The parameters of an app's request to share memory for a stream.
package struct PassedMemory: Sendable {
    /// The result of the request.
    package enum Outcome: Sendable, Equatable {
        /// The memory is in use. The value is the number of bytes from the other side that were
        /// written to the socket earlier and precede those in the memory.
        case shared(received: UInt64)
        /// Rejected: this many bytes of the app's direction have already been sent.
        case positionPassed(UInt64)
        /// Rejected, for this reason.
        case failed(String)
    }

    /// Bytes of the app's direction written to the socket before those in the memory.
    package var position: UInt64
    /// The mapped memory.
    var memory: StreamMemory
    /// The app's bell for room, a unix stream socket.
    var roomBell: HandedDescriptor

    package init(position: UInt64, memory: StreamMemory, roomBell: HandedDescriptor) {
        self.position = position
        self.memory = memory
        self.roomBell = roomBell
    }
}
