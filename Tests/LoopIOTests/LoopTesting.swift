import Glibc
import LoopIO
import Testing

extension EventLoop {
    /// Runs the loop on this thread until it is stopped. A test whose event never arrives fails
    /// instead of hanging.
    func runUntilStopped(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let limit = timer(after: .seconds(120)) { [unowned self] in
            Issue.record("nothing stopped the loop", sourceLocation: sourceLocation)
            stop()
        }
        try run()
        limit.cancel()
    }
}

/// The loopback addresses of this machine. Containers often have no IPv6.
let loopbacks: [IPAddress] = [.loopbackIPv4] + (hasIPv6 ? [.loopbackIPv6] : [])

/// True if `::1` can be bound.
let hasIPv6: Bool = {
    do throws(Errno) {
        try BoundPort.bindUDP(port: 0, address: .loopbackIPv6).close()
        return true
    } catch {
        return false
    }
}()

/// Reads the available bytes, without a loop. Returns nil at the end of the stream or after an
/// error.
func readNow(_ descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var result: [UInt8] = []
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 {
            result += buffer[..<count]
        } else if count < 0, errno == EAGAIN {
            return result
        } else {
            return result.isEmpty ? nil : result
        }
    }
}

/// Writes bytes that fit into the kernel's buffers.
func writeNow(_ bytes: [UInt8], to descriptor: Int32) {
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
}

/// Accepts the pending connection of a client in this process, or returns -1. A client may be
/// connected before the listener has the connection.
func acceptNow(_ listener: Int32) -> Int32 {
    hasInput(listener) ? accept(listener, nil, nil) : -1
}

/// Waits until there is something to read. Returns false if nothing arrives, so that a test does
/// not hang.
func hasInput(_ descriptor: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 120_000) == 1
}

/// Starts to connect a plain TCP socket to a port of 127.0.0.1. Blocks only if `isBlocking`.
func plainSocket(toPort port: UInt16, isBlocking: Bool) -> Descriptor {
    let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)), 0)
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = port.bigEndian
    target.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &target) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(raw, $0, 16) }
    }
    #expect(result == 0 || !isBlocking && errno == EINPROGRESS)
    return Descriptor(owning: raw)
}

/// A folder of mode 0700 that is removed with its content at the end.
final class ScratchFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/loopio-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno.current }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink("\(path)/\(name)")
        }
        closedir(folder)
        rmdir(path)
    }
}

/// Two connected descriptors that a test closes one by one.
final class Ends {
    private var one: Descriptor?
    private var other: Descriptor?
    /// The reading end of a pipe, or one of two sockets.
    let first: Int32
    /// The writing end of a pipe, or the other socket.
    let second: Int32

    private init(_ pair: consuming DescriptorPair) {
        first = pair.first.raw
        second = pair.second.raw
        one = consume pair.first
        other = consume pair.second
    }

    static func sockets() throws -> Ends { Ends(try Descriptor.socketPair()) }

    /// Writing to a pipe without a reader raises SIGPIPE, which every program that uses pipes must
    /// ignore.
    static func pipe() throws -> Ends {
        try ProcessSignals.prepare(blocking: [])
        return Ends(try Descriptor.pipe())
    }

    func closeFirst() { one = nil }

    func closeSecond() { other = nil }

    /// Transfers the first one to a new owner.
    func takeFirst() throws -> Descriptor {
        guard let taken = one.take() else { throw Errno.invalidArgument }
        return taken
    }

    func takeSecond() throws -> Descriptor {
        guard let taken = other.take() else { throw Errno.invalidArgument }
        return taken
    }
}
