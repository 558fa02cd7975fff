/// An interface that a service offers: its name, its description, and the methods that the description names.
package struct VarlinkInterface: Sendable {
    /// The name, such as `dev.handoff1`.
    package let name: String
    /// The interface definition, as introspection serves it.
    package let description: String
    /// The names of its methods, without the interface.
    package let methods: Set<String>

    /// Reads name and methods from a definition; nil when it names no interface or is not UTF-8.
    ///
    /// It relies on the layout of our own files: `interface` and `method` begin a line.
    package init?(definition bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.split(separator: "\n")
        let names = lines.compactMap { Self.word(after: "interface ", in: $0) }
        guard names.count == 1, let name = names.first else { return nil }
        self.name = name
        description = text
        methods = Set(lines.compactMap { Self.word(after: "method ", in: $0) })
    }

    private static func word(after keyword: String, in line: Substring) -> String? {
        guard line.hasPrefix(keyword) else { return nil }
        let word = line.dropFirst(keyword.count).prefix { $0 != "(" && $0 != " " }
        return word.isEmpty ? nil : String(word)
    }
}
