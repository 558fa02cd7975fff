/// The systemd units in which desktops run apps: `app[-LAUNCHER]-ID-RANDOM.scope`,
/// `app[-LAUNCHER]-ID[@RANDOM].service` (systemd, "Desktop Environment Integration").
package enum AppUnit {
    /// The maximum length of a unit name (UNIT_NAME_MAX), in bytes.
    private static let maxLength = 255

    /// Returns the name of a new unit for an app.
    /// - Parameter random: Letters and digits that no other unit has.
    package static func name(for id: AppID, random: String) -> String {
        let fixed = "app-handoff--.service".utf8.count + random.utf8.count
        var escaped = ""
        for byte in id.text.utf8 {
            let piece = escape(byte, isFirst: escaped.isEmpty)
            // A shortened id is only for display.
            guard fixed + escaped.utf8.count + piece.utf8.count <= maxLength else { break }
            escaped += piece
        }
        return "app-handoff-\(escaped)-\(random).service"
    }

    /// Returns the app of a unit name; nil for units that do not run an app.
    package static func app(inUnit unit: String) -> AppID? {
        if let sandbox = sandbox(unit) { return sandbox }
        guard unit.utf8.count <= maxLength, unit.hasPrefix("app-"), let dot = unit.lastIndex(of: ".") else {
            return nil
        }
        let kind = unit[dot...].dropFirst()
        guard ["scope", "service", "slice"].contains(kind) else { return nil }
        let stem = unit[..<dot].dropFirst("app-".count)
        let named = stem.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = (named.first ?? "").split(separator: "-", omittingEmptySubsequences: false)
        let part: Substring
        switch parts.count {
        case 1: part = parts[0]
        case 2 where named.count == 1: part = isRandom(parts[1]) ? parts[0] : parts[1]
        case 2: part = parts[1]
        case 3 where named.count == 1: part = parts[1]
        default: return nil
        }
        return unescape(part).flatMap { AppID($0) }
    }

    /// True if a unit name is that of a sandboxed app, as run by Flatpak and snapd.
    package static func isSandbox(_ unit: String) -> Bool {
        unit.hasPrefix("app-flatpak-") || unit.hasPrefix("snap.")
    }

    /// Returns the app of a sandbox's unit name: `app-flatpak-ID-PID.scope`, where older versions
    /// do not escape dashes in the id, or `snap.NAME.APP.RANDOM.scope` (as `.service` without the
    /// last part), whose desktop entry is `NAME_APP`.
    private static func sandbox(_ unit: String) -> AppID? {
        guard unit.utf8.count <= maxLength, let dot = unit.lastIndex(of: ".") else { return nil }
        let stem = unit[..<dot]
        if stem.hasPrefix("app-flatpak-"), let dash = stem.lastIndex(of: "-") {
            let start = stem.index(stem.startIndex, offsetBy: "app-flatpak-".count)
            return start < dash ? unescape(stem[start..<dash]).flatMap { AppID($0) } : nil
        }
        guard stem.hasPrefix("snap.") else { return nil }
        let parts = stem.split(separator: ".")
        return parts.count >= 3 ? AppID("\(parts[1])_\(parts[2])") : nil
    }

    private static func isRandom(_ part: Substring) -> Bool {
        part.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
            default: false
            }
        }
    }

    /// Escapes like systemd-escape(1).
    private static func escape(_ byte: UInt8, isFirst: Bool) -> String {
        let isPlain =
            AppID.isLetterOrDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
            || (byte == UInt8(ascii: ".") && !isFirst)
        if isPlain { return String(UnicodeScalar(byte)) }
        let digits = String(byte, radix: 16)
        return "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
    }

    private static func unescape(_ part: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), rest.count >= 2,
                let digits = String(validating: rest.prefix(2), as: UTF8.self), let value = UInt8(digits, radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
