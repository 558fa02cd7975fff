import Glibc
import LoopIO
import Testing

/// Memory that is neither swapped nor dumped.
@Suite(.serialized) struct LockedBytesTests {
    /// The part of /proc/self/smaps about the mapping at this address.
    private func mapping(at address: UInt) throws -> [String: String] {
        let file = try #require(fopen("/proc/self/smaps", "r"))
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        var fields: [String: String] = [:]
        var isInside = false
        while getline(&line, &size, file) > 0, let line {
            let text = String(cString: line)
            let words = text.split(whereSeparator: \.isWhitespace)
            let bounds = words.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
            if bounds.count == 2 {
                if isInside { return fields }
                isInside = (bounds[0]..<bounds[1]).contains(address)
            } else if isInside, let name = words.first {
                fields[String(name.dropLast())] = words.dropFirst().joined(separator: " ")
            }
        }
        return fields
    }

    /// The bytes at an address, read as by another process; nil if it is not mapped.
    private func bytes(at address: UInt, _ count: Int) throws -> [UInt8]? {
        let file = open("/proc/self/mem", O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(file, &bytes, count, off_t(address)) == count ? bytes : nil
    }

    // The sanitizers replace mlock(2), and do nothing.
    @Test(
        .disabled(
            if: dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil, "a sanitizer locks no memory"))
    func `the memory is locked, is not dumped, and has no content after the release`() throws {
        let content = [UInt8](repeating: 0xA5, count: 3 * 4096 + 1)
        var locked = LockedBytes(content)
        let address = try #require(locked).address
        #expect(locked?.bytes == content && locked?.count == content.count)
        let fields = try mapping(at: address)
        // Whole pages, and perhaps those of an equal neighbour.
        let kibibytes = fields["Locked"]?.split(separator: " ").first.flatMap { Int($0) } ?? 0
        #expect(kibibytes >= 16, "\(fields)")
        let flags = fields["VmFlags"]?.split(separator: " ") ?? []
        #expect(flags.contains("lo") && flags.contains("dd"), "locked and not dumped: \(flags)")
        #expect(try bytes(at: address, content.count) == content)
        locked = nil
        // Another thread may have mapped the same address by now.
        #expect(try bytes(at: address, content.count) != content)
    }

    @Test func `no bytes, and more than the process may lock, are refused`() {
        #expect(LockedBytes([]) == nil)
        var limits = rlimit()
        #expect(getrlimit(__rlimit_resource_t(8), &limits) == 0)
        guard geteuid() != 0, limits.rlim_cur < 64 * 1024 * 1024 else { return }
        #expect(LockedBytes([UInt8](repeating: 0, count: Int(limits.rlim_cur) + 4096)) == nil)
    }
}
