import Glibc
import HandoffCrypto
import Testing

@Suite struct OpenSSLTests {
    /// Threads that use the library may end while the process exits.
    @Test func `the library is not torn down at the exit of the process`() async {
        await #expect(processExitsWith: .success) {
            // Registered first, so called last: after whatever the library has registered at its start.
            atexit {
                // What fails, or crashes, once the library has been cleaned up.
                if (try? SigningKey()) == nil { _exit(1) }
            }
            OpenSSL.start()
            _ = try SigningKey()
            exit(0)
        }
    }
}
