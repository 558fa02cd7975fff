import Glibc
import LoopIO
import Testing

/// A file, pipe or socket that is passed, and the test's way to its bytes.
final class TestFile {
    /// What is passed.
    let passed: PassedFile
    /// The other end of a pipe.
    let other: RawSocket?
    private let path: String?

    private init(_ passed: PassedFile, other: RawSocket? = nil, path: String? = nil) {
        self.passed = passed
        self.other = other
        self.path = path
    }

    deinit {
        if let path { unlink(path) }
    }

    /// A regular file with this content.
    static func regular(_ bytes: [UInt8] = []) throws -> TestFile {
        var template = Array("/tmp/streams-XXXXXX".utf8CString)
        let raw = mkstemp(&template)
        try #require(raw >= 0)
        #expect(Glibc.write(raw, bytes, bytes.count) == bytes.count)
        #expect(lseek(raw, 0, SEEK_SET) == 0)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return TestFile(PassedFile(Descriptor(owning: raw)), path: path)
    }

    /// A stream socket, of which the test has the other end.
    static func socket() throws -> TestFile {
        let (other, box) = try RawSocket.local()
        return TestFile(PassedFile(try box.take()), other: other)
    }

    /// A device.
    static func device(_ path: String) throws -> TestFile {
        let raw = open(path, O_RDWR | O_CLOEXEC)
        try #require(raw >= 0)
        return TestFile(PassedFile(Descriptor(owning: raw)))
    }

    /// What is in the regular file now.
    func content() throws -> [UInt8] {
        let raw = open(try #require(path), O_RDONLY)
        defer { close(raw) }
        var bytes = [UInt8](repeating: 0, count: 8 << 20)
        let count = read(raw, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}
