package import HandoffTLS
package import LoopIO

/// A connection whose TLS handshake is done, on its way from the loop that made it to the loop of its stream.
///
/// Unchecked: whoever makes it uses neither part any more, and both are only touched on the loop of the stream then.
package final class StreamChannel: @unchecked Sendable {
    private var descriptor: Descriptor?
    let session: TLSSession

    /// - Parameters:
    ///   - descriptor: the connected TCP socket.
    ///   - session: TLS over it, open, with all that came fed into it.
    package init(_ descriptor: consuming Descriptor, session: TLSSession) {
        self.descriptor = .some(descriptor)
        self.session = session
    }

    /// The socket; once.
    func takeDescriptor() throws(Errno) -> Descriptor {
        guard let descriptor = descriptor.take() else { throw .invalidArgument }
        return descriptor
    }
}

/// A descriptor on its way to another thread, where it is taken once; it closes what nobody took.
package final class HandedDescriptor: Equatable, Sendable {
    private let descriptor: Locked<Descriptor?>
    /// Who passes descriptors at its other end.
    let passer: DescriptorSource
    /// The memory that goes with it.
    let memory: LocalMemory?

    /// Takes a descriptor over.
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

    /// The descriptor; once.
    package func take() -> Descriptor? {
        descriptor.withLock { $0.take() }
    }
}
