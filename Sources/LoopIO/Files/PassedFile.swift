import Synchronization

/// The owner of a descriptor that another process has passed to this process (SCM_RIGHTS). Its kind
/// is unknown until it is checked. The other process still shares the open file, so its state must
/// not be changed.
///
/// The descriptor is closed by `DescriptorCloser`, not where the last reference is released, which
/// may be on a loop. Sendable: only `take` changes the state, and it is atomic.
package final class PassedFile: Sendable {
    /// The number, or -1 after it was taken.
    private let number: Atomic<Int32>

    /// The peer that passed the descriptor.
    package let source: DescriptorSource

    /// Takes ownership of the descriptor.
    package init(_ descriptor: consuming Descriptor, from source: DescriptorSource = .unnamed) {
        number = Atomic(descriptor.release())
        self.source = source
    }

    deinit {
        if let descriptor = take() { DescriptorCloser.close(descriptor, from: source) }
    }

    /// The number, for system calls that do not block; nil after it was taken.
    package var raw: Int32? {
        let raw = number.load(ordering: .acquiring)
        return raw < 0 ? nil : raw
    }

    /// Transfers the descriptor to the caller, which must close it on a thread that may block.
    /// Returns nil if it was taken before.
    package func take() -> Descriptor? {
        let raw = number.exchange(-1, ordering: .acquiringAndReleasing)
        return raw < 0 ? nil : Descriptor(owning: raw)
    }
}
