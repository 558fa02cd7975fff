internal import COpenSSL
internal import COpenSSLProvider

/// The library as a whole: its start, its fetched algorithms, and its error queue.
package enum OpenSSL {
    /// Starts OpenSSL without its configuration file, once; every use of the library in this package comes after it.
    ///
    /// `openssl.cnf` and `OPENSSL_CONF` can load providers and engines and change TLS defaults, so a file that another
    /// program or user wrote could weaken the daemon. The first initialisation decides this for the whole process
    /// (`OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG)`), therefore all entry points of this module go through here.
    package static func start() {
        _ = isStarted
    }

    /// Text of the oldest error in the queue of this thread; empties the queue (`ERR_get_error`, `ERR_clear_error`).
    ///
    /// Call it right after the failed call, on the same thread: the queue is per thread.
    package static func takeErrors() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "no reason given" }
        let capacity = 256  // ERR_error_string_n cuts the text to this
        return String(unsafeUninitializedCapacity: capacity) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                ERR_error_string_n(code, text.baseAddress, capacity)
                return text.firstIndex(of: 0) ?? 0
            }
        }
    }

    /// Memory for a secret: locked while there is room, ordinary memory (also cleansed when freed) after that.
    ///
    /// Half of the arena is left to OpenSSL itself, which has no second choice: when its random generators or session
    /// keys find the arena full, they fail.
    static func secretMemory(_ count: Int) -> UnsafeMutableRawPointer? {
        start()
        let share = secureArena / 2
        let isRoom = count <= share - min(CRYPTO_secure_used(), share)
        return (isRoom ? copenssl_secure_malloc(count) : nil) ?? copenssl_malloc(count)
    }

    /// Locked memory for secrets in bytes: some hundred secrets of 32 bytes beside OpenSSL's own session keys and random
    /// generators. Only pages in use are resident (`mlock2(MLOCK_ONFAULT)`).
    private static let secureArena = 256 * 1024

    private static let isStarted: Bool = {
        // At exit(3) the library would free what belongs to threads, while threads that end in that moment free it themselves:
        // the process ends with an abort then. It has nothing to tidy up that the kernel does not take back.
        let options = UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT)
        precondition(OPENSSL_init_crypto(options, nil) == 1, "OpenSSL cannot be started")
        // Where it cannot be had, handshakes take longer, and nothing else changes.
        _ = copenssl_load_provider()
        // Result 2 means not locked (RLIMIT_MEMLOCK), 0 that there is no arena; then plain memory is used, and cleansed.
        _ = CRYPTO_secure_malloc_init(secureArena, 32)
        return true
    }()
}

/// Why a cryptographic operation could not be done; says nothing about data that failed a check (those give `nil` or `false`).
package enum CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    /// OpenSSL refused `call`; `detail` is the text of its error queue.
    case library(call: String, detail: String)
    /// An input has a length that the algorithm does not take.
    case wrongLength(of: String, count: Int)

    /// The error of the call that has just failed, with what OpenSSL's queue of this thread says about it.
    ///
    /// - Parameter call: name of the C function.
    package static func failed(_ call: String) -> CryptoError {
        .library(call: call, detail: OpenSSL.takeErrors())
    }

    package var description: String {
        switch self {
        case .library(let call, let detail): "\(call) failed: \(detail)"
        case .wrongLength(let name, let count): "\(name) of \(count) bytes is not possible"
        }
    }
}

/// Sole owner of an OpenSSL object that is not changed after this is made.
package final class SharedHandle: Sendable {
    /// The object; valid as long as this owner is, so keep the owner alive across the call.
    ///
    /// Unsafe for the compiler only: OpenSSL allows several threads to use an object (EVP_PKEY, SSL_CTX, fetched algorithm) at
    /// once as long as none changes it; makers of a `SharedHandle` finish all changes before, and references are counted
    /// atomically by OpenSSL.
    package nonisolated(unsafe) let pointer: OpaquePointer
    private let free: @Sendable @convention(c) (OpaquePointer?) -> Void

    /// Takes ownership of `pointer`, and calls `free` with it at the end.
    package init(_ pointer: OpaquePointer, free: @escaping @Sendable @convention(c) (OpaquePointer?) -> Void) {
        self.pointer = pointer
        self.free = free
    }

    deinit {
        free(pointer)
    }
}

/// Algorithms fetched once: each fetch costs microseconds, each use of a fetched one does not.
enum Algorithm {
    /// SHA-256 (`EVP_MD_fetch`).
    static let sha256 = fetch("SHA256", EVP_MD_fetch, EVP_MD_free)
    /// AES-256-GCM (`EVP_CIPHER_fetch`).
    static let aes256GCM = fetch("AES-256-GCM", EVP_CIPHER_fetch, EVP_CIPHER_free)
    /// HKDF (`EVP_KDF_fetch`).
    static let hkdf = fetch("HKDF", EVP_KDF_fetch, EVP_KDF_free)
    /// HMAC with SHA-256 that waits for a key; only ever copied (`EVP_MAC_CTX_dup`).
    static let hmacSHA256: SharedHandle = {
        let mac = fetch("HMAC", EVP_MAC_fetch, EVP_MAC_free)
        guard let template = copenssl_hmac_template(mac.pointer, "SHA256") else {
            // As for what `fetch` looks for.
            preconditionFailure("OpenSSL has no HMAC with SHA256")
        }
        return SharedHandle(template, free: EVP_MAC_CTX_free)
    }()

    private static func fetch(
        _ name: String, _ fetch: (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer?,
        _ free: @escaping @Sendable @convention(c) (OpaquePointer?) -> Void
    ) -> SharedHandle {
        OpenSSL.start()
        guard let handle = fetch(nil, name, nil) else {
            // All of these are in the default provider of every OpenSSL 3: their absence is a broken installation.
            preconditionFailure("OpenSSL has no \(name)")
        }
        return SharedHandle(handle, free: free)
    }
}
