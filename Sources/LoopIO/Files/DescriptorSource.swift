/// The origin of a passed descriptor. Each has its own share of the threads that close and read
/// descriptors, so that none blocks others.
package struct DescriptorSource: Hashable, Sendable {
    private let name: String

    /// The source with this name.
    package init(_ name: String) {
        self.name = name
    }

    /// The source of descriptors without a known origin.
    package static let unnamed = DescriptorSource("")
}
