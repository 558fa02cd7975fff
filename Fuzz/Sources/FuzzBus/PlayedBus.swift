import FuzzSupport
import Glibc
import LoopIO

/// A bus for one client: authenticates it, sends the script's bytes, and closes. Messages from the
/// client are read and ignored.
///
/// Both buses, the system's and the user's, have this address.
final class PlayedBus: Sendable {
    /// The time limit for a client to connect, or to send its next message. None takes a thousandth of it.
    private static let timeout: Int32 = 5000

    private let listener: Descriptor
    private let script: [UInt8]

    /// - Parameter script: the bytes that are sent to an authenticated client.
    init(saying script: [UInt8]) throws(Errno) {
        self.script = script
        listener = Descriptor(owning: try SystemCall.retrying { socket(AF_UNIX, Self.type, 0) })
        // In no folder, so that nothing remains. One at a time.
        let name = "handoff-fuzz-\(getpid())"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let length = withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.dropFirst().copyBytes(from: name.utf8)
            return MemoryLayout<sa_family_t>.size + 1 + name.utf8.count
        }
        let raw = listener.raw
        try SystemCall.retrying {
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(raw, $0, socklen_t(length)) }
            }
        }
        try SystemCall.retrying { listen(raw, 1) }
        for variable in ["DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS"] {
            setenv(variable, "unix:abstract=\(name)", 1)
        }
    }

    private static let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

    /// Serves a client to its end, on its own thread.
    func serve() {
        guard Self.isReadable(listener.raw) else { fatalError("no client connects to the bus") }
        let client = accept(listener.raw, nil, nil)
        defer { close(client) }
        guard client >= 0, letIn(client) else { return }
        var sent = 0
        while sent < script.count {
            let count = script[sent...].withUnsafeBytes {
                send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // The client has disconnected.
            guard count > 0 else { return }
            sent += count
        }
        shutdown(client, Int32(SHUT_WR))
        while Self.read(client) != nil {}
    }

    /// Replies to the lines that a client sends before its first message.
    private func letIn(_ client: Int32) -> Bool {
        var received: [UInt8] = []
        while !received.contains("BEGIN\r\n".utf8) {
            guard let more = Self.read(client) else { return false }
            received += more
        }
        var answer = ""
        for line in String(decoding: received, as: UTF8.self).split(separator: "\r\n") {
            let words = line.split(separator: " ")
            switch words.first {
            case "NEGOTIATE_UNIX_FD": answer += "AGREE_UNIX_FD\r\n"
            case "BEGIN": break
            // A client that authenticates, immediately or on request.
            case "DATA",
                _ where words.count > 2:
                answer += "OK 0123456789abcdef0123456789abcdef\r\n"
            case _ where line.hasSuffix("AUTH EXTERNAL"): answer += "DATA\r\n"
            default: break
            }
        }
        return send(client, answer, answer.utf8.count, Int32(MSG_NOSIGNAL)) == answer.utf8.count
    }

    private static func read(_ client: Int32) -> [UInt8]? {
        guard isReadable(client) else { fatalError("the client neither sends nor disconnects") }
        let bytes = [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
            count = max(0, recv(client, buffer.baseAddress, buffer.count, 0))
        }
        return bytes.isEmpty ? nil : bytes
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, timeout) > 0
    }
}
