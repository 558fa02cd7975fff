/// Who has started this program: browsers say it on the command line of a native messaging host.
package struct BrowserCaller: Sendable, Equatable {
    /// The name of the host in the browsers' manifests.
    package static let hostName = "dev.handoff1.browser"
    /// The id of our extension in Firefox, as its manifest has it.
    package static let firefoxExtension = "browser@handoff1.dev"
    /// The id of our extension in Chromium, which follows from the `key` in its manifest.
    package static let chromiumExtension = "nimhleikiiaojiibokpciijkbglnjndk"

    /// The name of the browser's desktop entry without its ending: as what it attaches.
    package let app: String

    /// - Parameters:
    ///   - words: the command line without the program's name. Chromium gives the origin of the extension, Firefox the path of the
    ///     host's manifest and the id of the extension.
    ///   - program: the path of the program that has started this one; nil when the system does not say.
    /// - Returns: nil when it is not our extension that calls.
    package init?(words: [String], program: String?) {
        let usual: String
        if words.first == "chrome-extension://\(Self.chromiumExtension)/" {
            usual = "chromium"
        } else if words.count >= 2, words[0].hasPrefix("/"), words[1] == Self.firefoxExtension {
            usual = "firefox-esr"
        } else {
            return nil
        }
        let name = program?.split(separator: "/").last.map(String.init)
        app = name.map { Self.entries[$0] ?? $0 } ?? usual
    }

    /// The desktop entries of browsers whose program is called otherwise.
    private static let entries = [
        "brave": "brave-browser", "chrome": "google-chrome", "firefox-bin": "firefox", "msedge": "microsoft-edge",
        "vivaldi-bin": "vivaldi-stable",
    ]
}
