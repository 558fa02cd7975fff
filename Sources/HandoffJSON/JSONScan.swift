/// A pass over a document that recognises only strings and brackets, before jansson recurses into
/// it.
///
/// It checks the depth and the numbers of members and values. The checks are exact for every prefix
/// that jansson accepts, so everything that is built is within the limits. It also removes long
/// strings without escapes from the document: jansson examines every byte of a string several
/// times, and strings make up most of a payload.
struct JSONScan {
    /// A string that was removed. The document for jansson has an empty string in its place.
    struct Cut {
        /// The number of string values before it.
        let ordinal: Int
        /// The position of its first byte in the original document.
        let position: Int
        let text: String
    }

    /// The minimum length of a string to remove, in bytes. Shorter strings are not worth the
    /// effort.
    private static let minCutLength = 16

    /// The removed strings, in document order.
    private(set) var cuts: [Cut] = []
    /// The document without the removed strings; empty if there are none.
    private(set) var reduced: [UInt8] = []
    private var copied = 0
    private var stringValues = 0

    init(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) {
        guard text.count <= limits.bytes else { throw .tooLarge }
        // The number of separators seen so far in each open array or object.
        var separators: [Int] = []
        separators.reserveCapacity(limits.depth)
        var current = 0
        var values = 1
        var position = 0
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                position = skipString(in: text, from: position + 1)
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
                // Jansson ignores a NUL after a number or a literal.
                throw .syntax(message: "NUL", position: position)
            default:
                break
            }
            guard values <= limits.values else { throw .tooManyValues }
            position += 1
        }
        if !cuts.isEmpty { reduced.append(contentsOf: text[copied...]) }
    }

    /// Returns the position in the original document of a byte of the reduced document.
    func originalPosition(_ position: Int) -> Int {
        var original = position
        for cut in cuts where cut.position <= original { original += cut.text.utf8.count }
        return original
    }

    /// Skips a string that starts after its opening quote and returns the position after the
    /// closing quote.
    private mutating func skipString(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let end = Self.closingQuote(in: text, from: start) else { return text.count }
        guard !Self.isKey(endingAt: end, in: text) else { return end + 1 }
        if end - start >= Self.minCutLength, let plain = String(plain: UnsafeBufferPointer(rebasing: text[start..<end]))
        {
            cuts.append(Cut(ordinal: stringValues, position: start, text: plain))
            reduced.append(contentsOf: text[copied..<start])
            copied = end
        }
        stringValues += 1
        return end + 1
    }

    /// Finds the closing quote. A quote after an odd number of backslashes is part of the string.
    /// Each byte is examined at most twice.
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
