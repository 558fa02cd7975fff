import Glibc

/// A pass over a text that knows no more grammar than strings and brackets, before the parser recurses.
///
/// It is exact for every prefix that the parser accepts, so whatever the parser builds is within the limits.
enum JSONScan {
    /// Checks depth and numbers of members and values.
    static func check(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) {
        guard text.count <= limits.bytes else { throw .tooLarge }
        guard let base = text.baseAddress else { return }
        // Separators seen so far in each open array or object.
        var separators: [Int] = []
        separators.reserveCapacity(limits.depth)
        var current = 0
        var values = 1
        var position = 0
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                position = endOfString(base, from: position + 1, count: text.count)
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
            default:
                break
            }
            guard values <= limits.values else { throw .tooManyValues }
            position += 1
        }
    }

    /// The position after the closing quote, or the end of the text.
    ///
    /// A quote after an odd number of backslashes is part of the string. Each byte is looked at twice at most.
    private static func endOfString(_ base: UnsafePointer<UInt8>, from start: Int, count: Int) -> Int {
        var position = start
        while position < count {
            guard let found = memchr(base + position, 0x22, count - position) else { return count }
            let quote = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base
            var backslashes = 0
            while quote - 1 - backslashes >= position, base[quote - 1 - backslashes] == UInt8(ascii: "\\") {
                backslashes += 1
            }
            position = quote + 1
            if backslashes.isMultiple(of: 2) { return position }
        }
        return count
    }
}
