import FoundationEssentials
import HandoffModel
import Testing

/// The values of docs/protocol-vectors.json, which another implementation computes and
/// docs/protocol.md shows.
struct ProtocolVectors {
    private let values: [String: [UInt8]]

    /// Reads a group, such as `example`.
    init(_ group: String) throws {
        let groups = try Self.groups()
        let texts = try #require(["roster": groups.roster, "kept": groups.kept, "example": groups.example][group])
        values = try texts.mapValues { try #require(Hex.decode($0)) }
    }

    /// The cases of membership by name, each with its statements and the expected results.
    static func membership() throws -> [String: [String: String]] {
        try groups().membership
    }

    private static func groups() throws -> Groups {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let data = try Data(contentsOf: URL(filePath: "/" + root + "/docs/protocol-vectors.json"))
        return try JSONDecoder().decode(Groups.self, from: data)
    }

    private struct Groups: Decodable {
        let roster: [String: String]
        let kept: [String: String]
        let example: [String: String]
        let membership: [String: [String: String]]
    }

    /// The names of all values.
    var names: Set<String> { Set(values.keys) }

    /// A required value.
    subscript(_ name: String) -> [UInt8] {
        get throws { try #require(values[name], "no vector \(name)") }
    }
}
