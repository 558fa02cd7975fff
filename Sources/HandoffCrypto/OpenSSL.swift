internal import COpenSSL
internal import COpenSSLProvider

/// Library-wide state: initialisation, fetched algorithms, and the error queue.
package enum OpenSSL {
    /// Initialises OpenSSL once, without its configuration file. Every use of the library in this
    /// package must call it first.
    ///
    /// `openssl.cnf` and `OPENSSL_CONF` can load providers and engines and change TLS defaults, so
    /// a file that another program or user wrote could weaken the daemon. The first initialisation
    /// decides this for the whole process (`OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG)`). All
    /// entry points of this module therefore call this function.
    package static func start() {
        _ = isStarted
    }

    /// Returns the text of the oldest error in the queue of this thread, and empties the queue
    /// (`ERR_get_error`, `ERR_clear_error`).
    ///
    /// Call it immediately after the failed call, on the same thread: the queue is per thread.
    package static func takeErrors() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "no reason given" }
        let capacity = 256  // ERR_error_string_n truncates the text to this size
        return String(unsafeUninitializedCapacity: capacity) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                ERR_error_string_n(code, text.baseAddress, capacity)
                return text.firstIndex(of: 0) ?? 0
            }
        }
    }

    /// Allocates memory for a secret: locked while there is room, otherwise ordinary memory, which
    /// is also cleansed when freed.
    ///
    /// Half of the arena is reserved for OpenSSL itself, which has no fallback: if its random
    /// generators or session keys find the arena full, they fail.
    static func secretMemory(_ count: Int) -> UnsafeMutableRawPointer? {
        start()
        let share = secureArena / 2
        let isRoom = count <= share - min(CRYPTO_secure_used(), share)
        return (isRoom ? copenssl_secure_malloc(count) : nil) ?? copenssl_malloc(count)
    }

    /// The size of locked memory in bytes: several hundred secrets of 32 bytes plus OpenSSL's own
    /// session keys and random generators. Only used pages are resident (`mlock2(MLOCK_ONFAULT)`).
    private static let secureArena = 256 * 1024

    private static let isStarted: Bool = {
        // At exit(3) the library would free per-thread data while threads that end at that time
        // free it too, which would abort the process. No clean-up is needed, because the kernel
        // reclaims everything.
        let options = UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT)
        precondition(OPENSSL_init_crypto(options, nil) == 1, "OpenSSL cannot be started")
        // If it cannot be loaded, handshakes take longer. Nothing else changes.
        _ = copenssl_load_provider()
        // Result 2 means not locked (RLIMIT_MEMLOCK), 0 means no arena. Ordinary memory is then
        // used, and cleansed.
        _ = CRYPTO_secure_malloc_init(secureArena, 32)
        return true
    }()
}

/// A failure of a cryptographic operation. Data that fails a check is not an error: such operations
/// return nil or false.
package enum CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    /// OpenSSL rejected `call`. `detail` is the text of its error queue.
    case library(call: String, detail: String)
    /// The algorithm does not accept an input of this length.
    case wrongLength(of: String, count: Int)

    /// Returns the error of the call that has just failed, with the text of this thread's OpenSSL
    /// queue.
    ///
    /// - Parameter call: the name of the C function.
    package static func failed(_ call: String) -> CryptoError {
        .library(call: call, detail: OpenSSL.takeErrors())
    }

    package var description: String {
        switch self {
        case .library(let call, let detail): "\(call) failed: \(detail)"
        case .wrongLength(let name, let count): "invalid length of \(name): \(count) bytes"
        }
    }
}

/// The sole owner of an OpenSSL object that is not changed after this object was created.
package final class SharedHandle: Sendable {
    /// The object. Valid as long as this owner exists, so keep the owner alive during the call.
    ///
    /// Unsafe for the compiler only: OpenSSL allows several threads to use an object (EVP_PKEY,
    /// SSL_CTX, fetched algorithm) concurrently as long as no thread changes it. Creators of a
    /// `SharedHandle` finish all changes before, and OpenSSL counts references atomically.
    package nonisolated(unsafe) let pointer: OpaquePointer
    private let free: @Sendable @convention(c) (OpaquePointer?) -> Void

    /// Takes ownership of `pointer`, and calls `free` with it in `deinit`.
    init(_ pointer: OpaquePointer, free: @escaping @Sendable @convention(c) (OpaquePointer?) -> Void) {
        self.pointer = pointer
        self.free = free
    }

    deinit {
        free(pointer)
    }
}

/// Algorithms that are fetched once. Each fetch takes microseconds; using a fetched algorithm
/// avoids that.
enum Algorithm {
    /// SHA-256 (`EVP_MD_fetch`).
    static let sha256 = fetch("SHA256", EVP_MD_fetch, EVP_MD_free)
    /// AES-256-GCM (`EVP_CIPHER_fetch`).
    static let aes256GCM = fetch("AES-256-GCM", EVP_CIPHER_fetch, EVP_CIPHER_free)
    /// HKDF (`EVP_KDF_fetch`).
    static let hkdf = fetch("HKDF", EVP_KDF_fetch, EVP_KDF_free)
    /// HMAC with SHA-256 without a key. Only copies of it are used (`EVP_MAC_CTX_dup`).
    static let hmacSHA256: SharedHandle = {
        let mac = fetch("HMAC", EVP_MAC_fetch, EVP_MAC_free)
        guard let template = copenssl_hmac_template(mac.pointer, "SHA256") else {
            // See the comment in `fetch`.
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
            // The default provider of every OpenSSL 3 has these algorithms. If one is missing, the
            // installation is broken.
            preconditionFailure("OpenSSL has no \(name)")
        }
        return SharedHandle(handle, free: free)
    }
}
