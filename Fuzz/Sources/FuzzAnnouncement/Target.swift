import FuzzSupport
import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffProtocol
import LoopIO

private let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))

/// A label that is accepted as a member's, so that datagrams pass the first check.
private let member = Label(random: [1, 2, 3, 4, 5, 6, 7, 8], labelKey: key)

/// The secrets of two devices.
private let pair: PairwiseKeys? = {
    guard let one = try? SigningKey(seed: key), let account = AccountID(bytes: [UInt8](repeating: 2, count: 16)) else {
        return nil
    }
    return try? PairwiseKeys(device: one, device: one.publicKey, accountID: account)
}()

/// Untrusted data from the network: datagrams and TXT records as they are, and their content as if
/// a member had sealed it. The first byte selects the kind.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    guard let label = Label(bytes: [UInt8](repeating: 3, count: Label.byteCount)) else { return 0 }
    switch input.byte() % 7 {
    case 0:
        announcement(input.rest)
    case 1:
        guard let found = try? Acknowledgement(decoding: input.rest) else { return 0 }
        require((try? Acknowledgement(decoding: found.encoded())) == found, "an acknowledgement reads differently")
    case 2:
        _ = try? AdvertSeal.open(input.rest, receivers: [label], advertKey: key) { _ in nil }
    case 3:
        // A datagram of the right size from a member's label, up to the seal.
        guard let member else { return 0 }
        let datagram = [1] + member.bytes + padded(input.rest, to: AdvertSeal.advertCount - 1 - Label.byteCount)
        _ = try? AdvertSeal.open(datagram, receivers: [label, member], advertKey: key) { _ in nil }
    case 4:
        // Strings of a TXT record, each preceded by its length, as in DNS.
        var strings: [[UInt8]] = []
        while !input.bytes.isEmpty {
            let length = Int(input.byte())
            strings.append((0..<min(length, input.bytes.count)).map { _ in input.byte() })
        }
        if let (marks, salt) = BeaconText.marks(in: strings) {
            require(salt.count == 16 && Marks(bytes: marks.bytes) == marks, "marks read differently")
            if let pair {
                _ = marks.read(
                    with: pair, under: label, salt: salt, endpoint: [127, 0, 0, 1], unixSeconds: -1, salts: [salt])
            }
        }
        _ = try? BeaconSeal.open(strings, label: label, labelKey: key, beaconKey: key) { _ in nil }
    case 5:
        // A packet of multicast DNS, for the gate before libavahi-core.
        var gate = PacketGate(serviceType: "_handoff._tcp")
        gate.expect(host: "host.local", of: "member")
        let bytes = input.rest
        let isRead = bytes.withUnsafeBytes { gate.admits($0, at: MonotonicInstant(nanoseconds: 0)) }
        require(!isRead || bytes.count >= 12, "a packet without a header is read")
    default:
        guard let name = String(validating: input.rest, as: UTF8.self), let label = Label(instanceName: name) else {
            return 0
        }
        require(label.instanceName == name.lowercased(), "an instance name reads differently")
        _ = label.isMember(labelKey: key)
    }
    return 0
}

private func announcement(_ bytes: [UInt8]) {
    guard let found = try? Announcement(decoding: bytes) else { return }
    // A title may have been longer than this program writes, so the first encoding may differ from the input.
    let written = found.encode(capacity: bytes.count)
    require(written.count == bytes.count, "the size differs")
    let second = try? Announcement(decoding: written)
    require(second?.deviceID == found.deviceID && second?.position == found.position, "the announcement differs")
    require(second?.activities.count == found.activities.count, "activities are missing")
    require(second?.encode(capacity: bytes.count) == written, "an announcement reads differently")
}

private func padded(_ bytes: [UInt8], to count: Int) -> [UInt8] {
    Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - bytes.count))
}
