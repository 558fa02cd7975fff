package import HandoffModel

/// The networks that the user knows, by the addresses of their gateways. A text file for people:
/// each line is a gateway address and a name. Empty lines and lines that begin with `#` are
/// skipped.
package struct NetworksFile: Sendable, Equatable {
    /// Maximum size of a file in bytes.
    static let maxFile = 64 * 1024
    /// Maximum number of networks.
    package static let maxEntries = 256
    /// Maximum length of a name in bytes.
    package static let maxNameLength = 64

    /// A network.
    package struct Entry: Sendable, Equatable {
        /// The address of its gateway.
        package let gateway: HardwareAddress
        /// The user's name for the network: one line, possibly empty.
        package let name: String
    }

    /// The networks, in the order in which they were added.
    package private(set) var entries: [Entry] = []

    /// Creates an empty list.
    package init() {}

    /// Decodes a file.
    ///
    /// - Throws: the first line that is not a network, is not UTF-8, or is truncated.
    package init(decoding bytes: [UInt8]) throws(PeersFile.BadLine) {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard parts.popLast()?.isEmpty == true else { throw PeersFile.BadLine(number: parts.count + 1) }
        for (index, part) in parts.enumerated() where !part.isEmpty && part.first != UInt8(ascii: "#") {
            guard let line = String(validating: part, as: UTF8.self) else {
                throw PeersFile.BadLine(number: index + 1)
            }
            let words = line.split(separator: " ", maxSplits: 1)
            guard let gateway = words.first.flatMap({ HardwareAddress(String($0)) }) else {
                throw PeersFile.BadLine(number: index + 1)
            }
            add(gateway, name: words.count > 1 ? String(words[1]) : "")
        }
    }

    /// Encodes the file.
    package func encoded() -> [UInt8] {
        entries.flatMap { Array("\($0.gateway.text) \($0.name)\n".utf8) }
    }

    /// The network with this gateway, or nil if it is unknown.
    package subscript(_ gateway: HardwareAddress) -> Entry? { entries.first { $0.gateway == gateway } }

    /// Adds or renames a network. Returns false if the list is full.
    @discardableResult
    package mutating func add(_ gateway: HardwareAddress, name: String) -> Bool {
        let entry = Entry(gateway: gateway, name: name)
        if let index = entries.firstIndex(where: { $0.gateway == gateway }) {
            entries[index] = entry
            return true
        }
        guard entries.count < Self.maxEntries else { return false }
        entries.append(entry)
        return true
    }

    /// Removes a network.
    package mutating func remove(_ gateway: HardwareAddress) {
        entries.removeAll { $0.gateway == gateway }
    }
}
