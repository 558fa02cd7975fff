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
