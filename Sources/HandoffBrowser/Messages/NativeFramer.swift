package import HandoffJSON

/// Parses and writes native messaging frames: JSON after its length, 4 bytes in native byte order.
/// Plain values.
///
/// The other end is the browser, with messages of the extension, which may have been replaced.
/// Titles and addresses in messages come from arbitrary pages. Invalid messages are therefore
/// skipped without losing others.
package struct NativeFramer: Sendable {
    /// The reason why a message is skipped.
    package enum Failure: Error, Equatable, Sendable {
        /// The message has this many bytes.
        case tooLong(Int)
        /// The message is not a JSON object, is nested too deeply or has too many members.
        case notJSON(String)
    }

    /// The maximum length of a received message, in bytes: several thousand open tabs.
    package static let maxMessage = 1 << 20
    /// The maximum length of a message that browsers accept (Chromium and Firefox alike), in bytes.
    package static let maxReply = 1 << 20

    private static let limits = JSONLimits(bytes: maxMessage, depth: 8)
    private static let header = 4

    private var bytes: [UInt8] = []
    /// The number of bytes of an overlong message still to skip.
    private var skipped = 0

    package init() {}

    /// Parses bytes, in pieces of any size.
    /// - Parameter each: Receives each completed message in order, or the reason why it is skipped.
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
            guard length <= Self.maxMessage else {
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

    /// Returns the frame of a message.
    /// - Returns: Nil if the message is too long for browsers.
    package static func framed(_ message: JSONObject) -> [UInt8]? {
        let text = message.encoded()
        guard text.count <= maxReply else { return nil }
        let length = UInt32(text.count)
        // Little-endian: no browser runs on big-endian Linux machines.
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + text
    }

    private static func length(_ header: ArraySlice<UInt8>) -> Int {
        header.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func object(_ text: ArraySlice<UInt8>) -> Result<JSONObject, Failure> {
        do throws(JSONError) {
            // A page may have cut its title within a character.
            let json = try JSON(parsing: JSON.replacingUnpairedSurrogates(in: repaired(text)), limits: limits)
            return json.object.map { .success($0) } ?? .failure(.notJSON("it is not an object"))
        } catch {
            return .failure(.notJSON("\(error)"))
        }
    }

    /// Returns the text as valid UTF-8. Firefox writes half of a surrogate pair as three invalid
    /// bytes.
    private static func repaired(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        String(validating: text, as: UTF8.self) == nil ? Array(String(decoding: text, as: UTF8.self).utf8)[...] : text
    }
}
