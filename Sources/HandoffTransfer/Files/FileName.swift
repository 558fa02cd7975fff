import HandoffModel

/// What a name from outside must be before a file gets it.
package enum FileName {
    /// Why a name is not used, as the end of a sentence; nil when it is.
    /// - Parameter mayBeHidden: whether it may begin with a dot, as files inside a folder may.
    package static func problem(_ name: some Collection<UInt8>, mayBeHidden: Bool) -> String? {
        guard let first = name.first else { return "it is empty" }
        guard name.count <= TransferLimits.name else { return "it is longer than 255 bytes" }
        guard !name.contains(0) else { return "it contains a NUL" }
        guard !name.contains(UInt8(ascii: "/")) else { return "it contains a slash" }
        let dot = UInt8(ascii: ".")
        if name.elementsEqual([dot]) || name.elementsEqual([dot, dot]) { return "it means another folder" }
        if first == dot, !mayBeHidden { return "it begins with a dot, so the file would be hidden" }
        if first == UInt8(ascii: "-") { return "it begins with a dash, so that commands would take it for an option" }
        // Most names are of letters that everybody sees.
        if name.allSatisfy({ (0x20...0x7E).contains($0) }) { return nil }
        guard let text = String(validating: name, as: UTF8.self) else { return "it is no UTF-8" }
        // Control characters, and those that turn the direction of a text: what is shown would not be the name.
        guard !text.unicodeScalars.contains(where: VisibleText.isHidden) else {
            return "it contains characters that cannot be seen"
        }
        return nil
    }

    /// The name of a sender for its content, when a file here can have it.
    /// - Throws: `name`, with the advice to choose one here.
    package static func checked(_ name: String?) throws(TransferFailure) -> String {
        guard let name else {
            throw TransferFailure(
                .name, "the sender gives its content no name; say which file it becomes, not a folder")
        }
        if let problem = problem(Array(name.utf8), mayBeHidden: false) {
            throw TransferFailure(
                .name,
                "the sender's name '\(VisibleText.escape(name))' is not used here: \(problem); "
                    + "say which file it becomes, not a folder")
        }
        return name
    }

    /// The name with a number before its extension, for content whose own name is taken: `report (2).pdf`. What is too long is cut.
    /// - Parameter isFolder: whether it is a folder, whose name has no extension.
    package static func numbered(_ name: String, _ number: Int, isFolder: Bool) -> String {
        var end = " (\(number))"
        var stem = name
        // A dot at the beginning begins no extension.
        if !isFolder, let dot = name.dropFirst().lastIndex(of: "."), name[dot...].utf8.count <= 32 {
            end += name[dot...]
            stem = String(name[..<dot])
        }
        return stem.prefix(utf8Count: TransferLimits.name - end.utf8.count) + end
    }

    private static let partSuffix = ".handoff-part"

    /// Whether a name is one that `part` returns.
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
        var kept = ""
        for scalar in name.unicodeScalars {
            // The dot before it counts too.
            guard kept.utf8.count + UTF8.width(scalar) + suffix.utf8.count < TransferLimits.name else { break }
            kept.unicodeScalars.append(scalar)
        }
        return "." + kept + suffix
    }
}
