import Foundation

/// Reads the Info.plist of a program and writes a copy and a handler file. Used by the plugin
/// `HandoffInfo`.
///
///     handoff-info INFO PROGRAM COPY HANDLER
@main
enum HandoffInfo {
    /// An invalid Info.plist.
    private struct Problem: Error {
        let text: String
    }

    /// A handler file, as described in `docs/control-protocol.md`.
    private struct Handler: Encodable {
        let id: String
        let name: String
        let exec: [String]
        let types: [String]
        let versions: [String]
        let team: String?
    }

    static func main() {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 4, let info = words.first else {
            fail("usage: handoff-info INFO PROGRAM COPY HANDLER")
        }
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: info))
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let handler = try encoder.encode(handler(of: data, program: words[2]))
            try data.write(to: URL(fileURLWithPath: words[3]))
            try (handler + Data("\n".utf8)).write(to: URL(fileURLWithPath: words[4]))
        } catch let problem as Problem {
            // In the format of compiler errors, so that tools link to the file.
            fail("\(info):1: error: \(problem.text)")
        } catch {
            fail("\(info):1: error: \(error.localizedDescription)")
        }
    }

    private static func handler(of data: Data, program: String) throws -> Handler {
        guard let info = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
            throw Problem(text: "the property list is not a dictionary")
        }
        guard let types = info["NSUserActivityTypes"] as? [String], !types.isEmpty else {
            throw Problem(text: "NSUserActivityTypes is missing or empty")
        }
        for type in types where !isType(type) {
            throw Problem(text: "'\(type)' is not an activity type (1 to 255 visible ASCII characters)")
        }
        let ranges = info["HandoffActivityVersions"] as? [String: [String: String]] ?? [:]
        let versions = ranges.sorted { $0.key < $1.key }.map { type, ends in
            "\(type) \(ends["minimumVersion"] ?? "-") \(ends["maximumVersion"] ?? "-")"
        }
        return Handler(
            id: info["CFBundleIdentifier"] as? String ?? program, name: info["CFBundleName"] as? String ?? program,
            exec: [program], types: types, versions: versions, team: info["HandoffTeamID"] as? String)
    }

    private static func isType(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func fail(_ text: String) -> Never {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        exit(1)
    }
}
