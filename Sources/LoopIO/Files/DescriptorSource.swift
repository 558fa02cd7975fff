/// The origin of a passed descriptor. Each source has its own share of the threads that close and
/// read descriptors, so that it does not block other sources.
package struct DescriptorSource: Hashable, Sendable {
    private let name: String

    /// The source with this name.
    package init(_ name: String) {
        self.name = name
    }

    /// The common source of all descriptors whose origin is not distinguished.
    package static let unnamed = DescriptorSource("")
}
