package import HandoffHandlers
package import HandoffModel

/// The app settings that the user has switched off, and the devices whose documents are saved
/// without a prompt. A text file for people, with empty lines and lines that begin with `#`. Any
/// other line is the id of an app that neither publishes nor continues, `muted` and the id of an app
/// whose notifications are not shown, `no-keep` and the id of an app whose activities other devices
/// do not keep, or `accept`, the id of a device and a maximum size in bytes.
package struct AppSwitches: Sendable, Equatable {
    /// Maximum size of a file in bytes.
    static let maxFile = 64 * 1024

    private static let mutedPrefix = "muted "
    private static let unkeptPrefix = "no-keep "
    private static let acceptPrefix = "accept "

    /// The ids of apps that neither publish nor continue.
    package var disabled: Set<AppID> = []
    /// The ids of apps whose notifications are not shown.
    package var muted: Set<AppID> = []
    /// The ids of apps whose activities other devices do not keep.
    package var unkept: Set<AppID> = []
    /// The devices whose documents are saved without a prompt, with the maximum size in bytes.
    package var accepted: [DeviceID: Int64] = [:]

    /// Creates settings with nothing switched off.
    package init() {}

    /// Decodes a file.
    ///
    /// - Throws: the first line that is not an id, is not UTF-8, or is truncated.
    package init(decoding bytes: [UInt8]) throws(PeersFile.BadLine) {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // A complete file ends with a newline, so the last part is empty.
        guard parts.popLast()?.isEmpty == true else { throw PeersFile.BadLine(number: parts.count + 1) }
        for (index, part) in parts.enumerated() where !part.isEmpty && part.first != UInt8(ascii: "#") {
            let text = String(validating: part, as: UTF8.self)
            if let text, text.hasPrefix(Self.acceptPrefix) {
                let words = text.split(separator: " ").dropFirst()
                guard words.count == 2, let device = words.first.flatMap({ DeviceID(hex: String($0)) }),
                    let limit = words.last.flatMap({ Int64($0) }), limit >= 0
                else { throw PeersFile.BadLine(number: index + 1) }
                accepted[device] = limit
                continue
            }
            let prefix = [Self.mutedPrefix, Self.unkeptPrefix].first { text?.hasPrefix($0) ?? false }
            guard let id = text.flatMap({ AppID(String($0.dropFirst(prefix?.count ?? 0))) }) else {
                throw PeersFile.BadLine(number: index + 1)
            }
            switch prefix {
            case Self.mutedPrefix?: muted.insert(id)
            case Self.unkeptPrefix?: unkept.insert(id)
            default: disabled.insert(id)
            }
        }
    }

    /// Encodes the file, or returns nil if it would be too long.
    package func encoded() -> [UInt8]? {
        let lines =
            disabled.sorted().map(\.text) + muted.sorted().map { Self.mutedPrefix + $0.text }
            + unkept.sorted().map { Self.unkeptPrefix + $0.text }
            + accepted.sorted { $0.key < $1.key }.map { "\(Self.acceptPrefix)\($0.key.hex) \($0.value)" }
        let bytes = lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
        return bytes.count <= Self.maxFile ? bytes : nil
    }
}
