import HandoffHandlers

/// The id that an attached app claims, checked against the unit of its process. Plain values.
///
/// The desktop puts each app in a unit with the app's id, but a process can leave its unit unless a
/// sandbox prevents it. So a false claim of a sandboxed app is refused. For other apps, users can
/// see whether the system confirms the claim.
package enum AppClaim: Equatable, Sendable {
    /// The unit belongs to the app.
    case verified
    /// Nothing confirms the claim. The process runs in no app's unit, or in that of another app,
    /// such as a terminal.
    case unverified
    /// The process runs in the sandbox of this other app.
    case refused(actual: String)

    /// - Parameters:
    /// - app: the id that the app claims.
    /// - unit: the unit of its process; nil if the system does not report it.
    package init(app: String, unit: String?) {
        guard let unit, let actual = AppUnit.app(inUnit: unit) else {
            self = .unverified
            return
        }
        let isSandbox = AppUnit.isSandbox(unit)
        // A sandbox exports its own id and ids below it. The names of a snap's entries begin with
        // the name of the snap.
        let isSnap = unit.hasPrefix("snap.")
        let family = isSnap ? String(actual.text.prefix { $0 != "_" }) + "_" : actual.text + "."
        let isSame =
            actual.text.utf8.elementsEqual(app.utf8) || (isSnap && family.dropLast().utf8.elementsEqual(app.utf8))
        if isSame || (isSandbox && app.utf8.starts(with: family.utf8)) {
            self = .verified
        } else if isSandbox {
            self = .refused(actual: actual.text)
        } else {
            self = .unverified
        }
    }
}
