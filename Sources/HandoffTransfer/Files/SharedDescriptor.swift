import LoopIO

/// A descriptor with several holders, or one in a collection, closed with the last of them.
final class SharedDescriptor {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// The number; valid as long as this value.
    var raw: Int32 { descriptor.raw }
}
