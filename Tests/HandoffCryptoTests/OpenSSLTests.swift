import COpenSSL
import Glibc
import HandoffCrypto
import Testing

/// A hostile `OPENSSL_CONF` has no effect. Each case needs a process in which OpenSSL has not
/// started yet.
struct OpenSSLTests {
    @Test func `configuration of the environment is not read`() async {
        await #expect(processExitsWith: .success) {
            let path = plantHostileConfiguration()
            defer { unlink(path) }
            precondition(SHA256.hash(Array("abc".utf8)).prefix(2) == [0xba, 0x78])
            let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
            precondition(HMACSHA256.authenticate([1], key: key).count == 32)
            let sealed = try AESGCM.seal([1], key: HKDF.expand(key, info: []), additionalData: [])
            precondition(sealed.count == 17)
            let signer = try SigningKey()
            let signature = try signer.sign([1])
            precondition(signer.publicKey.isValidSignature(signature, for: [1]))
            // Later initialisations cannot load it any more.
            OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CONFIG), nil)
            precondition(EVP_MD_fetch(nil, "SHA512", nil) != nil)
        }
    }

    @Test func `the same configuration would break a program that reads it`() async {
        await #expect(processExitsWith: .success) {
            let path = plantHostileConfiguration()
            defer { unlink(path) }
            OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CONFIG), nil)
            precondition(EVP_MD_fetch(nil, "SHA256", nil) == nil)
        }
    }

    /// Threads that use the library may end while the process exits.
    @Test func `the library is not torn down at the exit of the process`() async {
        await #expect(processExitsWith: .success) {
            // Registered first and therefore called last, after anything that the library registers
            // at its start.
            atexit {
                // This call fails or crashes if the library has been cleaned up.
                if (try? SigningKey()) == nil { _exit(1) }
            }
            OpenSSL.start()
            _ = try SigningKey()
            exit(0)
        }
    }

    @Test func `keys of certificates are read by Ed25519 decoders only`() {
        OpenSSL.start()
        for (name, exists) in [("ED25519", true), ("EC", false), ("RSA", false), ("X25519", false)] {
            let decoder = OSSL_DECODER_fetch(nil, name, nil)
            #expect((decoder != nil) == exists, "\(name): each further decoder makes a handshake slower")
            OSSL_DECODER_free(decoder)
        }
        _ = OpenSSL.takeErrors()
    }

    @Test func `errors of the queue are described and removed`() {
        OpenSSL.start()
        ERR_clear_error()  // of earlier tests on this thread
        _ = EVP_MD_fetch(nil, "no such digest", nil)
        #expect(OpenSSL.takeErrors().contains("unsupported"))
        #expect(OpenSSL.takeErrors() == "no reason given")
    }
}

/// Points `OPENSSL_CONF` to a file that leaves OpenSSL without any algorithms, and returns the
/// file's path.
private func plantHostileConfiguration() -> String {
    let text = """
        openssl_conf = start
        [start]
        providers = providers
        alg_section = algorithms
        [providers]
        null = null
        [null]
        activate = 1
        [algorithms]
        default_properties = fips=yes

        """
    var path = Array("/tmp/handoff-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    precondition(descriptor >= 0 && write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    setenv("OPENSSL_CONF", path, 1)
    return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
