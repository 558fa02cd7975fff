internal import COpenSSL

/// Bytes that are secret: in locked memory where there is some, overwritten when the last reference goes, never printed.
///
/// Arrays, strings and `Data` are copied behind one's back and cannot be overwritten, so keys live here only.
package final class SecretBytes: Sendable {
    /// Number of bytes.
    package let count: Int
    /// Unsafe for the compiler only: the memory is written by the initialisers alone, and freed once, in `deinit`.
    private nonisolated(unsafe) let memory: UnsafeMutableRawPointer

    /// Makes `count` bytes and lets `fill` write all of them; on a throw they are overwritten and freed.
    package init<E: Error>(count: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        // Swift itself ends the process where memory is missing; counts are ours, or were checked against a limit.
        guard let memory = OpenSSL.secretMemory(max(count, 1)) else { preconditionFailure("out of memory") }
        self.count = count
        self.memory = memory
        // A class whose initialiser throws after this point runs `deinit`, which overwrites and frees.
        try fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
    }

    /// Fresh random bytes (`RAND_priv_bytes`).
    package convenience init(random count: Int) throws(CryptoError) {
        try self.init(count: count) { (buffer: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            guard RAND_priv_bytes(buffer.baseAddress, Int32(clamping: buffer.count)) == 1 else {
                throw .failed("RAND_priv_bytes")
            }
        }
    }

    /// A copy of `buffer`; the caller wipes the original.
    package convenience init(copying buffer: UnsafeRawBufferPointer) {
        self.init(count: buffer.count) { $0.copyMemory(from: buffer) }
    }

    /// A copy of `bytes`; the caller wipes the original (`wipe`).
    package convenience init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// A copy of `bytes`; the caller wipes the original (`wipe`).
    package convenience init(copying bytes: ArraySlice<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Takes over the value of `bytes`, which is overwritten and left empty.
    package convenience init(wiping bytes: inout [UInt8]) {
        self.init(copying: bytes)
        Self.wipe(&bytes)
    }

    /// All parts in order.
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

    /// Lends the bytes for the time of `body`; no copy may be kept.
    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Lends the bytes for the time of `body`, for callers without unsafe code; no copy may be kept.
    package func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let buffer = UnsafeRawBufferPointer(start: memory, count: count)
        return try body(buffer.assumingMemoryBound(to: UInt8.self).span)
    }

    /// A copy outside protected memory, for a frame or file that must hold the secret; overwrite it at once (`wipe`).
    package func exposedCopy() -> [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// Whether both hold the same bytes; takes the same time for all contents of one length (`CRYPTO_memcmp`).
    package func isEqual(to other: SecretBytes) -> Bool {
        count == other.count && CRYPTO_memcmp(memory, other.memory, count) == 0
    }

    /// Overwrites `bytes` and leaves it empty (`OPENSSL_cleanse`).
    ///
    /// Works only on an array that no one else holds: a shared one is copied first, and the original stays.
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
    /// Empty, so that `dump` and test failures show nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

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
        // Swift itself ends the process where memory is missing; counts are ours, or were checked against a limit.
        guard let grown = OpenSSL.secretMemory(capacity) else { preconditionFailure("out of memory") }
        if let memory {
            grown.copyMemory(from: memory, byteCount: count)
            copenssl_secure_clear_free(memory, self.capacity)
        }
        memory = grown
        self.capacity = capacity
    }
}
