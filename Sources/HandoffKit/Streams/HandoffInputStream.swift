public import Foundation
import LoopIO

/// What the other app sends over a continuation stream. It must be opened, and closed in the end.
///
/// Scheduled on a run loop it tells its delegate of bytes and of the end; `read` on any thread waits for bytes otherwise. One
/// thread at a time. An end means that the other app ended its direction, or that the connection was cut: an app that must tell
/// these apart sends how much it is going to send.
public final class HandoffInputStream: InputStream {
    private let side: StreamSide
    private weak var watcher: (any StreamDelegate)?

    init(_ socket: StreamSocket) {
        side = StreamSide(socket, .reading)
        super.init(data: Data())
        side.events.attach(self)
    }

    /// The connection, for the asynchronous form.
    var socket: StreamSocket { side.socket }

    /// Opens it. It is connected already, so this never waits.
    public override func open() { side.open() }

    /// Reads no more. The other app is not told before the other direction is closed, too, which ends the stream: until then its
    /// writes wait once what lies between is full. A socket has no way to say it by itself.
    public override func close() {
        if side.close() { side.socket.closeInput() }
    }

    /// Reads some bytes, and waits for the first of them.
    /// - Returns: how many; 0 at the end; -1 when it is not open, or has failed (`streamError`).
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

    /// There is no buffer to lend.
    public override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    /// Whether `read` would return at once, with bytes or the end.
    public override var hasBytesAvailable: Bool { side.isUsable && side.socket.isReady(.reading) }

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
