import HandoffControl
import HandoffModel

extension ContinueRequest {
    /// Returns true if an offer matches the requested id, type and device. The daemon uses the same
    /// rules.
    func fits(_ offer: OfferedActivity) -> Bool {
        if let activity, !offer.id.hex.hasPrefix(activity) { return false }
        if let type, type != offer.type.text { return false }
        guard let from else { return true }
        return DeviceNames([offer.device: offer.deviceName]).choose(from) == .one(offer.device)
    }

    /// Returns the same request for the most recent matching offer with a stream. Returns it
    /// unchanged if the daemon must decide: if no offer matches, or for an id, which may match
    /// several.
    /// - Throws: `CommandFailure` if offers match but none has a stream.
    func choosingStream(among offers: [OfferedActivity]) throws(CommandFailure) -> ContinueRequest {
        let fitting = offers.filter(fits)
        guard let offer = fitting.first(where: \.streams) else {
            guard let offer = fitting.first else { return self }
            throw .noStreams(device: VisibleText.escape(offer.deviceName))
        }
        guard activity == nil else { return self }
        var request = self
        (request.activity, request.from) = (offer.id.hex, offer.device.hex)
        return request
    }
}

extension ContinuedActivity {
    /// Returns the offer of this activity, possibly under another id: a publisher publishes it
    /// again after a restart of its daemon.
    func offer(among offers: [OfferedActivity]) -> OfferedActivity? {
        // Activity ids are known to all members, so another device may offer one that is not its
        // own.
        let own = offers.filter { $0.device == origin.device }
        return own.first { $0.id == id }
            ?? own.first {
                $0.type == type && $0.team == team && $0.streams && ($0.title == nil || $0.title == title)
            }
    }
}
