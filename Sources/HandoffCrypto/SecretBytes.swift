internal import COpenSSL

/// Secret bytes in locked memory if available. They are overwritten when the last reference is
/// released, and never printed.
///
/// Arrays, strings and `Data` are copied implicitly and cannot be overwritten, so keys are stored
/// only here.
package final class SecretBytes: Sendable {
    /// The number of bytes.
    package let count: Int
    /// Unsafe for the compiler only: only the initialisers write the memory, and it is freed once,
    /// in `deinit`.
    private nonisolated(unsafe) let memory: UnsafeMutableRawPointer

    /// Allocates `count` bytes and calls `fill` to write all of them. If it throws, they are
    /// overwritten and freed.
    package init<E: Error>(count: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        // If memory is exhausted, Swift itself ends the process. Counts are ours, or were checked
        // against a limit.
        guard let memory = OpenSSL.secretMemory(max(count, 1)) else { preconditionFailure("out of memory") }
        self.count = count
        self.memory = memory
        // If the initialiser of a class throws after this point, `deinit` runs, which overwrites
        // and frees.
        try fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
    }

    /// Creates random bytes (`RAND_priv_bytes`).
    package convenience init(random count: Int) throws(CryptoError) {
        try self.init(count: count) { (buffer: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            guard RAND_priv_bytes(buffer.baseAddress, Int32(clamping: buffer.count)) == 1 else {
                throw .failed("RAND_priv_bytes")
            }
        }
    }

    /// Copies `buffer`. The caller must wipe the original.
    package convenience init(copying buffer: UnsafeRawBufferPointer) {
        self.init(count: buffer.count) { $0.copyMemory(from: buffer) }
    }

    /// Copies `bytes`. The caller must wipe the original (`wipe`).
    package convenience init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Copies `bytes`. The caller must wipe the original (`wipe`).
    package convenience init(copying bytes: ArraySlice<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Moves the value of `bytes`, which is overwritten and left empty.
    package convenience init(wiping bytes: inout [UInt8]) {
        self.init(copying: bytes)
        Self.wipe(&bytes)
    }

    /// Returns all parts in order.
    package static func concatenated(_ parts: [SecretBytes]) -> SecretBytes {
        SecretBytes(count: parts.reduce(0) { $0 + $1.count }) { buffer in
            var offset = 0
            for part in parts {
                part.withUnsafeBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(from: bytes)
                }
                offset += part.count
            }
        }
    }

    deinit {
        copenssl_secure_clear_free(memory, max(count, 1))
    }

    /// Calls `body` with the bytes. It must not keep a copy.
    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Calls `body` with the bytes, for callers without unsafe code. It must not keep a copy.
    package func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let buffer = UnsafeRawBufferPointer(start: memory, count: count)
        return try body(buffer.assumingMemoryBound(to: UInt8.self).span)
    }

    /// Returns a copy outside protected memory, for a frame or file that must contain the secret.
    /// Overwrite it immediately after use (`wipe`).
    package func exposedCopy() -> [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// Returns true if both contain the same bytes. The duration depends only on the lengths
    /// (`CRYPTO_memcmp`).
    package func isEqual(to other: SecretBytes) -> Bool {
        count == other.count && CRYPTO_memcmp(memory, other.memory, count) == 0
    }

    /// Overwrites `bytes` and leaves it empty (`OPENSSL_cleanse`).
    ///
    /// Works only if the array's storage is not shared: shared storage is copied first, and the
    /// original remains.
    package static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        bytes = []
    }
}

extension SecretBytes: Equatable {
    /// Compares in constant time, see `isEqual`.
    package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.isEqual(to: right)
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret of \(count) bytes>" }
    package var debugDescription: String { description }
    /// Empty, so that `dump` and test failures do not reveal the secret.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Collects a secret that arrives in pieces. Outgrown memory is overwritten. Use it on one thread
/// at a time.
package final class SecretBuilder {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    /// The number of bytes so far.
    package private(set) var count = 0

    /// Creates an empty builder.
    package init() {}

    deinit {
        clear()
    }

    /// Appends bytes. The caller must wipe the original.
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

    /// Returns the bytes, and empties the builder.
    package func take() -> SecretBytes {
        let secret = SecretBytes(copying: UnsafeRawBufferPointer(start: memory, count: count))
        clear()
        return secret
    }

    /// Overwrites and releases the bytes.
    package func clear() {
        if let memory { copenssl_secure_clear_free(memory, capacity) }
        memory = nil
        capacity = 0
        count = 0
    }

    private func grow(to capacity: Int) {
        // If memory is exhausted, Swift itself ends the process. Counts are ours, or were checked
        // against a limit.
        guard let grown = OpenSSL.secretMemory(capacity) else { preconditionFailure("out of memory") }
        if let memory {
            grown.copyMemory(from: memory, byteCount: count)
            copenssl_secure_clear_free(memory, self.capacity)
        }
        memory = grown
        self.capacity = capacity
    }
}
