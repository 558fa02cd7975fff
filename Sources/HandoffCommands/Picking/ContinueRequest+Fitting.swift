import HandoffControl
import HandoffModel

extension ContinueRequest {
    /// Whether an offer is one that is asked for by its id, its type and its device; the daemon judges in the same way.
    func fits(_ offer: ControlActivity) -> Bool {
        if let activity, !offer.id.hex.hasPrefix(activity) { return false }
        if let type, type != offer.type.text { return false }
        guard let from else { return true }
        return DeviceNames([offer.device: offer.deviceName]).choose(from) == .one(offer.device)
    }

    /// The same request for the most recent offer that fits and has a stream; unchanged where the daemon decides: of no offer that
    /// fits, and of an ID, which may fit several.
    /// - Throws: `CommandFailure` when offers fit and none has a stream.
    func choosingStream(among offers: [ControlActivity]) throws(CommandFailure) -> ContinueRequest {
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
    /// The offer of this activity, perhaps under another id: a publisher whose daemon was restarted has published it again.
    func offer(among offers: [ControlActivity]) -> ControlActivity? {
        // Ids are known to all members: another device may offer one that is not its own.
        let own = offers.filter { $0.device == origin.device }
        return own.first { $0.id == id }
            ?? own.first {
                $0.type == type && $0.team == team && $0.streams && ($0.title == nil || $0.title == title)
            }
    }
}
