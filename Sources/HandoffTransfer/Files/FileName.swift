import Glibc
import HandoffModel
import LoopIO

/// Names that other devices send, and the names that files get for them here.
package enum FileName {
    /// Why bytes cannot be the name of anything, as the end of a sentence; nil when they can.
    ///
    /// Everything else is a name: of a file inside a folder each byte arrives as it was sent.
    package static func problem(_ name: some Collection<UInt8>) -> String? {
        guard !name.isEmpty else { return "it is empty" }
        guard !name.contains(0) else { return "it contains a NUL" }
        guard !name.contains(UInt8(ascii: "/")) else { return "it contains a slash" }
        let dot = UInt8(ascii: ".")
        return name.elementsEqual([dot]) || name.elementsEqual([dot, dot]) ? "it means another folder" : nil
    }

    /// A name for content that is stored among the user's own files.
    package struct Choice: Equatable, Sendable {
        /// One visible component of at most 255 bytes that looks as it is.
        package let name: String
        /// Why it is not the sender's, as the end of a sentence; nil when it is.
        package let reason: String?
    }

    /// The sender's name for its content where that looks as it is, otherwise one that is made from it: hidden characters are
    /// left out, control characters become `_`, runs of blanks one space, and `_` is put before a dot or dash.
    /// - Throws: `name` for no name, and for what cannot be one.
    package static func usable(_ name: String?) throws(TransferFailure) -> Choice {
        guard let name else {
            throw TransferFailure(
                .name, "the sender gives its content no name; use --output with a file instead of a folder")
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
            reason = "it contains characters that cannot be seen"
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
            reason = reason ?? "it begins with a dot, so that the file would be hidden"
            scalars.insert("_", at: scalars.startIndex)
        case "-":
            reason = reason ?? "it begins with a dash, so that commands would use it as an option"
            scalars.insert("_", at: scalars.startIndex)
        default: break
        }
        let text = String(scalars)
        guard text.utf8.count > TransferLimits.name else { return Choice(name: text, reason: reason) }
        return Choice(name: cut(text, to: TransferLimits.name), reason: reason ?? "it is longer than 255 bytes")
    }

    /// For the user: why a content has another name than its sender gave it.
    static func remark(_ sent: String?, _ reason: String) -> String {
        "the sender's name '\(VisibleText.escape(sent ?? ""))' is not used: \(reason)"
    }

    /// The reason of a name that is fine here, but not for the file system.
    static let refused = "the file system refuses it"

    /// With one space for each run of blanks that could push an extension out of sight; nil when there is none.
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
            // The blank of Braille counts as a symbol.
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

    /// True if a file system refuses a name by this error, and may accept another one.
    static func isRefusal(_ error: Errno) -> Bool {
        [.invalidArgument, .badSequence, .nameTooLong, .noSuchFile].contains(error)
    }

    /// A name that all file systems accept, those of memory sticks and network disks included.
    ///
    /// Bytes that are not UTF-8 are read as Latin-1, which older programs used.
    package static func portable(_ name: some Collection<UInt8>) -> String {
        let text =
            String(validating: name, as: UTF8.self)
            ?? String(String.UnicodeScalarView(name.map { Unicode.Scalar($0) }))
        var scalars = String.UnicodeScalarView(
            text.unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .control || "\"*/:<>?\\|".unicodeScalars.contains(scalar)
                    ? "_" : scalar
            })
        // FAT drops dots and blanks at the end.
        if scalars.last == "." || scalars.last == " " || scalars.isEmpty { scalars.append("_") }
        let base = String(scalars).split(separator: ".", omittingEmptySubsequences: false).first?.uppercased() ?? ""
        let isDevice =
            ["CON", "PRN", "AUX", "NUL"].contains(base)
            || base.utf8.count == 4 && ["COM", "LPT"].contains(base.prefix(3)) && base.last?.isNumber == true
        if isDevice { scalars.insert("_", at: scalars.startIndex) }
        // A number of up to four digits has to fit too.
        return cut(String(scalars), to: TransferLimits.portableName - 7)
    }

    /// The name with a number before its extension, for content whose own name is taken: `report (2).pdf`. What is too long is cut.
    /// - Parameter isFolder: whether it is a folder, whose name has no extension.
    package static func numbered(_ name: String, _ number: Int, isFolder: Bool) -> String {
        let (stem, end) = isFolder ? (name, "") : split(name)
        let added = " (\(number))" + end
        return stem.prefix(utf8Count: TransferLimits.name - added.utf8.count) + added
    }

    private static func cut(_ name: String, to limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let (stem, end) = split(name)
        return stem.prefix(utf8Count: limit - end.utf8.count) + end
    }

    /// The name without its extension, and the extension with its dot; a dot at the beginning begins none.
    private static func split(_ name: String) -> (stem: String, end: String) {
        guard let dot = name.dropFirst().lastIndex(of: "."), name[dot...].utf8.count <= 32 else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }

    private static let partSuffix = ".handoff-part"

    /// True if a name is one that `part` returns.
    static func isPart(_ name: [UInt8]) -> Bool {
        guard name.first == UInt8(ascii: "."), name.suffix(partSuffix.utf8.count).elementsEqual(partSuffix.utf8) else {
            return false
        }
        let digits = name.dropLast(partSuffix.utf8.count).suffix(33)
        return digits.count == 33 && digits.first == UInt8(ascii: ".")
            && digits.dropFirst().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    /// Where a content of that name is kept until it is complete: in the same folder, hidden, and the same each time for the
    /// same content of the same sender. So much of the digest that no sender can find a content that has another's part.
    /// - Parameter key: what the content is known by.
    static func part(of name: String, key: [UInt8]) -> String {
        let suffix = "." + Hex.encode(Array(SHA256Hasher.digest(of: key).bytes.prefix(16))) + partSuffix
        let room = TransferLimits.portableName - suffix.utf8.count - 1
        return "." + portable(name.systemBytes).prefix(utf8Count: room) + suffix
    }
}

extension Errno {
    /// EILSEQ: the bytes are no text in the encoding of the file system.
    static let badSequence = Errno(rawValue: EILSEQ)
}
