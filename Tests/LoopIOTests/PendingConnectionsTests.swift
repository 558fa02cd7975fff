import CLinux
import Glibc
import HandoffTestSupport
import LoopIO
import Testing

struct PendingConnectionsTests {
    private func listeningSocket(at path: String) throws -> Int32 {
        let raw = clinux_socket(AF_UNIX, Int32(SOCK_STREAM.rawValue))
        var address = sockaddr_un()
        address.sun_family = UInt16(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = UInt32(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(raw, $0, size) }
        }
        try #require(bound == 0 && listen(raw, 64) == 0)
        return raw
    }

    @Test func `clients that send nothing delay all others by a second at most`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/s"
        let listening = try listeningSocket(at: path)
        let silent = try (0..<30).map { _ in try UnixSocket.connect(to: path).release() }
        let client = try UnixSocket.connect(to: path).release()
        #expect(send(client, "call", 4, 0) == 4)
        var waited: Int32 = 0
        PendingConnections.refuse(of: listening, with: Array("no".utf8)) { descriptor, milliseconds in
            let isReadable = PendingConnections.isReadable(descriptor, within: 0)
            if !isReadable { waited += milliseconds }
            return isReadable
        }
        #expect(waited == 1000)
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(recv(client, &bytes, bytes.count, Int32(MSG_DONTWAIT)) == 2, "it gets its answer")
        for other in silent { #expect(recv(other, &bytes, bytes.count, Int32(MSG_DONTWAIT)) == 0, "it is closed") }
        for descriptor in silent + [client, listening] { close(descriptor) }
    }
}
