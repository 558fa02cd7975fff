package import HandoffJSON

/// Cuts the bytes of native messaging into messages, and makes such bytes: JSON behind its length, 4 bytes in the machine's order.
/// Plain values.
///
/// The other end is the browser, which writes what our extension says; and an extension may have been replaced.
package struct NativeFramer: Sendable {
    /// Why no further message can be read.
    package enum Failure: Error, Equatable, Sendable {
        /// A message of this many bytes is announced.
        case tooLong(Int)
        /// A message is no JSON object, or one that is nested too deep or has too many members.
        case notJSON(String)
    }

    /// The longest message that is taken, in bytes: some thousand open tabs.
    package static let longest = 1 << 20
    /// The longest message that a browser takes (Chromium and Firefox alike), in bytes.
    package static let longestAnswer = 1 << 20

    private static let limits = JSONLimits(bytes: longest, depth: 8)
    private static let header = 4

    private var bytes: [UInt8] = []

    package init() {}

    /// Takes bytes, in whatever pieces they come.
    /// - Parameter each: gets the messages that are complete with them, also those before one that cannot be used.
    /// - Throws: `Failure` for the first message that cannot be used; nothing behind it can be either.
    package mutating func received(_ more: [UInt8], each: (JSONObject) -> Void) throws(Failure) {
        bytes += more
        var start = 0
        defer { bytes.removeFirst(start) }
        while bytes.count - start >= Self.header {
            let length = Self.length(bytes[start..<(start + Self.header)])
            guard length <= Self.longest else { throw .tooLong(length) }
            let end = start + Self.header + length
            guard bytes.count >= end else { break }
            each(try Self.object(bytes[(start + Self.header)..<end]))
            start = end
        }
    }

    /// A message as it is written.
    /// - Returns: nil when no browser would take it.
    package static func framed(_ message: JSONObject) -> [UInt8]? {
        let text = message.encoded()
        guard text.count <= longestAnswer else { return nil }
        let length = UInt32(text.count)
        // Linux knows no machine of the other order on which a browser runs.
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + text
    }

    private static func length(_ header: ArraySlice<UInt8>) -> Int {
        header.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func object(_ text: ArraySlice<UInt8>) throws(Failure) -> JSONObject {
        let json: JSON
        do throws(JSONError) {
            // A page may have cut its title inside a character, which would cost all messages behind this one.
            json = try JSON(parsing: JSON.replacingHalfSurrogates(in: text), limits: limits)
        } catch {
            throw .notJSON("\(error)")
        }
        guard let object = json.object else { throw .notJSON("it is no object") }
        return object
    }
}
