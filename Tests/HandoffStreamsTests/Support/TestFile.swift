import Glibc
import LoopIO
import Testing

/// A file, pipe or socket to pass, with access to its bytes for the test.
final class TestFile {
    /// The descriptor to pass.
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

    /// Creates a regular file with this content.
    static func regular(_ bytes: [UInt8] = []) throws -> TestFile {
        var template = Array("/tmp/streams-XXXXXX".utf8CString)
        let raw = mkstemp(&template)
        try #require(raw >= 0)
        #expect(Glibc.write(raw, bytes, bytes.count) == bytes.count)
        #expect(lseek(raw, 0, SEEK_SET) == 0)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return TestFile(PassedFile(Descriptor(owning: raw)), path: path)
    }

    /// Creates a stream socket whose other end belongs to the test.
    static func socket() throws -> TestFile {
        let (other, box) = try RawSocket.local()
        return TestFile(PassedFile(try box.take()), other: other)
    }

    /// Opens a device.
    static func device(_ path: String) throws -> TestFile {
        let raw = open(path, O_RDWR | O_CLOEXEC)
        try #require(raw >= 0)
        return TestFile(PassedFile(Descriptor(owning: raw)))
    }

    /// The current content of the regular file.
    func content() throws -> [UInt8] {
        let raw = open(try #require(path), O_RDONLY)
        defer { close(raw) }
        var bytes = [UInt8](repeating: 0, count: 8 << 20)
        let count = read(raw, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}
