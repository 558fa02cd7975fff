import HandoffModel

/// Who was sent an advert without having proved an address, and when: one in 30 s, so that nobody can make this
/// device flood an address by naming it.
struct GreetingLimit: Sendable, Equatable {
    private struct Key: Sendable, Hashable {
        let device: DeviceID
        let address: PeerAddress
    }

    /// Time between two adverts to one unproved address of one device.
    static let interval = Duration.seconds(30)

    /// Entries that are kept; beyond it nothing is sent to new unproved addresses, and nothing is lost but time.
    static let maximumCount = 1024

    private var sent: [Key: BootInstant] = [:]

    /// When the next advert may go to the address; nil for now.
    func nextAllowed(_ device: DeviceID, _ address: PeerAddress, at now: BootInstant) -> BootInstant? {
        guard let last = sent[Key(device: device, address: address)] else { return nil }
        let next = last + Self.interval
        return next > now ? next : nil
    }

    /// Forgets what was sent to a device: it has started anew, which nobody else can make it seem.
    mutating func forget(_ device: DeviceID) {
        sent = sent.filter { $0.key.device != device }
    }

    /// True when an advert may go to the address now, which is noted.
    mutating func admit(_ device: DeviceID, _ address: PeerAddress, at now: BootInstant) -> Bool {
        guard nextAllowed(device, address, at: now) == nil else { return false }
        if sent.count >= Self.maximumCount {
            sent = sent.filter { $0.value + Self.interval > now }
            guard sent.count < Self.maximumCount else { return false }
        }
        sent[Key(device: device, address: address)] = now
        return true
    }
}
