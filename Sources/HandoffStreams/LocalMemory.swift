package import LoopIO

/// Memory that an app shares with us for the bytes of a stream, and the bells of both sides.
///
/// The app rings by a byte on the stream's own socket, whichever direction it means. We ring for bytes there too, and for room at
/// `roomBell`: an app may read and write on two threads, and each looks at its own.
///
/// Unchecked: one stream loop has it at a time, that of the connection to which the app's socket belongs.
final class LocalMemory: @unchecked Sendable {
    /// Bytes of our direction that the app has written to the socket before, and that come first.
    let position: UInt64
    /// From the app.
    var reader: RingReader
    /// To the app.
    var writer: RingWriter
    private var roomBell: Descriptor?
    /// Who may have passed descriptors there.
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
        // We read nothing there, but there may be descriptors whose closing waits.
        if let former = roomBell.take() { LocalSocket.close(former, from: passer) }
    }

    /// Tells the app that there is room for more of its bytes.
    func ringForRoom() {
        if let raw = roomBell?.raw { Bell.ring(raw) }
    }
}

/// What an app has passed to share memory for a stream.
package struct PassedMemory: Sendable {
    /// What becomes of it.
    package enum Outcome: Sendable, Equatable {
        /// It is in use. So many bytes of the other side were written to the socket before, and come first.
        case shared(received: UInt64)
        /// It was not taken: so many bytes of the app's direction have left already.
        case positionPassed(UInt64)
        /// It was not taken.
        case failed(String)
    }

    /// Bytes of the app's direction that it has written to the socket, before those in the memory.
    package var position: UInt64
    /// The memory, mapped.
    package var memory: StreamMemory
    /// The app's bell for room, a unix stream socket.
    package var roomBell: HandedDescriptor

    /// Memory for a stream.
    package init(position: UInt64, memory: StreamMemory, roomBell: HandedDescriptor) {
        self.position = position
        self.memory = memory
        self.roomBell = roomBell
    }
}
