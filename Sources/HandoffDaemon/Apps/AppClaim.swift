import HandoffHandlers

/// What an attached app says of itself, held against the unit that its process runs in. Plain values.
///
/// The desktop puts each app in a unit that names it, and a process can leave its unit unless a sandbox keeps it there. So
/// this refuses what a sandboxed app says falsely; of others it tells people what the system confirms.
enum AppClaim: Equatable {
    /// The unit is that of the app.
    case verified
    /// Nothing confirms it: the process runs in no app's unit, or in that of another, as from a terminal.
    case unverified
    /// The process is inside the sandbox of this other app.
    case refused(actual: String)

    /// - Parameters:
    ///   - app: what the app calls itself.
    ///   - unit: the unit of its process; nil when the system does not tell.
    init(app: String, unit: String?) {
        guard let unit, let actual = AppUnit.app(inUnit: unit) else {
            self = .unverified
            return
        }
        // What a sandbox exports has its id, or one below it.
        let isSame = actual.text.utf8.elementsEqual(app.utf8)
        let isBelow = app.utf8.starts(with: (actual.text + ".").utf8)
        if isSame || (isBelow && AppUnit.isSandbox(unit)) {
            self = .verified
        } else if AppUnit.isSandbox(unit) {
            self = .refused(actual: actual.text)
        } else {
            self = .unverified
        }
    }
}
