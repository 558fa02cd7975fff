import CSystemd
import Glibc

/// Sends entries to the journal with their fields as journal fields, `HANDOFF_` in front (sd_journal_sendv(3)).
package struct JournalSink: LogSink {
    private let identifier: String

    /// - Parameter identifier: the program's name, shown by journalctl.
    package init(identifier: String) {
        self.identifier = identifier
    }

    package func write(_ entry: LogEntry) {
        let items = Self.items(of: entry, identifier: identifier).map { Array($0.utf8) }
        // One allocation that all vectors point into; it lives until the call has returned.
        var joined = items.flatMap { $0 }
        joined.withUnsafeMutableBytes { bytes in
            var start = 0
            let vectors = items.map { item in
                defer { start += item.count }
                return iovec(iov_base: bytes.baseAddress?.advanced(by: start), iov_len: item.count)
            }
            // A journal that is not there has nobody who could be told.
            _ = sd_journal_sendv(vectors, Int32(clamping: vectors.count))
        }
    }

    /// `NAME=value` for each part of the entry. Values may contain anything: the journal's protocol is binary.
    package static func items(of entry: LogEntry, identifier: String) -> [String] {
        let common = [
            "MESSAGE=\(entry.line)",
            "PRIORITY=\(entry.level.priority)",
            "SYSLOG_IDENTIFIER=\(identifier)",
            "HANDOFF_SUBSYSTEM=\(entry.subsystem)",
        ]
        return common + entry.fields.map { "HANDOFF_\(fieldName($0.name))=\($0.value)" }
    }

    /// The journal takes capitals, digits and underscores only, and drops an entry with any other name.
    private static func fieldName(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "A"..."Z":
                // `peerCount` becomes PEER_COUNT.
                if !result.isEmpty { result += "_" }
                result.unicodeScalars.append(scalar)
            case "a"..."z", "0"..."9":
                result += String(scalar).uppercased()
            default:
                result += "_"
            }
        }
        return String(result.prefix(56))
    }
}
