import Glibc
import LoopIO
import Testing

/// One end of a connection that a test reads and writes directly. Every wait has a timeout.
final class RawSocket {
    /// Milliseconds. Only a hanging test reaches it.
    private static let timeout: Int32 = 120_000

    private var descriptor: Descriptor?
    let raw: Int32

    init(_ descriptor: consuming Descriptor) {
        raw = descriptor.raw
        self.descriptor = .some(descriptor)
    }

    /// Creates two unix sockets. The second one is for the code under test.
    static func local() throws -> (RawSocket, HandedDescriptorBox) {
        let pair = try Descriptor.socketPair()
        return (RawSocket(consume pair.first), HandedDescriptorBox(consume pair.second))
    }

    /// Creates two ends of a TCP connection over loopback, non-blocking.
    static func tcp() throws -> (RawSocket, RawSocket) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { Glibc.close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                #expect(bind(listener, address, size) == 0)
                #expect(listen(listener, 1) == 0)
                #expect(getsockname(listener, address, &size) == 0)
                #expect(connect(client, address, size) == 0)
            }
        }
        let server = accept(listener, nil, nil)
        try #require(server >= 0)
        for raw in [client, server] { try SystemCall.setNonBlocking(raw) }
        return (RawSocket(Descriptor(owning: client)), RawSocket(Descriptor(owning: server)))
    }

    /// Returns the descriptor and gives up its ownership.
    func take() throws -> Descriptor {
        guard let descriptor = descriptor.take() else { throw Errno.invalidArgument }
        return descriptor
    }

    func close() { descriptor = nil }

    /// Closes a TCP connection with a reset (RST).
    func abort() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(raw, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Received bytes that have not been read (FIONREAD).
    var unread: Int {
        var count: Int32 = 0
        #expect(ioctl(raw, UInt(FIONREAD), &count) == 0)
        return Int(count)
    }

    /// Sent bytes that have not reached the other kernel buffer (SIOCOUTQ).
    var unacknowledged: Int {
        var count: Int32 = 0
        #expect(ioctl(raw, UInt(TIOCOUTQ), &count) == 0)
        return Int(count)
    }

    func endWriting() { #expect(shutdown(raw, Int32(SHUT_WR)) == 0) }

    /// Waits until the socket is readable or writable.
    func wait(_ events: Int32, _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        var watched = pollfd(fd: raw, events: Int16(events), revents: 0)
        try #require(poll(&watched, 1, Self.timeout) == 1, "nothing came", sourceLocation: sourceLocation)
    }

    /// Reads once, at most this many bytes. Returns none at the end of the stream.
    func readSome(_ limit: Int = 1 << 16, _ sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        while true {
            try wait(POLLIN, sourceLocation)
            let count = recv(raw, &buffer, limit, Int32(MSG_DONTWAIT))
            if count >= 0 { return Array(buffer[..<count]) }
            guard errno == EAGAIN else { throw Errno.current }
        }
    }

    /// Reads exactly this many bytes.
    func read(_ count: Int, _ sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try readSome(count - bytes.count, sourceLocation)
            try #require(!more.isEmpty, "it has ended after \(bytes.count)", sourceLocation: sourceLocation)
            bytes += more
        }
        return bytes
    }

    /// Reads to the end. An error counts as the end.
    func rest(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while case let more = try readSome(1 << 16, sourceLocation), !more.isEmpty { bytes += more }
        } catch is Errno {}
        return bytes
    }

    /// Writes what is accepted now, and returns the number of bytes.
    func writeSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
        let count = bytes.withUnsafeBytes {
            send(raw, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
        if count >= 0 { return count }
        guard errno == EAGAIN else { throw Errno.current }
        return 0
    }

    /// Writes all bytes.
    func write(_ bytes: [UInt8], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try wait(POLLOUT, sourceLocation)
            rest = rest.dropFirst(try writeSome(rest))
        }
    }
}

/// A descriptor that a test passes on once.
final class HandedDescriptorBox {
    private var descriptor: Descriptor?

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = .some(descriptor)
    }

    func take() throws -> Descriptor {
        guard let descriptor = descriptor.take() else { throw Errno.invalidArgument }
        return descriptor
    }
}
