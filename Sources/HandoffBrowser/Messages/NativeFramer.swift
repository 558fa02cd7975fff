package import HandoffJSON

/// Cuts the bytes of native messaging into messages, and makes such bytes: JSON behind its length, 4 bytes in the machine's order.
/// Plain values.
///
/// The other end is the browser, which writes what our extension says; and an extension may have been replaced. Titles and addresses
/// in its messages are those of any page, so that a message that cannot be used is skipped, and no other one is lost with it.
package struct NativeFramer: Sendable {
    /// Why a message is skipped.
    package enum Failure: Error, Equatable, Sendable {
        /// It has this many bytes.
        case tooLong(Int)
        /// It is no JSON object, or one that is nested too deep or has too many members.
        case notJSON(String)
    }

    /// The longest message that is taken, in bytes: some thousand open tabs.
    package static let longest = 1 << 20
    /// The longest message that a browser takes (Chromium and Firefox alike), in bytes.
    package static let longestAnswer = 1 << 20

    private static let limits = JSONLimits(bytes: longest, depth: 8)
    private static let header = 4

    private var bytes: [UInt8] = []
    /// How many bytes of a message that is too long are still to be skipped.
    private var skipped = 0

    package init() {}

    /// Takes bytes, in whatever pieces they come.
    /// - Parameter each: gets the messages that are complete with them, in order; of a message that is skipped, why.
    package mutating func received(_ more: [UInt8], each: (Result<JSONObject, Failure>) -> Void) {
        bytes += more
        var start = 0
        defer { bytes.removeFirst(start) }
        while true {
            let rest = min(skipped, bytes.count - start)
            start += rest
            skipped -= rest
            guard skipped == 0, bytes.count - start >= Self.header else { return }
            let length = Self.length(bytes[start..<(start + Self.header)])
            guard length <= Self.longest else {
                each(.failure(.tooLong(length)))
                start += Self.header
                skipped = length
                continue
            }
            let end = start + Self.header + length
            guard bytes.count >= end else { return }
            each(Self.object(bytes[(start + Self.header)..<end]))
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

    private static func object(_ text: ArraySlice<UInt8>) -> Result<JSONObject, Failure> {
        do throws(JSONError) {
            // A page may have cut its title inside a character.
            let json = try JSON(parsing: JSON.replacingHalfSurrogates(in: repaired(text)), limits: limits)
            return json.object.map { .success($0) } ?? .failure(.notJSON("it is not an object"))
        } catch {
            return .failure(.notJSON("\(error)"))
        }
    }

    /// The text in valid UTF-8: Firefox writes half of a surrogate pair as three bytes, which are none.
    private static func repaired(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        String(validating: text, as: UTF8.self) == nil ? Array(String(decoding: text, as: UTF8.self).utf8)[...] : text
    }
}
