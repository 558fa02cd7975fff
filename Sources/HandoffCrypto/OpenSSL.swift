internal import COpenSSL

/// The library as a whole: its start, its fetched algorithms, and its error queue.
package enum OpenSSL {
    /// Starts OpenSSL without its configuration file, once; every use of the library in this package comes after it.
    ///
    /// `openssl.cnf` and `OPENSSL_CONF` can load providers and engines and change TLS defaults, so a file that another
    /// program or user wrote could weaken the daemon. The first initialisation decides this for the whole process
    /// (`OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG)`), therefore all statics of this module go through here.
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
        let options = UInt64(OPENSSL_INIT_NO_LOAD_CONFIG)
        precondition(OPENSSL_init_crypto(options, nil) == 1, "OpenSSL cannot be started")
        // Result 2 means not locked (RLIMIT_MEMLOCK), 0 that there is no arena; then plain memory is used, and cleansed.
        _ = CRYPTO_secure_malloc_init(secureArena, 32)
        return true
    }()
}
