internal import Glibc
package import LoopIO

/// A part of one direction of a stream that is read from a passed file, or written to one, in place of the app's socket.
package struct FilePart: Sendable {
    /// Which direction it belongs to.
    package enum Direction: Sendable {
        /// To the other device.
        case send
        /// From the other device.
        case receive
    }

    /// What becomes of it; the last four end it, and nothing follows.
    package enum Event: Sendable, Equatable {
        /// So many bytes have moved so far: none when the part was taken, then a few times a second.
        case moved(Int64)
        /// All bytes have moved.
        case done(Int64)
        /// It was not taken: the direction is past its position, which is this.
        case positionPassed(UInt64)
        /// It was not taken, or reading or writing failed after so many bytes; by the latter the stream is over.
        case failed(Int64, String)
        /// The stream was over before, after so many bytes.
        case over(Int64, StreamReport)
    }

    /// Which direction it belongs to.
    package var direction: Direction
    /// Bytes of the direction before it.
    package var position: UInt64
    /// How many bytes; nil: to the file's end, or to the end of the direction.
    package var length: Int64?
    /// The file, checked with `PassedFile.check(for:)`.
    package var file: PassedFile

    /// A part of a direction.
    package init(direction: Direction, position: UInt64, length: Int64?, file: PassedFile) {
        self.direction = direction
        self.position = position
        self.length = length
        self.file = file
    }
}

/// A part under way. On its stream's loop only; one that is dropped without an end reports nothing.
class RunningPart {
    /// How often progress is reported.
    private static let interval = Duration.milliseconds(250)

    /// Bytes of the direction before it.
    let position: UInt64
    /// How many bytes; nil: to the end.
    let length: Int64?
    /// Bytes that were read, or given to be written.
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
        // It has its place: an app that waits for this can let the other side send.
        report(.moved(0))
    }

    /// How many bytes may still come, none above `limit`.
    func remaining(upTo limit: Int) -> Int {
        guard let length else { return limit }
        return min(limit, Int(clamping: length - count))
    }

    /// Whether all bytes of a known length have come.
    var isComplete: Bool { count == length }

    /// How many bytes have moved to or from the file.
    var moved: Int64 { count }

    /// Reports the end; once.
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

/// A file whose bytes are sent.
final class SendingPart: RunningPart {
    let reader: FileReader

    init(sending part: FilePart, on loop: EventLoop, report: @escaping (FilePart.Event) -> Void) throws(Errno) {
        reader = try FileReader(part.file, length: part.length, on: loop)
        super.init(part, on: loop, report: report)
    }

    /// Bytes of the file were sent.
    func sent(_ count: Int) {
        self.count += Int64(count)
    }
}

/// A file to which arriving bytes are written.
final class ReceivingPart: RunningPart {
    let writer: FileWriter
    private var timeoutTimer: LoopTimer?

    init(receiving part: FilePart, on loop: EventLoop, report: @escaping (FilePart.Event) -> Void) throws(Errno) {
        writer = try FileWriter(part.file, on: loop)
        super.init(part, on: loop, report: report)
    }

    override var moved: Int64 { writer.written }

    /// The stream is over: what came before is still written, but nobody waits for a slow reader of a pipe much longer.
    /// Without this limit, a pipe that is not read would keep its call unanswered and its thread alive.
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

    /// Gives bytes to be written. Returns how many were taken.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let wanted = remaining(upTo: bytes.count)
        guard wanted > 0 else { return 0 }
        let taken = writer.write(UnsafeRawBufferPointer(rebasing: bytes[..<wanted]))
        count += Int64(taken)
        return taken
    }
}
