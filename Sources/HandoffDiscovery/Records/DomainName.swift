/// A DNS name whose labels contain only ASCII letters, digits, `-` and `_`, in lower case.
///
/// This protocol publishes no other names. Names of other devices are untrusted: a name with any
/// other character, an escape, an empty label or a compression pointer is rejected, so that the
/// text form never needs escapes.
package struct DomainName: Hashable, Sendable {
    /// The labels, most specific first; never empty, each of 1 to 63 bytes.
    let labels: [String]

    /// The maximum length of a name's wire form (RFC 1035 section 2.3.4).
    package static let maxByteCount = 255
    /// The maximum length of a label (RFC 1035 section 2.3.4).
    static let maxLabelByteCount = 63

    /// Creates a name from labels. Returns nil if a label is invalid or the name is too long.
    package init?(labels: [String]) {
        let lowered = labels.compactMap(DomainName.label)
        guard !labels.isEmpty, lowered.count == labels.count,
            lowered.reduce(1, { $0 + $1.utf8.count + 1 }) <= DomainName.maxByteCount
        else { return nil }
        self.labels = lowered
    }

    /// Parses the text form: labels separated by dots, without a trailing dot.
    package init?(_ text: String) {
        self.init(labels: text.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

    /// Decodes all of `wire` as one uncompressed name (RFC 1035 section 3.1).
    package init?(wire: ArraySlice<UInt8>) {
        guard wire.count <= DomainName.maxByteCount else { return nil }
        var rest = wire
        var labels: [String] = []
        while let count = rest.popFirst(), count != 0 {
            guard count <= DomainName.maxLabelByteCount, rest.count >= Int(count) else { return nil }
            guard let label = String(validating: rest.prefix(Int(count)), as: UTF8.self) else { return nil }
            labels.append(label)
            rest = rest.dropFirst(Int(count))
        }
        // The wire form ends with the root's empty label and nothing after it.
        guard wire.last == 0, rest.isEmpty else { return nil }
        self.init(labels: labels)
    }

    /// The labels separated by dots, without escapes.
    package var text: String { labels.joined(separator: ".") }

    /// The uncompressed wire form (RFC 1035 section 3.1).
    package var wire: [UInt8] {
        labels.reduce(into: []) { wire, label in
            wire.append(UInt8(truncatingIfNeeded: label.utf8.count))
            wire.append(contentsOf: label.utf8)
        } + [0]
    }

    /// Returns one label in lower case, or nil if it is empty, too long or contains an invalid
    /// character.
    package static func label(_ text: String) -> String? {
        guard (1...maxLabelByteCount).contains(text.utf8.count) else { return nil }
        var lowered: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                lowered.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                lowered.append(byte | 0x20)
            default:
                return nil
            }
        }
        return String(decoding: lowered, as: UTF8.self)
    }
}
