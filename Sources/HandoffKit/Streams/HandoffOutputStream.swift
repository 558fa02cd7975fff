public import Foundation
import LoopIO

/// What is sent to the other app over a continuation stream. It must be opened, and closed in the end, which is how the other app
/// learns of the end.
///
/// Scheduled on a run loop it tells its delegate when there is room; `write` on any thread waits for room otherwise. One thread
/// at a time.
public final class HandoffOutputStream: OutputStream {
    private let side: StreamSide
    private weak var watcher: (any StreamDelegate)?

    init(_ socket: StreamSocket) {
        side = StreamSide(socket, .writing)
        super.init(toMemory: ())
        side.events.attach(self)
    }

    /// Not for apps: Foundation asks for it. It makes a stream that is not connected to anything.
    public required init(toMemory: ()) {
        misuse("a HandoffOutputStream comes with a continuation")
    }

    /// Opens it. It is connected already, so this never waits.
    public override func open() { side.open() }

    /// Ends our direction: the other app reads an end of file behind what was written.
    public override func close() {
        if side.close() { side.socket.closeOutput() }
    }

    /// Writes some bytes, and waits for room for the first of them.
    /// - Returns: how many; -1 when it is not open, or has failed (`streamError`).
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

    /// Whether `write` would return at once.
    public override var hasSpaceAvailable: Bool { side.isUsable && side.socket.isReady(.writing) }

    /// What state it is in.
    public override var streamStatus: Stream.Status { side.status }

    /// Why it failed, of `NSPOSIXErrorDomain`.
    public override var streamError: (any Error)? { side.error }

    /// Who is told of events, on the run loop. Not kept alive.
    public override var delegate: (any StreamDelegate)? {
        get { watcher }
        set { watcher = newValue }
    }

    /// Tells the delegate of events on a run loop from now on.
    public override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        side.events.add(aRunLoop, mode)
        side.arm()
    }

    /// Tells the delegate of events on that run loop no more.
    public override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        side.events.remove(aRunLoop, mode)
    }

    /// It has no properties.
    public override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

    /// It has no properties.
    public override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
