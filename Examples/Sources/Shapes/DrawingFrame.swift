/// A drawing as sent over a stream: its length as eight bytes, highest first, and its text. The
/// length shows the receiver whether the drawing is complete; the end of the stream does not.
enum DrawingFrame {
    /// The maximum size, 256 MiB. Anything larger is refused before memory is allocated.
    static let largest = 256 * 1024 * 1024

    static func bytes(_ drawing: Drawing) -> [UInt8] {
        let text = drawing.text
        return (0..<8).map { UInt8(truncatingIfNeeded: text.count >> (56 - $0 * 8)) } + text
    }

    /// An error in a received drawing.
    enum Problem: Error, Equatable, CustomStringConvertible {
        /// The announced size is zero or exceeds the maximum.
        case size(UInt64)
        /// The stream ended before the drawing was complete.
        case cut(received: Int, of: Int)
        /// The drawing was received completely, but is invalid.
        case content(Drawing.Problem)
        case stream(String)

        var description: String {
            switch self {
            case .size(let size): "a drawing cannot have \(size) bytes"
            case .cut(let received, let size): "the stream ended after \(received) of \(size) bytes"
            case .content(let problem): "the received data is not a drawing: \(problem)"
            case .stream(let reason): "the stream has failed: \(reason)"
            }
        }
    }

    /// Assembles a drawing from pieces of any size.
    struct Reader {
        private var head: [UInt8] = []
        private var size: Int?
        private var body: [UInt8] = []

        /// True if all bytes have been received.
        var isComplete: Bool { size.map { body.count >= $0 } ?? false }

        /// Appends received bytes. Bytes after the drawing are ignored.
        /// - Throws: `size`.
        mutating func received(_ bytes: ArraySlice<UInt8>) throws(Problem) {
            let missing = min(8 - head.count, bytes.count)
            head += bytes.prefix(missing)
            guard head.count == 8 else { return }
            if size == nil {
                let announced = head.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                guard announced > 0, announced <= UInt64(DrawingFrame.largest) else { throw .size(announced) }
                size = Int(announced)
            }
            guard let size else { return }
            body += bytes.dropFirst(missing).prefix(size - body.count)
        }

        /// Returns the drawing, after the stream has ended or all bytes have been received.
        /// - Throws: `cut` and `content`.
        func drawing() throws(Problem) -> Drawing {
            guard isComplete else { throw .cut(received: body.count, of: size ?? 0) }
            do throws(Drawing.Problem) {
                return try Drawing(text: body)
            } catch {
                throw .content(error)
            }
        }
    }
}
