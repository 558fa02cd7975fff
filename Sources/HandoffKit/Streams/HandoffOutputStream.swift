public import Foundation
import LoopIO

/// The outgoing direction of a continuation stream. It must be opened, and eventually closed, which
/// signals the end to the other app.
///
/// When scheduled on a run loop, it notifies its delegate of available space. Otherwise, `write`
/// blocks on any thread until there is space. At most one thread may use it at a time.
public final class HandoffOutputStream: OutputStream {
    private let side: StreamSide
    private weak var watcher: (any StreamDelegate)?

    init(_ socket: StreamSocket) {
        side = StreamSide(socket, .writing)
        super.init(toMemory: ())
        side.events.attach(self)
    }

    /// Required by Foundation. Apps must not call it: the process ends.
    public required init(toMemory: ()) {
        misuse("a HandoffOutputStream can only be created by a continuation")
    }

    /// Opens the stream. It is already connected, so this never blocks.
    public override func open() { side.open() }

    /// Ends the outgoing direction: the other app reads an end of stream after the written bytes.
    public override func close() {
        if side.close() { side.socket.closeOutput() }
    }

    /// Writes as many bytes as fit, blocking until there is space for at least one.
    /// - Returns: the number of bytes; -1 if the stream is not open or has failed (`streamError`).
    public override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
        guard side.isUsable else { return -1 }
        guard length > 0 else { return 0 }
        side.disarm()
        let bytes = UnsafeRawBufferPointer(start: buffer, count: length)
        while true {
            switch side.socket.write(bytes) {
            case .moved(let count):
                side.arm()
                return count
            case .ended:
                side.fail(.brokenPipe)
                return -1
            case .failed(let error):
                side.fail(error)
                return -1
            case .wouldBlock: side.socket.wait(for: .writing)
            }
        }
    }

    /// A Boolean value that indicates whether `write` would return immediately.
    public override var hasSpaceAvailable: Bool { side.isUsable && side.socket.isReady(.writing) }

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
