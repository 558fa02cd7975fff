/// The four bytes that precede every element of a stream (`docs/protocol.md`, "Streams").
package enum StreamWord: Equatable, Sendable {
    /// Precedes this many bytes of data, 1 to `maxData`.
    case data(Int)
    /// Ends the direction.
    case end
    /// Ends the stream immediately, in both directions.
    case reset(StreamReset)

    /// The maximum number of data bytes in one frame.
    static let maxData = 1 << 20
    /// The length of a word in bytes.
    static let byteCount = 4
    /// The upper bits of reset words.
    private static let resetBase: UInt32 = 0xFFFF_FF00

    /// Decodes a word. Returns nil if it is invalid.
    package init?(_ word: UInt32) {
        switch word {
        case 0: self = .end
        case 1...UInt32(Self.maxData): self = .data(Int(word))
        case Self.resetBase...:
            self = .reset(StreamReset(rawValue: UInt8(truncatingIfNeeded: word)) ?? .unknown)
        default: return nil
        }
    }

    /// The word as a number, sent with the most significant byte first.
    package var word: UInt32 {
        switch self {
        // A count above `maxData` is a bug here, which the other side would detect.
        case .data(let count): UInt32(clamping: count)
        case .end: 0
        case .reset(let reset): Self.resetBase | UInt32(reset.rawValue)
        }
    }

    package var bytes: [UInt8] {
        let word = self.word
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> ($0 as UInt32)) }
    }
}
