package import HandoffModel

/// What the stream is for over which a document is fetched: `document/` and its number.
package enum DocumentResource {
    /// What all of them begin with.
    private static let prefix = "document/"

    /// The resource of a document.
    package static func resource(_ fetch: Int) -> StreamResource? { StreamResource(prefix + String(fetch)) }

    /// The number of a document; nil for any other resource.
    package static func number(_ resource: StreamResource) -> Int? {
        guard resource.text.hasPrefix(prefix) else { return nil }
        let digits = resource.text.dropFirst(prefix.count)
        guard digits.utf8.count <= 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits)
    }
}
