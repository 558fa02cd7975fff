import Glibc
import LoopIO

/// The permissions that this process gives to no file that it makes.
enum FileMask {
    /// The mask (umask(2)), which the call for it can only tell by changing it, for all threads at once. So it is read from
    /// where the kernel shows it, since Linux 4.7, and the call is left for systems without.
    static func read() -> UInt32 {
        if let status = try? LocalFile.read("/proc/self/status", limit: 65_536) {
            for line in status.bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Umask:".utf8) {
                let digits = line.dropFirst("Umask:".utf8.count).filter { $0 > UInt8(ascii: " ") }
                if let mask = UInt32(String(decoding: digits, as: UTF8.self), radix: 8) { return mask }
            }
        }
        let mask = umask(0o077)
        umask(mask)
        return mask
    }
}
