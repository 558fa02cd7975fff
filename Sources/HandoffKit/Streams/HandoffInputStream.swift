public import Foundation
import LoopIO

/// The incoming direction of a continuation stream. It must be opened, and eventually closed.
///
/// When scheduled on a run loop, it notifies its delegate of bytes and of the end. Otherwise,
/// `read` blocks on any thread until bytes arrive. At most one thread may use it at a time. The end
/// of the stream means that the other app ended its direction, or that the connection was lost. An
/// app that must distinguish these cases sends the length of its data first.
public final class HandoffInputStream: InputStream {
    private let side: StreamSide
    private weak var watcher: (any StreamDelegate)?

    init(_ socket: StreamSocket) {
        side = StreamSide(socket, .reading)
        super.init(data: Data())
        side.events.attach(self)
    }

    /// The connection, for the asynchronous interface.
    var socket: StreamSocket { side.socket }

    /// Opens the stream. It is already connected, so this never blocks.
    public override func open() { side.open() }

    /// Stops reading. The other app is not notified until the other direction is closed, too, which
    /// ends the stream. Until then its writes block once the buffers are full. A socket cannot
    /// signal the end of reading alone.
    public override func close() {
        if side.close() { side.socket.closeInput() }
    }

    /// Reads available bytes, blocking until there are some.
    /// - Returns: the number of bytes; 0 at the end; -1 if the stream is not open or has failed
    ///   (`streamError`).
    public override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        if side.status == .atEnd { return 0 }
        guard side.isUsable else { return -1 }
        guard length > 0 else { return 0 }
        side.disarm()
        let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: length)
        while true {
            switch side.socket.read(into: bytes) {
            case .moved(let count):
                side.arm()
                return count
            case .ended:
                side.end()
                return 0
            case .failed(let error):
                side.fail(error)
                return -1
            case .wouldBlock: side.socket.wait(for: .reading)
            }
        }
    }

    /// Returns false: there is no internal buffer to expose.
    public override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    /// A Boolean value that indicates whether `read` would return immediately, with bytes or the
    /// end.
    public override var hasBytesAvailable: Bool { side.isUsable && side.socket.isReady(.reading) }

    /// The current status.
    public override var streamStatus: Stream.Status { side.status }

    /// The error, in `NSPOSIXErrorDomain`, if the stream has failed.
    public override var streamError: (any Error)? { side.error }

    /// The delegate that is notified of events, on the run loop. A weak reference.
    public override var delegate: (any StreamDelegate)? {
        get { watcher }
        set { watcher = newValue }
    }

    /// Notifies the delegate of events on a run loop.
    public override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        side.events.add(aRunLoop, mode)
        side.arm()
    }

    /// Stops notifying the delegate of events on a run loop.
    public override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        side.events.remove(aRunLoop, mode)
    }

    /// Returns nil: there are no properties.
    public override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

    /// Returns false: there are no properties.
    public override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
