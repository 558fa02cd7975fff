import FuzzSupport
import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffProtocol

/// Identities and sessions of peers: names of the units in which apps run, the frames of a
/// connection between devices at any point of it, and the announcements of devices that restart,
/// repeat themselves, send hello and leave. The first byte selects one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 3 {
    case 0: units(input.rest)
    case 1: Session.play(&input)
    default: Neighbourhood.play(&input)
    }
    return 0
}

/// A unit started by Handoff names its app, as long as the name has space. Only a sandbox refuses
/// the id that an app states.
private func units(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    if let id = AppID(text) {
        let unit = AppUnit.name(for: id, random: "0123456789abcdef")
        require(unit.utf8.count <= 255, "the name of a unit is too long")
        // A full name may have been shortened. The longest escape has four bytes.
        if unit.utf8.count <= 251 { require(AppUnit.app(inUnit: unit) == id, "a unit names the wrong app") }
        require(AppClaim(app: id.text, unit: "\(unit).") == .unverified, "a unit of an unknown kind is an app's")
    }
    guard let app = AppUnit.app(inUnit: text) else { return }
    require(AppClaim(app: app.text, unit: text) == .verified, "an app differs from the one that its unit names")
    if case .refused = AppClaim(app: "org.example.Other", unit: text) {
        require(AppUnit.isSandbox(text), "an app without a sandbox is refused")
    }
}
