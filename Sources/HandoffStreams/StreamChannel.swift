package import HandoffCrypto
package import LoopIO

/// A connection that has completed its TLS handshake, in transit from the loop that created it to
/// the loop of its stream.
///
/// Unchecked: the creator no longer uses either part, so both are accessed only on the stream's
/// loop.
package final class StreamChannel: @unchecked Sendable {
    private var descriptor: Descriptor?
    let session: TLSSession

    /// - Parameters:
    ///   - descriptor: the connected TCP socket.
    ///   - session: the open TLS session over it, into which all received bytes have been fed.
    package init(_ descriptor: consuming Descriptor, session: TLSSession) {
        self.descriptor = .some(descriptor)
        self.session = session
    }

    /// Returns the socket. Throws on the second call.
    func takeDescriptor() throws(Errno) -> Descriptor {
        guard let descriptor = descriptor.take() else { throw .invalidArgument }
        return descriptor
    }
}

/// A descriptor in transit to another thread, which takes it once. An unused descriptor is closed.
package final class HandedDescriptor: Equatable, Sendable {
    private let descriptor: Locked<Descriptor?>
    /// The process that passes descriptors at the other end.
    let passer: DescriptorSource
    /// The shared memory that belongs to it, if any.
    let memory: LocalMemory?

    /// Takes ownership of a descriptor.
    package convenience init(_ descriptor: consuming Descriptor, passer: DescriptorSource = .unnamed) {
        self.init(descriptor, passer: passer, memory: nil)
    }

    init(_ descriptor: consuming Descriptor, passer: DescriptorSource, memory: LocalMemory?) {
        self.descriptor = Locked(.some(descriptor))
        self.passer = passer
        self.memory = memory
    }

    deinit {
        if let descriptor = take() { LocalSocket.close(descriptor, from: passer) }
    }

    package static func == (left: HandedDescriptor, right: HandedDescriptor) -> Bool { left === right }

    /// Returns the descriptor on the first call, and nil afterwards.
    package func take() -> Descriptor? {
        descriptor.withLock { $0.take() }
    }
}
