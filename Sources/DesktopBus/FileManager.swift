import Timing

/// The user's file manager, where it has the interface for others (org.freedesktop.FileManager1, which Nautilus, Dolphin, Nemo, Caja,
/// Thunar and PCManFM have).
package enum FileManager {
    private static let name = "org.freedesktop.FileManager1"

    /// Shows a file or folder, chosen, in the folder that it is in; the bus starts the file manager where it does not run. Waits:
    /// for a thread of its own.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - token: lets the file manager come to the front.
    ///   - timeout: how long it is waited for; one that has not answered then is still at its start.
    /// - Throws: `BusApp.Problem` when nobody shows it.
    package static func show(_ path: String, token: String?, within timeout: Duration) throws(BusApp.Problem) {
        let bus: UserBus
        do throws(UserBus.Failure) {
            bus = try UserBus()
        } catch {
            throw .noBus(error.message)
        }
        do throws(UserBus.Failure) {
            try bus.call(
                name, "/org/freedesktop/FileManager1", name, "ShowItems", activates: true, within: timeout
            ) { message in
                message.container("a", "s") { $0.append(address(of: path)) }
                message.append(token ?? "")
            }
        } catch {
            if error.isNoReply { return }
            throw .failed(error.message)
        }
    }

    /// The path as a URL (RFC 8089), with every byte escaped that is not plain there.
    package static func address(of path: String) -> String {
        var address = "file://"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                address.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                address += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return address
    }
}
