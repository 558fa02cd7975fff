import HandoffModel

/// The user's file manager, through org.freedesktop.FileManager1 (implemented by Nautilus, Dolphin,
/// Nemo, Caja, Thunar and PCManFM).
package enum FileManager {
    private static let name = "org.freedesktop.FileManager1"

    /// Opens the folder that contains a file or folder, and selects that item. The bus starts the
    /// file manager if it is not running. Blocks: use a separate thread.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - token: The activation token that lets the file manager come to the front.
    ///   - timeout: The time to wait for a reply. A file manager that has not replied by then is
    ///     still starting.
    /// - Throws: `BusApp.Problem` if no file manager shows the item.
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

    /// The path as a URL (RFC 8089). Escapes all bytes but unreserved characters and slashes.
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
