/// The four bytes before everything that a stream carries (`docs/protocol.md`, "Streams").
package enum StreamWord: Equatable, Sendable {
    /// So many bytes of data follow, 1 to `maxData`.
    case data(Int)
    /// The direction ends here.
    case end
    /// The stream is over at once, in both directions.
    case reset(StreamReset)

    /// The most bytes that one frame carries.
    package static let maxData = 1 << 20
    /// How long a word is.
    package static let byteCount = 4
    /// The words of resets begin with these bits.
    private static let resetBase: UInt32 = 0xFFFF_FF00

    /// Reads a word; nil for one that has no meaning.
    package init?(_ word: UInt32) {
        switch word {
        case 0: self = .end
        case 1...UInt32(Self.maxData): self = .data(Int(word))
        case Self.resetBase...:
            self = .reset(StreamReset(rawValue: UInt8(truncatingIfNeeded: word)) ?? .unknown)
        default: return nil
        }
    }

    /// The word as a number; it is sent with the most significant byte first.
    package var word: UInt32 {
        switch self {
        // More than `maxData` is a bug of ours that the other side would notice.
        case .data(let count): UInt32(clamping: count)
        case .end: 0
        case .reset(let reset): Self.resetBase | UInt32(reset.rawValue)
        }
    }

    /// The four bytes that are sent.
    package var bytes: [UInt8] {
        let word = self.word
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> ($0 as UInt32)) }
    }
}
