package import HandoffModel

/// The networks that the user knows, by the addresses of their gateways: text for people, one network a line, its address and
/// then its name; empty lines and lines that begin with `#` are passed over.
package struct NetworksFile: Sendable, Equatable {
    /// Most bytes of a file.
    static let longest = 64 * 1024
    /// Most networks.
    package static let most = 256
    /// Most bytes of a name.
    package static let longestName = 64

    /// A network.
    package struct Entry: Sendable, Equatable {
        /// Its gateway.
        package let gateway: HardwareAddress
        /// What the user calls it; one line, and perhaps empty.
        package let name: String
    }

    /// The networks, in the order in which they became known.
    package private(set) var entries: [Entry] = []

    /// No network.
    package init() {}

    /// Reads a file.
    ///
    /// - Throws: the first line that is no network, is no UTF-8, or lacks its end: the file was cut off.
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

    /// The file's bytes.
    package func encoded() -> [UInt8] {
        entries.flatMap { Array("\($0.gateway.text) \($0.name)\n".utf8) }
    }

    /// The network with this gateway; nil when it is not known.
    package subscript(_ gateway: HardwareAddress) -> Entry? { entries.first { $0.gateway == gateway } }

    /// Adds a network, or gives it another name; false when there are too many.
    @discardableResult
    package mutating func add(_ gateway: HardwareAddress, name: String) -> Bool {
        let entry = Entry(gateway: gateway, name: name)
        if let index = entries.firstIndex(where: { $0.gateway == gateway }) {
            entries[index] = entry
            return true
        }
        guard entries.count < Self.most else { return false }
        entries.append(entry)
        return true
    }

    /// Forgets a network.
    package mutating func remove(_ gateway: HardwareAddress) {
        entries.removeAll { $0.gateway == gateway }
    }
}
