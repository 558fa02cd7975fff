/// Sole owner of an OpenSSL object that is not changed after this is made.
///
/// Proof for `@unchecked`: OpenSSL allows several threads to use an object (EVP_PKEY, SSL_CTX, fetched algorithm) at once
/// as long as none changes it; makers of a `SharedHandle` finish all changes before, and references are counted
/// atomically by OpenSSL.
package final class SharedHandle: @unchecked Sendable {
    /// The object; valid as long as this owner is, so keep the owner alive across the call.
    package let pointer: OpaquePointer
    private let free: @convention(c) (OpaquePointer?) -> Void

    /// Takes ownership of `pointer`, and calls `free` with it at the end.
    package init(_ pointer: OpaquePointer, free: @escaping @convention(c) (OpaquePointer?) -> Void) {
        self.pointer = pointer
        self.free = free
    }

    deinit {
        free(pointer)
    }
}
