internal import Foundation
import Glibc
import LoopIO

/// Makes the kernel drop what arrives at a socket, by a packet filter of one instruction (socket(7)).
package enum PacketFilter {
    /// `struct sock_filter` of linux/filter.h.
    private struct Instruction {
        var code: UInt16
        var ifTrue: UInt8 = 0
        var ifFalse: UInt8 = 0
        var operand: UInt32
    }

    /// `struct sock_fprog` of linux/filter.h.
    private struct Program {
        var length: UInt16
        var instructions: UnsafeMutablePointer<Instruction>
    }

    /// BPF_RET | BPF_K: take this many bytes of the packet.
    private static let take: UInt16 = 0x06
    private static let attach: Int32 = 26
    private static let detach: Int32 = 27

    /// Nothing arrives any more, and the sender learns nothing of it.
    package static func dropAll(_ socket: Int32) {
        var instruction = Instruction(code: take, operand: 0)
        withUnsafeMutablePointer(to: &instruction) { pointer in
            var program = Program(length: 1, instructions: pointer)
            let result = setsockopt(
                socket, SOL_SOCKET, attach, &program, UInt32(MemoryLayout<Program>.size))
            precondition(result == 0, "cannot filter: \(Errno.current)")
        }
    }

    /// Everything arrives again.
    package static func dropNothing(_ socket: Int32) {
        var ignored: Int32 = 0
        setsockopt(socket, SOL_SOCKET, detach, &ignored, UInt32(MemoryLayout<Int32>.size))
    }

    /// Returns the sockets of this process that belong to connections to or from a port.
    package static func connections(of port: UInt16) -> [Int32] {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.compactMap { Int32($0) }.filter { descriptor in
            var (type, accepts) = (Int32(0), Int32(0))
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0, type == SOCK_STREAM.rawValue,
                getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0, accepts == 0,
                let local = try? SocketAddress.local(of: descriptor),
                let remote = try? SocketAddress.peer(of: descriptor)
            else { return false }
            return [local.port, remote.port].contains(port)
        }
    }
}
