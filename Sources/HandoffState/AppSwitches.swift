package import HandoffHandlers

/// What the user has switched off of apps: text for people, a line each, with empty lines and lines that begin with `#`. A line is
/// the id of an app that neither publishes nor continues, or `muted` and the id of one of which no notification is shown.
package struct AppSwitches: Sendable, Equatable {
    /// Most bytes of a file.
    static let longest = 64 * 1024

    private static let mutedWord = "muted "

    /// The ids of apps that neither publish nor continue.
    package var disabled: Set<AppID> = []
    /// The ids of apps for which no notification is shown.
    package var muted: Set<AppID> = []

    /// Nothing is switched off.
    package init() {}

    /// Reads a file.
    ///
    /// - Throws: the first line that is no id, is no UTF-8, or lacks its end: the file was cut off.
    package init(decoding bytes: [UInt8]) throws(PeersFile.BadLine) {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // A whole file ends with a line end, so the last part is empty.
        guard parts.popLast()?.isEmpty == true else { throw PeersFile.BadLine(number: parts.count + 1) }
        for (index, part) in parts.enumerated() where !part.isEmpty && part.first != UInt8(ascii: "#") {
            let text = String(validating: part, as: UTF8.self)
            let isMuted = text?.hasPrefix(Self.mutedWord) ?? false
            guard let id = text.flatMap({ AppID(isMuted ? String($0.dropFirst(Self.mutedWord.count)) : $0) }) else {
                throw PeersFile.BadLine(number: index + 1)
            }
            if isMuted { muted.insert(id) } else { disabled.insert(id) }
        }
    }

    /// The file's bytes; nil when there are too many for one.
    package func encoded() -> [UInt8]? {
        let lines = disabled.sorted().map(\.text) + muted.sorted().map { Self.mutedWord + $0.text }
        let bytes = lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
        return bytes.count <= Self.longest ? bytes : nil
    }
}
