/// Who has passed a descriptor: those of one source have a share of what closes and reads them, and hold nobody else up.
package struct DescriptorSource: Hashable, Sendable {
    private let name: String

    /// The source with this name.
    package init(_ name: String) {
        self.name = name
    }

    /// All who are not told apart.
    package static let unnamed = DescriptorSource("")
}
