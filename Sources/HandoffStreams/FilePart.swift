internal import Glibc
package import LoopIO

/// A part of one direction of a stream that uses a passed file instead of the app's socket.
package struct FilePart: Sendable {
    /// The direction of a part.
    package enum Direction: Sendable {
        /// To the other device.
        case send
        /// From the other device.
        case receive
    }

    /// The progress of a part. The last four cases end it, and no more events follow.
    package enum Event: Sendable, Equatable {
        /// The number of bytes moved so far: 0 when the part is accepted, then a few times a
        /// second.
        case moved(Int64)
        /// All bytes have moved.
        case done(Int64)
        /// The part was rejected: the direction is already past its position. The value is the
        /// current position.
        case positionPassed(UInt64)
        /// The part was rejected, or reading or writing failed after this many bytes. The latter
        /// ends the stream.
        case failed(Int64, String)
        /// The stream ended before the part did, after this many bytes.
        case over(Int64, StreamReport)
    }

    var direction: Direction
    /// The number of bytes of the direction before the part.
    package var position: UInt64
    /// The length in bytes; nil means up to the end of the file or of the direction.
    package var length: Int64?
    /// The file, checked by `PassedFile.check(for:)`.
    var file: PassedFile

    package init(direction: Direction, position: UInt64, length: Int64?, file: PassedFile) {
        self.direction = direction
        self.position = position
        self.length = length
        self.file = file
    }
}

/// A part in progress, to be used only on its stream's loop. One that is released early reports
/// nothing.
class RunningPart {
    /// The interval of progress reports.
    private static let interval = Duration.milliseconds(250)

    /// The number of bytes of the direction before the part.
    let position: UInt64
    /// The length in bytes; nil means up to the end.
    let length: Int64?
    /// The number of bytes read, or submitted for writing.
    fileprivate(set) var count: Int64 = 0
    private let report: (FilePart.Event) -> Void
    private var timer: LoopTimer?
    private var reported: Int64 = 0
    private var hasEnded = false

    fileprivate init(_ part: FilePart, on loop: EventLoop, report: @escaping (FilePart.Event) -> Void) {
        position = part.position
        length = part.length
        self.report = report
        timer = loop.timer(after: Self.interval, accuracy: .milliseconds(50)) { [weak self] in self?.tick() }
        // The part is accepted. An app that waits for this can now let the other side send.
        report(.moved(0))
    }

    /// The number of bytes still expected, at most `limit`.
    func remaining(upTo limit: Int) -> Int {
        guard let length else { return limit }
        return min(limit, Int(clamping: length - count))
    }

    /// True if all bytes of a known length have been processed.
    var isComplete: Bool { count == length }

    /// The number of bytes moved to or from the file.
    var moved: Int64 { count }

    /// Reports the end. Only the first call has an effect.
    func end(_ event: FilePart.Event) {
        guard !hasEnded else { return }
        hasEnded = true
        timer = nil
        report(event)
    }

    private func tick() {
        if moved != reported {
            reported = moved
            report(.moved(moved))
        }
        timer?.rearm(after: Self.interval)
    }
}

/// A file that is being sent.
final class SendingPart: RunningPart {
    let reader: FileReader

    init(sending part: FilePart, on loop: EventLoop, report: @escaping (FilePart.Event) -> Void) throws(Errno) {
        reader = try FileReader(part.file, length: part.length, on: loop)
        super.init(part, on: loop, report: report)
    }

    func sent(_ count: Int) {
        self.count += Int64(count)
    }
}

/// A file to which received bytes are written.
final class ReceivingPart: RunningPart {
    let writer: FileWriter
    private var timeoutTimer: LoopTimer?

    init(receiving part: FilePart, on loop: EventLoop, report: @escaping (FilePart.Event) -> Void) throws(Errno) {
        writer = try FileWriter(part.file, on: loop)
        super.init(part, on: loop, report: report)
    }

    override var moved: Int64 { writer.written }

    /// Writes what was received before the stream ended, within a time limit. Without the limit, a
    /// pipe that is not read would leave its call without a reply and keep its thread alive.
    func finish(over report: StreamReport, within timeout: Duration, on loop: EventLoop) {
        writer.finish { [self] _ in
            end(.over(moved, report))
            timeoutTimer = nil
        }
        timeoutTimer = loop.timer(after: timeout) { [self] in giveUp(report) }
    }

    private func giveUp(_ report: StreamReport) {
        writer.cancel()
        end(.over(moved, report))
        timeoutTimer = nil
    }

    /// Submits bytes for writing. Returns the number accepted.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let wanted = remaining(upTo: bytes.count)
        guard wanted > 0 else { return 0 }
        let taken = writer.write(UnsafeRawBufferPointer(rebasing: bytes[..<wanted]))
        count += Int64(taken)
        return taken
    }
}
