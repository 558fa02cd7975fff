/// A drawing as it goes over a stream: how many bytes it is, as eight bytes with the highest first, and its text. So
/// who receives it knows whether it is all there; a stream that ends does not say that.
enum DrawingFrame {
    /// More than this is refused, before memory is taken for it: 256 MiB.
    static let largest = 256 * 1024 * 1024

    /// The bytes that are sent.
    static func bytes(_ drawing: Drawing) -> [UInt8] {
        let text = drawing.text
        return (0..<8).map { UInt8(truncatingIfNeeded: text.count >> (56 - $0 * 8)) } + text
    }

    /// Why what comes is no drawing.
    enum Problem: Error, Equatable, CustomStringConvertible {
        /// It says that it is more than may come, or nothing.
        case size(UInt64)
        /// The stream has ended before all was there.
        case cut(received: Int, of: Int)
        /// All of it came, and is no drawing.
        case content(Drawing.Problem)
        /// The stream has failed.
        case stream(String)

        var description: String {
            switch self {
            case .size(let size): "a drawing cannot be of \(size) bytes"
            case .cut(let received, let size): "the stream ended after \(received) of \(size) bytes"
            case .content(let problem): "what came is no drawing: \(problem)"
            case .stream(let reason): "the stream has failed: \(reason)"
            }
        }
    }

    /// Puts a drawing together from pieces, however it is cut.
    struct Reader {
        private var head: [UInt8] = []
        private var size: Int?
        private var body: [UInt8] = []

        /// Whether all bytes are there.
        var isComplete: Bool { size.map { body.count >= $0 } ?? false }

        /// Takes a piece. What comes behind the drawing is ignored.
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

        /// The drawing, once the stream has ended or all is there.
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
