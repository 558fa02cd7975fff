import Glibc
import HandoffModel
import LoopIO

/// Checks names sent by other devices and chooses names for local files.
package enum FileName {
    /// Returns the reason why the bytes cannot be a name, as the end of a sentence, or nil if they
    /// can.
    ///
    /// All other bytes are valid: inside a folder, each name arrives exactly as it was sent.
    package static func problem(_ name: some Collection<UInt8>) -> String? {
        guard !name.isEmpty else { return "it is empty" }
        guard !name.contains(0) else { return "it contains a NUL" }
        guard !name.contains(UInt8(ascii: "/")) else { return "it contains a slash" }
        let dot = UInt8(ascii: ".")
        return name.elementsEqual([dot]) || name.elementsEqual([dot, dot]) ? "it refers to another folder" : nil
    }

    /// A name for content stored among the user's own files.
    package struct Choice: Equatable, Sendable {
        /// One visible component of at most 255 bytes, without misleading characters.
        package let name: String
        /// The reason why the name differs from the sender's, as the end of a sentence; nil if it
        /// does not.
        package let reason: String?
    }

    /// Returns the sender's name, changed where it could mislead: hidden characters are removed,
    /// control characters become `_`, a run of blanks becomes one space, and `_` is put before a
    /// leading dot or dash.
    /// - Throws: `name` if there is no name or it is invalid.
    package static func usable(_ name: String?) throws(TransferFailure) -> Choice {
        guard let name else {
            throw TransferFailure(
                .name, "the sender did not name its content; use --output with a file instead of a folder")
        }
        if let problem = problem(name.utf8) {
            throw TransferFailure(
                .name,
                "the sender's name '\(VisibleText.escape(name))' cannot be used: \(problem); "
                    + "use --output with a file instead of a folder")
        }
        var reason: String?
        var scalars = name.unicodeScalars
        if scalars.contains(where: VisibleText.isHidden) {
            reason = "it contains invisible characters"
            scalars = String.UnicodeScalarView(
                scalars.compactMap { scalar in
                    guard VisibleText.isHidden(scalar) else { return scalar }
                    return scalar.properties.generalCategory == .control ? "_" : nil
                })
        }
        if let joined = joiningBlanks(scalars) {
            reason = reason ?? "it contains a run of blanks"
            scalars = joined
        }
        switch scalars.first {
        case nil: scalars.append("_")
        case ".":
            reason = reason ?? "it starts with a dot, which would hide the file"
            scalars.insert("_", at: scalars.startIndex)
        case "-":
            reason = reason ?? "it starts with a dash, so commands would treat it as an option"
            scalars.insert("_", at: scalars.startIndex)
        default: break
        }
        let text = String(scalars)
        guard text.utf8.count > TransferLimits.name else { return Choice(name: text, reason: reason) }
        return Choice(name: cut(text, to: TransferLimits.name), reason: reason ?? "it is longer than 255 bytes")
    }

    /// Returns the remark for the user if the content gets another name than the sender's.
    static func remark(_ sent: String?, _ reason: String) -> String {
        "the sender's name '\(VisibleText.escape(sent ?? ""))' is not used: \(reason)"
    }

    /// The reason for a name that is valid here but that the file system rejects.
    static let refused = "the file system refuses it"

    /// Replaces each run of blanks that could push an extension out of sight with one space.
    /// Returns nil if there is none.
    private static func joiningBlanks(_ scalars: String.UnicodeScalarView) -> String.UnicodeScalarView? {
        var joined = String.UnicodeScalarView()
        var run = String.UnicodeScalarView()
        var isChanged = false
        func end() {
            let isJoined = run.count > 3 || run.count > 1 && run.contains { $0 != " " }
            if isJoined { joined.append(" ") } else { joined.append(contentsOf: run) }
            isChanged = isChanged || isJoined
            run = String.UnicodeScalarView()
        }
        for scalar in scalars {
            // The Braille blank is classified as a symbol.
            if scalar.properties.isWhitespace || scalar.value == 0x2800 {
                run.append(scalar)
            } else {
                end()
                joined.append(scalar)
            }
        }
        end()
        return isChanged ? joined : nil
    }

    /// Returns true for errors by which a file system rejects a name and may accept another.
    static func isRefusal(_ error: Errno) -> Bool {
        [.invalidArgument, .badSequence, .nameTooLong, .noSuchFile].contains(error)
    }

    /// Returns a name that all file systems accept, including those of memory sticks and network
    /// disks.
    ///
    /// Bytes that are not UTF-8 are decoded as Latin-1, which older programs used.
    package static func portable(_ name: some Collection<UInt8>) -> String {
        let text =
            String(validating: name, as: UTF8.self)
            ?? String(String.UnicodeScalarView(name.map { Unicode.Scalar($0) }))
        var scalars = String.UnicodeScalarView(
            text.unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .control || "\"*/:<>?\\|".unicodeScalars.contains(scalar)
                    ? "_" : scalar
            })
        // FAT drops trailing dots and blanks.
        if scalars.last == "." || scalars.last == " " || scalars.isEmpty { scalars.append("_") }
        let base = String(scalars).split(separator: ".", omittingEmptySubsequences: false).first?.uppercased() ?? ""
        let isDevice =
            ["CON", "PRN", "AUX", "NUL"].contains(base)
            || base.utf8.count == 4 && ["COM", "LPT"].contains(base.prefix(3)) && base.last?.isNumber == true
        if isDevice { scalars.insert("_", at: scalars.startIndex) }
        // Leaves space for a number of up to four digits.
        return cut(String(scalars), to: TransferLimits.portableName - 7)
    }

    /// Returns the name with a number before its extension, for a name that is taken, such as
    /// `report (2).pdf`. Shortens a name that is too long.
    /// - Parameter isFolder: true for a folder, whose name has no extension.
    static func numbered(_ name: String, _ number: Int, isFolder: Bool) -> String {
        let (stem, end) = isFolder ? (name, "") : split(name)
        let added = " (\(number))" + end
        return stem.prefix(utf8Count: TransferLimits.name - added.utf8.count) + added
    }

    private static func cut(_ name: String, to limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let (stem, end) = split(name)
        return stem.prefix(utf8Count: limit - end.utf8.count) + end
    }

    /// Splits a name into its stem and its extension with the dot. A leading dot does not start an
    /// extension.
    private static func split(_ name: String) -> (stem: String, end: String) {
        guard let dot = name.dropFirst().lastIndex(of: "."), name[dot...].utf8.count <= 32 else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }

    private static let partSuffix = ".handoff-part"

    /// Returns true if `part` could have returned the name.
    static func isPart(_ name: [UInt8]) -> Bool {
        guard name.first == UInt8(ascii: "."), name.suffix(partSuffix.utf8.count).elementsEqual(partSuffix.utf8) else {
            return false
        }
        let digits = name.dropLast(partSuffix.utf8.count).suffix(33)
        return digits.count == 33 && digits.first == UInt8(ascii: ".")
            && digits.dropFirst().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    /// Returns the name under which incomplete content is kept: hidden, in the same folder, and
    /// always the same for the same content of the same sender. It contains enough of the digest
    /// that no sender can find content whose part has the name of another part.
    /// - Parameter key: identifies the content.
    static func part(of name: String, key: [UInt8]) -> String {
        let suffix = "." + Hex.encode(Array(SHA256Hasher.digest(of: key).bytes.prefix(16))) + partSuffix
        let room = TransferLimits.portableName - suffix.utf8.count - 1
        return "." + portable(name.systemBytes).prefix(utf8Count: room) + suffix
    }
}

extension Errno {
    /// EILSEQ: the bytes are not text in the encoding of the file system.
    static let badSequence = Errno(rawValue: EILSEQ)
}
