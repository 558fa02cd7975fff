/// The browser that started this program, from the command line of the native messaging host.
struct BrowserCaller: Sendable, Equatable {
    /// The name of the host in the browsers' manifests.
    static let hostName = "dev.handoff1.browser"
    /// The id of the extension in Firefox, from its manifest.
    static let firefoxExtension = "browser@handoff1.dev"
    /// The id of the extension in Chromium, derived from the `key` in its manifest.
    static let chromiumExtension = "nimhleikiiaojiibokpciijkbglnjndk"

    /// The name of the browser's desktop entry without its suffix, used to attach.
    let app: String

    /// - Parameters:
    ///   - words: The command-line arguments without the program name. Chromium passes the origin
    ///     of the extension, Firefox the path of the host's manifest and the id of the extension.
    ///   - program: The path of the parent process's program; nil if unknown.
    /// - Returns: Nil if the caller is not the Handoff extension.
    init?(words: [String], program: String?) {
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

    /// The desktop entries of browsers whose program has a different name.
    private static let entries = [
        "brave": "brave-browser", "chrome": "google-chrome", "firefox-bin": "firefox", "msedge": "microsoft-edge",
        "vivaldi-bin": "vivaldi-stable",
    ]
}
