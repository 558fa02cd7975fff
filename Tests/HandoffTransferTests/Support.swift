import Glibc
import HandoffModel
import HandoffTransfer
import Testing

/// Random numbers, reproducible by seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}

/// A new folder that may contain folders, removed at the end.
final class TestFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/ho-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        _ = shell("chmod -R u+rwx '\(path)'; rm -rf '\(path)'")
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String, mode: UInt32 = 0o644) throws -> String {
        let stream = try #require(fopen(file(name), "w"))
        #expect(fwrite(bytes, 1, bytes.count, stream) == bytes.count)
        fclose(stream)
        chmod(file(name), mode)
        return file(name)
    }

    func make(_ name: String, mode: UInt32 = 0o755) {
        mkdir(file(name), 0o777)
        chmod(file(name), mode)
    }

    func read(_ name: String) -> [UInt8]? {
        guard let stream = fopen(file(name), "r") else { return nil }
        defer { fclose(stream) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    /// The sorted description of its content: names, modes, sizes, times, and digests of files.
    func listing(_ name: String = ".") -> String {
        shell(
            """
            cd '\(file(name))' && find . -mindepth 1 -printf '%P %y %m %T@ ' \
            \\( -type f -exec sh -c 'sha256sum < "$1"' _ {} \\; -o -printf '\\n' \\) | LC_ALL=C sort
            """)
    }

    /// The names in it.
    var names: [String] {
        shell("ls -A '\(path)' | LC_ALL=C sort").split(separator: "\n").map(String.init)
    }

    func mode(_ name: String) -> UInt32? {
        var status = stat()
        return lstat(file(name), &status) == 0 ? status.st_mode & 0o7777 : nil
    }
}

/// Returns the output of a shell command.
func shell(_ command: String) -> String {
    guard let pipe = popen(command, "re") else { return "" }
    defer { pclose(pipe) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { text += buffer[..<count] }
    return String(decoding: text, as: UTF8.self)
}

/// The sending device.
func sender() throws -> DeviceID { try #require(DeviceID(hex: String(repeating: "0a", count: 32))) }

/// The id of some content.
func transferID(_ byte: UInt8 = 1) throws -> TransferID {
    try #require(TransferID(bytes: [UInt8](repeating: byte, count: 16)))
}

/// Returns the failure thrown by `body`.
func failure(of body: () throws(TransferFailure) -> Void) -> TransferFailure? {
    do throws(TransferFailure) {
        try body()
        return nil
    } catch {
        return error
    }
}

/// Returns a frame with any text.
func frame(_ text: String) -> [UInt8] {
    let count = UInt32(text.utf8.count)
    return withUnsafeBytes(of: count.bigEndian) { Array($0) } + text.utf8
}

/// Returns the failure that ends the actions.
func ending(_ actions: [ReceiverAction]) -> TransferFailure? {
    if case .fail(let failure)? = actions.last { failure } else { nil }
}

/// Returns the failure that ends the actions.
func ending(_ actions: [SenderAction]) -> TransferFailure? {
    if case .fail(let failure)? = actions.last { failure } else { nil }
}

extension ReceiverMachine {
    /// Returns all actions that result from an input, until another one is needed.
    @discardableResult
    mutating func after(_ input: (inout Self) throws -> Void) rethrows -> [ReceiverAction] {
        try input(&self)
        var actions: [ReceiverAction] = []
        while let action = next() { actions.append(action) }
        return actions
    }
}

extension SenderMachine {
    /// Returns all actions that result from an input, until another one is needed.
    @discardableResult
    mutating func after(_ input: (inout Self) throws -> Void) rethrows -> [SenderAction] {
        try input(&self)
        var actions: [SenderAction] = []
        while let action = next() { actions.append(action) }
        return actions
    }
}
