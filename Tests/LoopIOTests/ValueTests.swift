import Glibc
import LoopIO
import Testing

struct LocalTimeTests {
    @Test func `a local time that occurs twice is followed by its offset`() async {
        // In a separate process, because the time zone is process-wide.
        await #expect(processExitsWith: .success) {
            setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
            tzset()
            // 25 October 2026, 03:00 summer time is 02:00 winter time.
            let end = 1_792_890_000.0
            #expect(LocalTime.text(end - 7200 - 60) == "2026-10-25 00:59:00")
            #expect(LocalTime.text(end - 1800) == "2026-10-25 02:30:00 +02:00")
            #expect(LocalTime.text(end + 1800) == "2026-10-25 02:30:00 +01:00")
            #expect(LocalTime.text(end + 3600) == "2026-10-25 03:00:00")
            #expect(LocalTime.short(end + 1800, now: end) == "02:30 +01:00")
        }
    }

    @Test func `a time of today has no date`() {
        let now = 1_800_000_000.0
        let (time, day) = (LocalTime.short(now, now: now), LocalTime.short(now - 172_800, now: now))
        #expect(LocalTime.text(now).hasSuffix(" \(time):\(LocalTime.text(now).suffix(2))"))
        #expect(time.count == 5 && day.count == 16)
        #expect(LocalTime.text(now - 172_800).hasPrefix(day))
        #expect(LocalTime.short(.infinity, now: now) == "inf")
    }
}

struct ErrnoTests {
    @Test(arguments: [
        (EACCES, "permission denied"), (ENOENT, "no such file or directory"), (EIO, "input/output error"),
        (ENOTSUP, "operation not supported"), (EPIPE, "broken pipe"),
    ])
    func `describes itself as the system does`(_ number: Int32, _ text: String) {
        #expect("\(Errno(rawValue: number))" == text)
    }

    @Test func `an unknown number is named`() {
        #expect("\(Errno(rawValue: 12_345))".contains("12345"))
    }

    @Test func `negative results of the library are thrown`() throws {
        #expect(throws: Errno.permissionDenied) { try Errno.check(-EACCES) }
        #expect(try Errno.check(7) == 7)
    }

    @Test func `interrupted calls are retried`() throws {
        var attempts = 0
        let result = try SystemCall.retrying { () -> Int32 in
            attempts += 1
            errno = attempts < 3 ? EINTR : 0
            return attempts < 3 ? -1 : 42
        }
        #expect(result == 42)
        #expect(attempts == 3)
    }

    @Test func `other errors are thrown immediately`() {
        var attempts = 0
        #expect(throws: Errno.noSuchFile) {
            try SystemCall.retrying { () -> Int in
                attempts += 1
                errno = ENOENT
                return -1
            }
        }
        #expect(attempts == 1)
    }
}

struct DescriptorTests {
    private func isOpen(_ raw: Int32) -> Bool { fcntl(raw, F_GETFD) >= 0 }

    /// Returns a number that parallel tests do not get: the kernel assigns the lowest free one.
    private func high() throws -> Int32 {
        let raw = fcntl(0, F_DUPFD_CLOEXEC, 700)
        try #require(raw >= 700)
        return raw
    }

    @Test func `the end of the value closes it`() throws {
        let raw = try high()
        do {
            let descriptor = Descriptor(owning: raw)
            #expect(isOpen(descriptor.raw))
        }
        #expect(!isOpen(raw))
    }

    @Test func `it is closed on demand and not twice`() throws {
        let raw = try high()
        let descriptor = Descriptor(owning: raw)
        descriptor.close()
        #expect(!isOpen(raw))
    }

    @Test func `releasing transfers ownership`() throws {
        let raw = try high()
        let descriptor = Descriptor(owning: raw)
        #expect(descriptor.release() == raw)
        #expect(isOpen(raw))
        close(raw)
    }

    @Test func `a duplicate is independent`() throws {
        let ends = try Ends.sockets()
        let original = try ends.takeFirst()
        let copy = try original.duplicate()
        #expect(copy.raw != original.raw)
        #expect(fcntl(copy.raw, F_GETFD) & FD_CLOEXEC != 0)
        original.close()
        writeNow([1], to: ends.second)
        #expect(readNow(copy.raw) == [1])
    }
}
