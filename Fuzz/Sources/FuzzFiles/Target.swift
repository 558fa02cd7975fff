import FuzzSupport
import HandoffAccount
import HandoffCrypto

/// The binary files: identity, counter of starts, account, exported account, and the roster inside
/// them.
///
/// The first byte selects one. Its highest bit adds a valid header and checksum to the input, which
/// no mutation would find.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    let choice = input.byte()
    let formats: [FileFormat] = [.identity, .boot, .account, .export]
    let format = formats[Int(choice & 3)]
    let bytes = choice & 0x80 == 0 ? input.rest : whole(format, input.rest)
    let file = SecretBytes(copying: bytes)
    switch choice & 7 {
    case 0:
        guard let seed = try? IdentityFile.decode(file) else { return 0 }
        require(IdentityFile.encode(seed: seed).isEqual(to: file), "an identity reads differently")
    case 1:
        guard let boot = try? GenerationFile.decode(file) else { return 0 }
        require(GenerationFile.encode(boot).isEqual(to: file), "a counter reads differently")
    case 2:
        guard let account = try? AccountState(decoding: file) else { return 0 }
        require((try? AccountState(decoding: account.encoded())) != nil, "an account cannot be read again")
    case 3:
        guard let account = try? AccountFile(decoding: file) else { return 0 }
        require((try? AccountFile(decoding: account.encoded())) != nil, "an export cannot be read again")
        protect(account)
    case 4:
        let bytes = choice & 0x80 == 0 ? input.rest : whole(.export, input.rest, form: PassphraseSeal.form)
        let account = try? AccountFile(decoding: SecretBytes(copying: bytes), passphrase: passphrase, seal: .trivial)
        require(account == nil, "an export opens that was not sealed")
    default:
        guard let roster = try? Roster(decoding: input.rest) else { return 0 }
        let again = try? Roster(decoding: roster.encoded())
        require(again?.digest == roster.digest, "a roster reads differently")
    }
    return 0
}

/// Without scrypt's cost, which is not tested here.
private let passphrase = SecretBytes(copying: [0x61])

/// A readable account can also be read with a passphrase, and not after one byte is changed.
private func protect(_ account: AccountFile) {
    guard let file = try? account.encoded(passphrase: passphrase, seal: .trivial),
        let read = try? AccountFile(decoding: file, passphrase: passphrase, seal: .trivial)
    else { return require(false, "a protected export cannot be read") }
    require(read.roster.digest == account.roster.digest, "a protected export reads differently")
    var changed = file.exposedCopy()
    changed[changed.count / 2] ^= 1
    let body = Array(changed.dropLast(SHA256.byteCount))
    let again = SecretBytes(copying: body + SHA256.hash(body))
    require(
        (try? AccountFile(decoding: again, passphrase: passphrase, seal: .trivial)) == nil, "a changed export opens")
}

/// The content with the header and the checksum of a complete file.
private func whole(_ format: FileFormat, _ content: [UInt8], form: UInt16 = 0) -> [UInt8] {
    let length = UInt32(clamping: content.count)
    let header =
        Array(format.magic.utf8) + [UInt8(format.version >> 8), UInt8(format.version & 0xFF), 0, UInt8(form)]
        + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    return header + content + SHA256.hash(header + content)
}
