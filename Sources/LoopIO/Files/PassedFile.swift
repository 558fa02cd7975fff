import Synchronization

/// The owner of a descriptor that another process has passed to us (SCM_RIGHTS): of any kind until it was checked, and
/// still shared with that process, so that its state must not be changed.
///
/// It is not closed where the last reference ends, which may be a loop, but by `DescriptorCloser`. Sendable: only taking
/// the descriptor changes anything, and that is atomic.
package final class PassedFile: Sendable {
    /// The number, -1 once it was taken.
    private let number: Atomic<Int32>

    /// Who has passed it.
    package let source: DescriptorSource

    /// Takes the descriptor over.
    package init(_ descriptor: consuming Descriptor, from source: DescriptorSource = .unnamed) {
        number = Atomic(descriptor.release())
        self.source = source
    }

    deinit {
        if let descriptor = take() { DescriptorCloser.close(descriptor, from: source) }
    }

    /// The number, for system calls that do not wait; nil once it was taken.
    package var raw: Int32? {
        let raw = number.load(ordering: .acquiring)
        return raw < 0 ? nil : raw
    }

    /// Gives the descriptor to the caller, who closes it where that may wait; nil when somebody has it already.
    package func take() -> Descriptor? {
        let raw = number.exchange(-1, ordering: .acquiringAndReleasing)
        return raw < 0 ? nil : Descriptor(owning: raw)
    }
}
