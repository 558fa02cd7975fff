import HandoffHandlers

/// What an attached app says of itself, held against the unit that its process runs in. Plain values.
///
/// The desktop puts each app in a unit that names it, and a process can leave its unit unless a sandbox keeps it there. So
/// this refuses what a sandboxed app says falsely; of others it tells people what the system confirms.
package enum AppClaim: Equatable, Sendable {
    /// The unit is that of the app.
    case verified
    /// Nothing confirms it: the process runs in no app's unit, or in that of another, as from a terminal.
    case unverified
    /// The process is inside the sandbox of this other app.
    case refused(actual: String)

    /// - Parameters:
    ///   - app: what the app calls itself.
    ///   - unit: the unit of its process; nil when the system does not tell.
    package init(app: String, unit: String?) {
        guard let unit, let actual = AppUnit.app(inUnit: unit) else {
            self = .unverified
            return
        }
        let isSandbox = AppUnit.isSandbox(unit)
        // What a sandbox exports has its id, or one below it; the entries of a snap begin with its name.
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
