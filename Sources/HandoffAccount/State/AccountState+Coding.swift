package import HandoffCrypto
internal import HandoffModel
internal import HandoffProtocol

/// The account file. Content, inside the frame of ``FileFormat``:
///
/// length of the roster u32, roster as ``StatementList`` · has a key u8 (0, 1), then n u32, record
/// 32, since u64, account key 32 · has an exposed record u8 (0, 1), then its id 32 · has the seed
/// of a ticket u8 (0, 1), then the seed 32 · exports u16, each ticket 32, time u64 · unfinished
/// devices u16, each its id 32 · configured name, its length u8 (0 for none) and its text.
extension AccountState {
    /// Encodes the file.
    package func encoded() -> SecretBytes {
        var parts: [SecretBytes] = []
        func append(_ write: (inout ByteWriter) -> Void) {
            var writer = ByteWriter()
            write(&writer)
            parts.append(SecretBytes(copying: writer.bytes))
        }
        let statements = roster.encoded()
        append { writer in
            writer.u32(UInt32(clamping: statements.count))
            writer.raw(statements)
            writer.u8(held == nil ? 0 : 1)
        }
        if let held {
            append { writer in
                writer.u32(held.n)
                writer.raw(held.record.bytes)
                writer.u64(held.since)
            }
            parts.append(held.accountKey)
        }
        append { writer in
            writer.u8(exposedRecord == nil ? 0 : 1)
            if let exposedRecord { writer.raw(exposedRecord.bytes) }
            writer.u8(ticketSeed == nil ? 0 : 1)
        }
        if let ticketSeed { parts.append(ticketSeed) }
        append { writer in
            writer.u16(UInt16(clamping: exports.count))
            for export in exports {
                writer.raw(export.ticket.bytes)
                writer.u64(export.time)
            }
        }
        append { writer in
            writer.u16(UInt16(clamping: unfinished.count))
            for device in unfinished.sorted() { writer.raw(device.bytes) }
            // A longer name does not fit and cannot be configured.
            let name = Array((configuredName ?? "").utf8.prefix(Int(UInt8.max)))
            writer.u8(UInt8(clamping: name.count))
            writer.raw(name)
        }
        return FileFormat.account.file(parts)
    }

    /// Decodes a file that this device wrote. Its signatures were checked before it was written.
    package init(decoding file: SecretBytes) throws(FileError) {
        var reader = try FileFormat.account.content(of: file)
        let statements = try reader.plain(Int(try reader.u32()))
        do throws(StatementError) {
            self.init(roster: try Roster(decoding: statements, isTrusted: true))
        } catch {
            throw .invalid(error.description)
        }
        if try reader.flag() { held = try HeldEpoch(reading: &reader, accountID: accountID) }
        if try reader.flag() { exposedRecord = try reader.fingerprint() }
        if try reader.flag() { ticketSeed = try reader.secret(SigningKey.seedCount) }
        for _ in 0..<(try reader.u16()) {
            let ticket = try reader.fingerprint()
            exports.append(TicketExport(ticket: ticket, time: try reader.u64()))
        }
        for _ in 0..<(try reader.u16()) {
            unfinished.insert(DeviceID(checked: try reader.plain(DeviceID.byteCount)))
        }
        let bytes = try reader.plain(Int(try reader.u8()))
        guard let name = String(validating: bytes, as: UTF8.self) else { throw .invalid("a name is not UTF-8") }
        configuredName = name.isEmpty ? nil : name
        try reader.finish()
    }
}

extension HeldEpoch {
    fileprivate init(reading reader: inout SecretReader, accountID: AccountID) throws(FileError) {
        let n = try reader.u32()
        let record = try reader.fingerprint()
        let since = try reader.u64()
        let accountKey = try reader.secret(EpochKeys.accountKeyCount)
        do throws(CryptoError) {
            let keys = try EpochKeys(accountKey: accountKey, accountID: accountID)
            self.init(record: record, n: n, accountKey: accountKey, since: since, keys: keys)
        } catch {
            throw .invalid(error.description)
        }
    }
}

extension SecretReader {
    /// Reads whether an optional part follows.
    fileprivate mutating func flag() throws(FileError) -> Bool {
        switch try u8() {
        case 0: return false
        case 1: return true
        default: throw .invalid("a flag is neither 0 nor 1")
        }
    }
}
