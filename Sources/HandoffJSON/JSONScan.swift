/// A pass over a text that knows no more grammar than strings and brackets, before jansson recurses into it.
///
/// It checks depth and numbers of members and values, exactly for every prefix that jansson accepts, so whatever is
/// built is within the limits. And it takes long plain strings out of the text: jansson looks at every byte of a
/// string several times, and they are most of a payload.
struct JSONScan {
    /// A string that was taken out; the text for jansson has an empty one in its place.
    struct Cut {
        /// How many string values come before it.
        let ordinal: Int
        /// Where its first byte is in the original text.
        let position: Int
        /// What it says.
        let text: String
    }

    /// Shorter strings are not worth it, in bytes.
    private static let shortestCut = 16

    /// The strings that were taken out, in the order of the text.
    private(set) var cuts: [Cut] = []
    /// The text without them; empty when there are none.
    private(set) var reduced: [UInt8] = []
    private var copied = 0
    private var stringValues = 0

    /// Scans a whole text.
    init(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) {
        guard text.count <= limits.bytes else { throw .tooLarge }
        // Separators seen so far in each open array or object.
        var separators: [Int] = []
        separators.reserveCapacity(limits.depth)
        var current = 0
        var values = 1
        var position = 0
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                position = passString(in: text, from: position + 1)
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                guard separators.count < limits.depth else { throw .tooDeep }
                separators.append(current)
                current = 0
                values += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                guard let outer = separators.popLast() else {
                    throw .syntax(message: "unexpected closing bracket", position: position)
                }
                current = outer
            case UInt8(ascii: ","):
                current += 1
                values += 1
                guard current < limits.members else { throw .tooManyMembers }
            case 0:
                // jansson overlooks a NUL after a number or a literal.
                throw .syntax(message: "NUL", position: position)
            default:
                break
            }
            guard values <= limits.values else { throw .tooManyValues }
            position += 1
        }
        if !cuts.isEmpty { reduced.append(contentsOf: text[copied...]) }
    }

    /// Where a byte of the reduced text is in the original.
    func originalPosition(_ position: Int) -> Int {
        var original = position
        for cut in cuts where cut.position <= original { original += cut.text.utf8.count }
        return original
    }

    /// Passes a string that begins after its opening quote; returns the position after the closing one.
    private mutating func passString(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let end = Self.closingQuote(in: text, from: start) else { return text.count }
        guard !Self.isKey(endingAt: end, in: text) else { return end + 1 }
        if end - start >= Self.shortestCut, let plain = String(plain: UnsafeBufferPointer(rebasing: text[start..<end]))
        {
            cuts.append(Cut(ordinal: stringValues, position: start, text: plain))
            reduced.append(contentsOf: text[copied..<start])
            copied = end
        }
        stringValues += 1
        return end + 1
    }

    /// A quote after an odd number of backslashes is part of the string. Each byte is looked at twice at most.
    private static func closingQuote(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var position = start
        while let quote = text.firstIndex(of: UInt8(ascii: "\""), from: position) {
            var backslashes = 0
            while quote - 1 - backslashes >= position, text[quote - 1 - backslashes] == UInt8(ascii: "\\") {
                backslashes += 1
            }
            if backslashes.isMultiple(of: 2) { return quote }
            position = quote + 1
        }
        return nil
    }

    private static func isKey(endingAt quote: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in text[(quote + 1)...] {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            default: return byte == UInt8(ascii: ":")
            }
        }
        return false
    }
}
