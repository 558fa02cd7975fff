import FuzzSupport
import HandoffHandlers
import HandoffModel

/// Files that declare apps, the file of the user's choices, names of units, and addresses of pages.
/// The first byte selects one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 5 {
    case 0:
        guard let id = AppID("a.b") else { return 0 }
        check { () throws(HandlerFileError) in
            try Handler.declared(
                byDesktopEntry: input.rest, id: id, path: "/p", installed: 0, locale: DesktopLocale("de_AT@euro"),
                exists: { _ in true })
        }
    case 1:
        check { () throws(HandlerFileError) in
            try Handler.declared(byManifest: input.rest, stem: "a", path: "/p", installed: 0, exists: { _ in true })
        }
    case 2:
        _ = HandlerDefaults(parsing: input.rest) { require(!$0.description.isEmpty, "an error without a message") }
    case 3:
        guard let text = String(validating: input.rest, as: UTF8.self) else { return 0 }
        if let app = AppUnit.app(inUnit: text) {
            let name = AppUnit.name(for: app, random: "0a1b2c3d")
            require(name.utf8.count <= 255, "a unit name is too long")
            let again = AppUnit.app(inUnit: name)
            require(again.map { app.text.utf8.starts(with: $0.text.utf8) } ?? true, "the wrong app")
        }
    default:
        guard let text = String(validating: input.rest, as: UTF8.self), let page = WebPage(text) else { return 0 }
        require(page.argument.lowercased().hasPrefix("http"), "an argument that is not a page")
        require(page.argument.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, "an argument with control characters")
        require(WebPage(page.argument) == page, "a page that reads differently")
    }
    return 0
}

private func check(_ read: () throws(HandlerFileError) -> HandlerDeclaration) {
    do throws(HandlerFileError) {
        guard case .handler(let handler) = try read() else { return }
        require(!handler.types.isEmpty || !handler.domains.isEmpty, "a handler of nothing")
        require(!handler.name.isEmpty && handler.name.utf8.count <= HandlerLimits.name, "a name out of bounds")
        if case .command(let words, _) = handler.launch {
            require(words.first?.utf8.first != UInt8(ascii: "-"), "an option as a program")
            require(words.allSatisfy { !$0.utf8.contains(0) }, "a NUL in a word")
        }
    } catch {
        require(!error.description.isEmpty, "an error without a message")
    }
}
