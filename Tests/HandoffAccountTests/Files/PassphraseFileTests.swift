import HandoffAccount
import HandoffCrypto
import Testing

/// An account file protected by a passphrase.
@Suite struct PassphraseFileTests {
    private let file: AccountFile
    private let passphrase = secret("open sesame")

    init() throws {
        var founder = try Member.founder()
        file = try TicketTests.export(&founder)
    }

    private static func secret(_ text: String) -> SecretBytes {
        SecretBytes(copying: Array(text.utf8))
    }

    @Test
    func `a file is read only with its passphrase and the standard cost`() throws {
        let sealed = try file.encoded(passphrase: passphrase)
        let read = try AccountFile(decoding: sealed, passphrase: passphrase)
        #expect(read.ticketSeed == file.ticketSeed)
        #expect(read.roster.digest == file.roster.digest)
        #expect(throws: FileError.passphraseWrong) {
            try AccountFile(decoding: sealed, passphrase: passphrase, seal: .trivial)
        }
    }

    @Test
    func `nothing in a file is readable without the passphrase, and no two files are equal`() throws {
        let first = try file.encoded(passphrase: passphrase, seal: .trivial).exposedCopy()
        let second = try file.encoded(passphrase: passphrase, seal: .trivial).exposedCopy()
        #expect(first[16..<32] != second[16..<32])
        #expect(first[32...] != second[32...])
        for part in [file.ticketSeed.exposedCopy(), file.roster.encoded()] {
            let beginning = Array(part.prefix(16))
            let occurs = first.indices.contains { first[$0...].starts(with: beginning) }
            #expect(!occurs)
        }
    }

    @Test(arguments: ["", "open sesam", "open sesame ", "Open sesame", "öpen sesame"])
    func `a missing passphrase, a wrong one and a superfluous one are distinguished`(_ text: String) throws {
        let sealed = try file.encoded(passphrase: passphrase, seal: .trivial)
        #expect(throws: text.isEmpty ? FileError.invalidPassphraseLength : FileError.passphraseWrong) {
            try AccountFile(decoding: sealed, passphrase: Self.secret(text), seal: .trivial)
        }
        #expect(throws: FileError.passphraseMissing) { try AccountFile(decoding: sealed) }
        let clear = try file.encoded()
        #expect(throws: FileError.notProtected) { try AccountFile(decoding: clear, passphrase: Self.secret(text)) }
    }

    @Test(arguments: [(0, false), (1, true), (1024, true), (1025, false)])
    func `a passphrase has 1 to 1,024 bytes`(_ count: Int, _ isFit: Bool) throws {
        let passphrase = SecretBytes(copying: [UInt8](repeating: 0x61, count: count))
        if isFit {
            let sealed = try file.encoded(passphrase: passphrase, seal: .trivial)
            #expect(
                try AccountFile(decoding: sealed, passphrase: passphrase, seal: .trivial).roster.digest
                    == file.roster.digest)
        } else {
            #expect(throws: FileError.invalidPassphraseLength) {
                try file.encoded(passphrase: passphrase, seal: .trivial)
            }
        }
    }

    @Test
    func `a file with any byte changed is rejected, even with a recomputed checksum`() throws {
        let bytes = try file.encoded(passphrase: passphrase, seal: .trivial).exposedCopy()
        for index in bytes.indices.dropLast(32) {
            var changed = Array(bytes.dropLast(32))
            changed[index] ^= UInt8(1 << (index % 8))
            let file = SecretBytes(copying: changed + SHA256.hash(changed))
            #expect(throws: FileError.self) {
                try AccountFile(decoding: file, passphrase: passphrase, seal: .trivial)
            }
        }
    }

    @Test(arguments: [0, 15, 31])
    func `a file too short for salt and tag is invalid whatever the passphrase`(_ count: Int) throws {
        let content = [UInt8](repeating: 0, count: count)
        let start = Array("hndf-exp".utf8) + [0, 1, 0, 1, 0, 0, 0, UInt8(count)] + content
        let file = SecretBytes(copying: start + SHA256.hash(start))
        #expect(throws: FileError.invalid("content is too short")) {
            try AccountFile(decoding: file, passphrase: passphrase)
        }
    }
}
