import Glibc
import LoopIO
import Testing

/// The kinds of passed descriptors.
enum FileForm: CaseIterable, Sendable {
    case file
    case pipe
    case namedPipe
    case socket
}

/// A file, pipe or socket with one end to write to and one to read from.
struct FileEnds {
    /// Read by the code under test, or by the test.
    let reading: PassedFile
    /// Written by the test, or by the code under test.
    let writing: PassedFile
    private let folder: ScratchFolder

    init(_ form: FileForm, from source: DescriptorSource = .unnamed) throws {
        try ProcessSignals.prepare(blocking: [])
        folder = try ScratchFolder()
        let path = "\(folder.path)/file"
        switch form {
        case .file:
            writing = try Self.open(path, O_WRONLY | O_CREAT)
            reading = try Self.open(path, O_RDONLY)
        case .pipe:
            let pair = try Descriptor.pipe()
            reading = PassedFile(try Self.blocking(consume pair.first), from: source)
            writing = PassedFile(try Self.blocking(consume pair.second), from: source)
        case .namedPipe:
            #expect(mkfifo(path, 0o600) == 0)
            reading = try Self.open(path, O_RDONLY | O_NONBLOCK)
            writing = try Self.open(path, O_WRONLY)
            #expect(fcntl(try #require(reading.raw), F_SETFL, 0) == 0)
        case .socket:
            let pair = try Descriptor.socketPair()
            reading = PassedFile(try Self.blocking(consume pair.first))
            writing = PassedFile(try Self.blocking(consume pair.second))
        }
    }

    static func open(_ path: String, _ flags: Int32) throws -> PassedFile {
        let raw = Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard raw >= 0 else { throw Errno.current }
        return PassedFile(Descriptor(owning: raw))
    }

    /// Makes a descriptor blocking, as those of clients are.
    private static func blocking(_ descriptor: consuming Descriptor) throws -> Descriptor {
        #expect(fcntl(descriptor.raw, F_SETFL, 0) == 0)
        return descriptor
    }
}

/// Writes all bytes on a separate thread and closes the file.
func writeElsewhere(_ bytes: [UInt8], to file: PassedFile) throws -> OwnedThread {
    try OwnedThread(name: "test writer") {
        guard let descriptor = file.take() else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor.raw, $0.baseAddress, min($0.count, 100_000)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// Reads to the end on a separate thread.
func readElsewhere(_ file: PassedFile) throws -> (thread: OwnedThread, bytes: Locked<[UInt8]>) {
    let bytes = Locked<[UInt8]>([])
    let thread = try OwnedThread(name: "test reader") {
        guard let descriptor = file.take() else { return }
        var buffer = [UInt8](repeating: 0, count: 50_000)
        while true {
            let count = read(descriptor.raw, &buffer, buffer.count)
            guard count > 0 else { return }
            let part = buffer[..<count]
            bytes.withLock { $0 += part }
        }
    }
    return (thread, bytes)
}
