package import HandoffHandlers

/// The apps that the user has switched off: text for people, one id a line, with empty lines and lines that begin with `#`.
package struct DisabledApps: Sendable, Equatable {
    /// Most bytes of a file.
    static let longest = 64 * 1024

    /// Their ids.
    package var ids: Set<AppID> = []

    /// No app.
    package init() {}

    /// Reads a file.
    ///
    /// - Throws: the first line that is no id, is no UTF-8, or lacks its end: the file was cut off.
    package init(decoding bytes: [UInt8]) throws(PeersFile.BadLine) {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // A whole file ends with a line end, so the last part is empty.
        guard parts.popLast()?.isEmpty == true else { throw PeersFile.BadLine(number: parts.count + 1) }
        for (index, part) in parts.enumerated() where !part.isEmpty && part.first != UInt8(ascii: "#") {
            guard let id = String(validating: part, as: UTF8.self).flatMap(AppID.init) else {
                throw PeersFile.BadLine(number: index + 1)
            }
            ids.insert(id)
        }
    }

    /// The file's bytes; nil when there are too many for one.
    package func encoded() -> [UInt8]? {
        let bytes = ids.sorted().flatMap { Array($0.text.utf8) + [UInt8(ascii: "\n")] }
        return bytes.count <= Self.longest ? bytes : nil
    }
}
