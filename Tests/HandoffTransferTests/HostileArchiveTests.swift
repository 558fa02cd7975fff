import HandoffModel
import HandoffTransfer
import Testing

/// Returns a header with any fields and a valid checksum.
private func block(
    _ name: String, kind: Character = "0", size: String = "00000000000", mode: String = "0000644",
    magic: String = "ustar\u{0}00",
    prefix: String = "", link: String = ""
) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, _ place: Int) {
        for (index, byte) in text.utf8.enumerated() { bytes[place + index] = byte }
    }
    put(name, 0)
    put(mode, 100)
    put("0000000\u{0}0000000", 108)
    put(size, 124)
    put("00000000000", 136)
    put("        ", 148)
    put(String(kind), 156)
    put(link, 157)
    put(magic, 257)
    put(prefix, 345)
    let sum = bytes.reduce(0) { $0 + Int($1) }
    let digits = String(sum, radix: 8)
    put(String(repeating: "0", count: 6 - digits.count) + digits + "\u{0} ", 148)
    return bytes
}

private let zeros = [UInt8](repeating: 0, count: 512)
private let end = zeros + zeros

/// Returns an extended header with these records.
private func extended(_ records: String) -> [UInt8] {
    let bytes = Array(records.utf8)
    let size = String(bytes.count, radix: 8)
    return block("x", kind: "x", size: String(repeating: "0", count: 11 - size.count) + size) + bytes
        + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
}

private func record(_ key: String, _ value: String) -> String {
    let rest = " \(key)=\(value)\n"
    var length = rest.utf8.count
    while String(length).utf8.count + rest.utf8.count != length { length = String(length).utf8.count + rest.utf8.count }
    return String(length) + rest
}

/// A malicious archive.
private struct Hostile: CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let reason: TransferFailure.Reason

    init(_ name: String, _ bytes: [UInt8], _ reason: TransferFailure.Reason = .unsafe) {
        (testDescription, self.bytes, self.reason) = (name, bytes, reason)
    }
}

private let hostile: [Hostile] = [
    Hostile("absolute", block("/etc/evil") + end),
    Hostile("parent", block("../evil") + end),
    Hostile("parent inside", block("a", kind: "5") + block("a/../../evil") + end),
    Hostile("parent as prefix", block("evil", prefix: "..") + end),
    Hostile("parent in an extended header", extended(record("path", "../evil")) + block("a") + end),
    Hostile("here", block("./a") + end),
    Hostile("only here", block(".", kind: "5") + end),
    Hostile("no name", block("") + end),
    Hostile("slashes", block("a", kind: "5") + block("a//b") + end),
    Hostile("slash at the end of a file", block("a/") + end),
    Hostile("NUL in an extended path", extended(record("path", "a\u{0}b")) + block("a") + end),
    Hostile("hard link", block("a", kind: "1", link: "/etc/passwd") + end),
    Hostile("symbolic link", block("a", kind: "2", link: "/etc") + end),
    Hostile("character device", block("a", kind: "3") + end),
    Hostile("block device", block("a", kind: "4") + end),
    Hostile("pipe", block("a", kind: "6") + end),
    Hostile("contiguous file", block("a", kind: "7") + end),
    Hostile("old file", block("a", kind: "\u{0}") + end),
    Hostile("GNU long name", block("././@LongLink", kind: "L", size: "00000000005") + end),
    Hostile("GNU sparse file", block("a", kind: "S") + end),
    Hostile("global header", block("a", kind: "g") + end),
    Hostile("twice a file", block("a") + block("a") + end),
    Hostile("twice a folder", block("a", kind: "5") + block("a", kind: "5") + end),
    Hostile("file over folder", block("a", kind: "5") + block("a") + end),
    Hostile("below a file", block("a") + block("a/b") + end, .unreadable),
    Hostile("below nothing", block("a/b") + end, .unreadable),
    Hostile("GNU magic", block("a", magic: "ustar  \u{0}") + end, .malformed),
    Hostile("no magic", block("a", magic: "") + end, .malformed),
    Hostile("bad checksum", [UInt8(ascii: "b")] + block("a").dropFirst() + end, .malformed),
    Hostile("no size", block("a", size: "") + end, .malformed),
    Hostile("size that is no number", block("a", size: "0000000000x") + end, .malformed),
    Hostile("negative size", block("a", size: "-0000000001") + end, .malformed),
    Hostile("mode that is no number", block("a", mode: "rwxrwxr") + end, .malformed),
    Hostile("folder with bytes", block("a", kind: "5", size: "00000000001") + end, .malformed),
    Hostile("size near 2^63", extended(record("size", "9223372036854775807")) + block("a") + end, .malformed),
    Hostile("size beyond 2^63", extended(record("size", "9223372036854775808")) + block("a") + end, .malformed),
    Hostile("size above the limit", extended(record("size", "4611686018427387904")) + block("a") + end, .tooLarge),
    Hostile(
        "sizes that add up",
        block("a", size: "00000001750") + [UInt8](repeating: 1, count: 1024) + block("b", size: "00000001750") + end,
        .tooLarge),
    Hostile("negative size, extended", extended(record("size", "-1")) + block("a") + end, .malformed),
    Hostile("time out of range", extended(record("mtime", "99999999999999999")) + block("a") + end, .malformed),
    Hostile("link path, extended", extended(record("linkpath", "/etc")) + block("a") + end),
    Hostile("GNU sparse, extended", extended(record("GNU.sparse.major", "1")) + block("a") + end),
    Hostile("two paths", extended(record("path", "a") + record("path", "b")) + block("a") + end, .malformed),
    Hostile(
        "two extended headers", extended(record("path", "a")) + extended(record("path", "b")) + block("a") + end,
        .malformed),
    Hostile("record longer than its header", extended("99 path=a\n") + block("a") + end, .malformed),
    Hostile("record of no length", extended("0 path=a\n") + block("a") + end, .malformed),
    Hostile("record without a number", extended(" path=a\n") + block("a") + end, .malformed),
    Hostile("record with a huge number", extended("99999999999999999999 path=a\n") + block("a") + end, .malformed),
    Hostile("record without an end", extended("8 path=a") + block("a") + end, .malformed),
    Hostile("record without a key", extended("4 ab\n") + block("a") + end, .malformed),
    Hostile("empty extended header", block("x", kind: "x") + block("a") + end, .tooLarge),
    Hostile("large extended header", block("x", kind: "x", size: "00000200001") + end, .tooLarge),
    Hostile("huge extended header", block("x", kind: "x", size: "77777777777") + end, .tooLarge),
    Hostile("many records", extended(String(repeating: record("size", "1"), count: 50)) + block("a") + end, .malformed),
    Hostile("end behind an extended header", extended(record("path", "a")) + end, .malformed),
    Hostile("more behind the end", end + block("a"), .malformed),
    Hostile("more behind half an end", zeros + block("a") + end, .malformed),
    Hostile("cut before its end", block("a"), .malformed),
    Hostile("cut in its end", block("a") + zeros, .malformed),
    Hostile("cut in a header", block("a") + Array(block("b").prefix(100)), .malformed),
    Hostile("cut in a file", block("a", size: "00000001000") + [1, 2, 3], .malformed),
    Hostile("empty", [], .malformed),
    Hostile(
        "long path", extended(record("path", String(repeating: "a/", count: 2001) + "a")) + block("a") + end, .tooLarge),
    Hostile(
        "deep path", extended(record("path", String(repeating: "a/", count: 128) + "a")) + block("a") + end, .tooLarge),
    Hostile("many entries", (0..<11).flatMap { block("f\($0)") } + end, .tooLarge),
    Hostile("noise", [UInt8](repeating: 0x41, count: 5000), .malformed),
]

@Suite struct HostileArchiveTests {
    @Test(arguments: hostile)
    fileprivate func `a hostile archive is refused, and leaves nothing inside or outside`(sample: Hostile) throws {
        for size in [1, 100, 512, 100_000] {
            let target = try TestFolder()
            target.make("in")
            let header = try #require(TransferHeader(kind: .folder, name: "tree"))
            let limits = TarLimits(bytes: 1900, entries: 10)
            let destination = try Destination(output: target.file("in"))
            guard case .folder(let part) = try destination.open(header, from: try sender(), limits: limits) else {
                return
            }
            let refused = failure { () throws(TransferFailure) in
                var left = sample.bytes[...]
                while !left.isEmpty {
                    try part.write(Array(left.prefix(size)))
                    left = left.dropFirst(size)
                }
                try part.finish()
            }
            #expect(refused?.reason == sample.reason, "\(refused?.message ?? "taken")")
            #expect(refused?.message.unicodeScalars.allSatisfy { !VisibleText.isHidden($0) } == true)
            part.discard()
            #expect(target.listing().split(separator: "\n").count == 1)
        }
    }

    @Test
    func `only permissions of a mode are used, and zeros may follow the end of an archive`() throws {
        let target = try TestFolder()
        let header = try #require(TransferHeader(kind: .folder, name: "tree", mode: 0o755))
        guard case .folder(let part) = try Destination(output: target.path).open(header, from: try sender()) else {
            return
        }
        try part.write(block("a", mode: "0007755") + block("d", kind: "5", mode: "0007755") + end + zeros + zeros)
        try part.finish()
        #expect(target.mode("tree/a") == 0o755)
        #expect(target.mode("tree/d") == 0o755)
    }
}
