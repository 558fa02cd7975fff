import Glibc
import HandoffDaemon
import Testing

@Suite struct ConfigurationReaderTests {
    func failure(_ path: String) -> String? {
        do {
            _ = try ConfigurationReader.read(path)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: ["/nonexistent/a", "/etc/passwd/a"])
    func `a missing file yields nil`(_ path: String) throws {
        #expect(try ConfigurationReader.read(path) == nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `anything but a regular file is refused without waiting`() throws {
        #expect(failure("/") == "/: cannot read the file: it is not a regular file")
        #expect(failure("/dev/zero") == "/dev/zero: cannot read the file: it is not a regular file")
        let pipe = "/tmp/handoff-test-\(getpid())-pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        #expect(failure(pipe) == "\(pipe): cannot read the file: it is not a regular file")
    }

    @Test
    func `a large file is read only until it exceeds the limit`() throws {
        let path = "/tmp/handoff-test-\(getpid())-large"
        let file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0o600)
        try #require(file >= 0)
        defer { unlink(path) }
        #expect(ftruncate(file, 1 << 30) == 0)
        close(file)
        #expect(try ConfigurationReader.read(path)?.count == ConfigurationFile.byteLimit + 1)
    }
}
