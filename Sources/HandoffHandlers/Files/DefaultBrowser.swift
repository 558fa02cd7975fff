/// The browser that opens pages on this desktop, according to a `mimeapps.list` file (Association
/// between MIME types and applications, freedesktop.org).
package enum DefaultBrowser {
    private static let group = "[Default Applications]"
    /// The keys that may name the browser. Desktop settings write all of them.
    private static let keys = ["x-scheme-handler/https", "x-scheme-handler/http", "text/html"]

    /// Returns the apps that a file names, in order of preference; empty if it names none or is
    /// invalid.
    package static func apps(in bytes: [UInt8]) -> [AppID] {
        guard bytes.count <= HandlerLimits.fileBytes else { return [] }
        var found: [String: [AppID]] = [:]
        var isInGroup = false
        for part in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let line = String(validating: part, as: UTF8.self) else { continue }
            let text = line.filter { !" \t\r".contains($0) }
            if text.hasPrefix("[") {
                isInGroup = line.hasPrefix(group)
                continue
            }
            let parts = text.split(separator: "=", maxSplits: 1)
            guard isInGroup, parts.count == 2, let key = keys.first(where: { $0 == parts[0] }), found[key] == nil else {
                continue
            }
            found[key] = parts[1].split(separator: ";").compactMap {
                $0.hasSuffix(".desktop") ? AppID(String($0.dropLast(".desktop".count))) : nil
            }
        }
        return keys.lazy.compactMap { found[$0] }.first { !$0.isEmpty } ?? []
    }
}
