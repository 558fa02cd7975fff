import HandoffModel
import HandoffProtocol

/// A payload as it came from its origin.
struct Payload: Sendable {
    /// The activity with its userInfo.
    let content: ActivityContent
    /// The app that published it, as it calls itself.
    let origin: PayloadOrigin

    /// Whether it is of the type and team by which the user and this device chose who takes it over.
    func fits(_ offer: OfferedActivity) -> Bool {
        guard content.type == offer.type else { return false }
        switch (content.team, offer.team) {
        case (nil, nil): return true
        case (let team?, let offered?): return team.utf8.elementsEqual(offered.utf8)
        default: return false
        }
    }
}
