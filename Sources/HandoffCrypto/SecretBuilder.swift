internal import COpenSSL

/// Collects a secret that arrives piece by piece; what is outgrown is overwritten. For one thread at a time.
package final class SecretBuilder {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    /// Number of bytes so far.
    package private(set) var count = 0

    /// Without bytes yet.
    package init() {}

    deinit {
        clear()
    }

    /// Adds bytes at the end; the caller wipes the original.
    package func append(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        let (needed, hasOverflowed) = count.addingReportingOverflow(bytes.count)
        precondition(!hasOverflowed, "more bytes than memory")
        if needed > capacity { grow(to: max(needed, 2 * capacity, 256)) }
        bytes.withUnsafeBytes { source in
            if let start = source.baseAddress {
                memory?.advanced(by: count).copyMemory(from: start, byteCount: source.count)
            }
        }
        count = needed
    }

    /// The bytes; the builder is empty again.
    package func take() -> SecretBytes {
        let secret = SecretBytes(copying: UnsafeRawBufferPointer(start: memory, count: count))
        clear()
        return secret
    }

    /// Overwrites and forgets the bytes.
    package func clear() {
        if let memory { copenssl_secure_clear_free(memory, capacity) }
        memory = nil
        capacity = 0
        count = 0
    }

    private func grow(to capacity: Int) {
        guard let grown = OpenSSL.secretMemory(capacity) else { preconditionFailure("out of memory") }
        if let memory {
            grown.copyMemory(from: memory, byteCount: count)
            copenssl_secure_clear_free(memory, self.capacity)
        }
        memory = grown
        self.capacity = capacity
    }
}
