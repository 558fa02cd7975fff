package import HandoffAccount
package import HandoffModel

/// The latest call of each device that passed the gate with the static label. A text file for
/// people, with a line `DEVICE BOOT CALL` for each.
package struct CallersFile: Sendable, Equatable {
    /// Maximum size of a file in bytes: a line for each device of the largest account.
    static let maxFile = 256 * 100

    /// The calls.
    package let latest: [DeviceID: Gate.Serial]

    /// Creates a file with these calls.
    package init(latest: [DeviceID: Gate.Serial] = [:]) {
        self.latest = latest
    }

    /// Decodes a file whose checksum was right. Lines in another format, which this version does
    /// not write, are skipped.
    package init(decoding bytes: [UInt8]) {
        var latest: [DeviceID: Gate.Serial] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 3, let device = DeviceID(hex: words[0]), let generation = UInt64(words[1]),
                let call = UInt32(words[2])
            else { continue }
            latest[device] = Gate.Serial(generation: generation, call: call)
        }
        self.latest = latest
    }

    /// Encodes the file.
    package func encoded() -> [UInt8] {
        latest.sorted { $0.key < $1.key }.flatMap {
            Array("\($0.key.hex) \($0.value.generation) \($0.value.call)\n".utf8)
        }
    }
}
