import HandoffJSON
package import HandoffModel
package import HandoffProtocol

/// A payload as its origin sent it.
package struct Payload: Sendable {
    /// The activity with its userInfo.
    package let content: ActivityContent
    /// The app that published it, with its own name for itself.
    package let origin: PayloadOrigin

    /// Creates a payload with these parts.
    package init(content: ActivityContent, origin: PayloadOrigin) {
        self.content = content
        self.origin = origin
    }

    /// Reads the payload that a device has sent.
    ///
    /// - Parameter name: the device, for the failure.
    static func read(_ payload: JSONObject, from name: String) -> Result<Payload, HandoffFailure> {
        do {
            let content = try ActivityContent(payload: payload)
            let origin = PayloadOrigin(payload: payload)
            // The local encoding may be longer than the received one, and apps read messages up to a
            // limit.
            try content.checkSize(origin: origin, maxPayload: Limits.payloadMaximum)
            let missing = content.missingRequiredKeys
            guard missing.isEmpty else { return .failure(.requiredKeysMissing(missing, device: name)) }
            return .success(Payload(content: content, origin: origin))
        } catch {
            return .failure(.invalidPayload(device: name, cause: "\(error)"))
        }
    }

    /// Decodes the payload of a kept activity.
    package static func decode(_ bytes: [UInt8], from name: String) -> Result<Payload, HandoffFailure> {
        guard let object = try? JSON(parsing: bytes, limits: JSONLimits(bytes: bytes.count)).object else {
            return .failure(.invalidPayload(device: name, cause: "it is not an object"))
        }
        return read(object, from: name)
    }

    /// Returns true if it has the type and team of the offer, by which the user and this device
    /// chose the handler.
    package func fits(_ offer: ActivitySummary) -> Bool {
        guard content.type == offer.type else { return false }
        switch (content.team, offer.team) {
        case (nil, nil): return true
        case (let team?, let offered?): return team.utf8.elementsEqual(offered.utf8)
        default: return false
        }
    }
}
