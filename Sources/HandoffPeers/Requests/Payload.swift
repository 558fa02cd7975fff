package import HandoffModel
package import HandoffProtocol

/// A payload as it came from its origin.
package struct Payload: Sendable {
    /// The activity with its userInfo.
    package let content: ActivityContent
    /// The app that published it, as it calls itself.
    package let origin: PayloadOrigin

    /// A payload with these parts.
    package init(content: ActivityContent, origin: PayloadOrigin) {
        self.content = content
        self.origin = origin
    }

    /// Whether it is of the type and team by which the user and this device chose who takes it over.
    package func fits(_ offer: OfferedActivity) -> Bool {
        guard content.type == offer.type else { return false }
        switch (content.team, offer.team) {
        case (nil, nil): return true
        case (let team?, let offered?): return team.utf8.elementsEqual(offered.utf8)
        default: return false
        }
    }
}
