import HandoffJSON
import HandoffModel

extension Handler {
    /// Parses a manifest: a JSON object with `name`, `exec` (the words of a command), `types` or
    /// `domains`, and optionally `id` (default: the file name), `team` and `terminal`. Unknown
    /// members are ignored.
    ///
    /// - Parameters:
    ///   - stem: The file name without its suffix.
    ///   - installed: Nanoseconds since 1970.
    ///   - isThere: Returns whether a program exists, by absolute path or by a name to look up in
    ///     `PATH`.
    /// - Throws: An error that names the line if anything is invalid.
    package static func declared(
        byManifest bytes: [UInt8], stem: String, path: String, installed: Int64, exists: (String) -> Bool
    ) throws(HandlerFileError) -> HandlerDeclaration {
        let manifest = try ManifestReader(bytes)
        let identifier = try manifest.text("id") ?? stem
        guard let id = AppID(identifier) else {
            throw HandlerFileError(line: manifest.line(of: "id"), "invalid app id")
        }
        let types = try HandlerValues.types(try manifest.texts("types"), at: manifest.line(of: "types"))
        let domains = try HandlerValues.domains(try manifest.texts("domains"), at: manifest.line(of: "domains"))
        guard !types.isEmpty || !domains.isEmpty else {
            throw HandlerFileError(line: nil, "neither types nor domains")
        }
        let words = try HandlerValues.command(try manifest.texts("exec"), at: manifest.line(of: "exec"))
        _ = try manifest.terminalCommand()
        let name = try HandlerValues.name(try manifest.text("name") ?? id.text, at: manifest.line(of: "name"))
        let team = try HandlerValues.team(try manifest.text("team"), at: manifest.line(of: "team"))
        let versions = try HandlerValues.versions(try manifest.texts("versions"), at: manifest.line(of: "versions"))
        guard let program = words.first, exists(program) else { return .none }
        return .handler(
            Handler(
                id: id, name: name, types: types, versions: versions, team: team, domains: domains,
                launch: .command(words), path: path, installed: installed))
    }

    /// Returns the command that continues an activity of the app in a terminal: the words in
    /// `terminal` of a manifest, before the id of the activity. Nil if there is none.
    /// - Throws: an error if the manifest is invalid.
    package static func terminalCommand(ofManifest bytes: [UInt8]) throws(HandlerFileError) -> [String]? {
        try ManifestReader(bytes).terminalCommand()
    }
}

/// The members of a manifest, with their line numbers.
private struct ManifestReader {
    private static let limits = JSONLimits(bytes: HandlerLimits.fileBytes, depth: 4, members: 512, values: 2048)

    private let bytes: [UInt8]
    private let fields: JSONFields<HandlerFileError>

    init(_ bytes: [UInt8]) throws(HandlerFileError) {
        self.bytes = bytes
        let value: JSON
        do throws(JSONError) {
            value = try JSON(parsing: bytes, limits: Self.limits)
        } catch {
            if case .syntax(let message, let position) = error {
                throw HandlerFileError(line: Self.line(at: position, in: bytes), message)
            }
            throw HandlerFileError(line: nil, "\(error)")
        }
        guard let object = value.object else { throw HandlerFileError(line: 1, "not a JSON object") }
        fields = JSONFields(object) { key, expected in
            HandlerFileError(line: Self.line(of: key, in: bytes), "\(key) is not \(expected)")
        }
    }

    func text(_ key: String) throws(HandlerFileError) -> String? {
        try fields.optionalText(key)
    }

    func texts(_ key: String) throws(HandlerFileError) -> [String] {
        let elements = try fields.array(key)
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else {
            throw HandlerFileError(line: line(of: key), "\(key) contains a value that is not a string")
        }
        return texts
    }

    func terminalCommand() throws(HandlerFileError) -> [String]? {
        let words = try texts("terminal")
        return words.isEmpty ? nil : try HandlerValues.command(words, at: line(of: "terminal"))
    }

    func line(of key: String) -> Int? {
        Self.line(of: key, in: bytes)
    }

    /// Returns the line of a key, as a reader would find it: the first line with the quoted key.
    private static func line(of key: String, in bytes: [UInt8]) -> Int? {
        let quoted = Array("\"\(key)\"".utf8)
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[start...]
            if rest.starts(with: quoted) { return line(at: start, in: bytes) }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static func line(at position: Int, in bytes: [UInt8]) -> Int {
        1 + bytes.prefix(max(0, position)).count { $0 == UInt8(ascii: "\n") }
    }
}
