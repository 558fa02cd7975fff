import LoopIO

// The values that commands accept. CompletionQuery completes each by its placeholder.
extension Placeholder {
    /// Any device of the account.
    static let device = Placeholder("DEVICE", subject: "any")
    /// A device of the account other than this one.
    static let otherDevice = Placeholder("DEVICE")
    /// An offer, or a device other than this one.
    static let offerOrDevice = Placeholder("ID|DEVICE")
    /// An activity that another device offers.
    static let offer = Placeholder("ID", subject: "offer")
    /// An app that continues activities here.
    static let app = Placeholder("ID", subject: "app")
    /// An activity type.
    static let type = Placeholder("TYPE")
    /// A format of clipboard content.
    static let format = Placeholder("FORMAT")
    /// An account file that has not been used yet.
    static let ticket = Placeholder("TICKET")
    /// A command of this program.
    static let command = Placeholder("COMMAND", subject: "command")

    /// A command for the shell, or of a desktop entry.
    static let program = Placeholder("COMMAND", isSystemText: true)
    /// A file, or standard input or output.
    static let fileOrStream = Placeholder("FILE|-", isSystemText: true)
    /// Content: a file, a folder, or standard input or output.
    static let content = Placeholder("FILE|FOLDER|-", isSystemText: true)
    /// A page or content that can be sent.
    static let item = Placeholder("URL|FILE|FOLDER|-", isSystemText: true)
    /// An activity type, a page, or content.
    static let offered = Placeholder("TYPE|URL|FILE|FOLDER|-", isSystemText: true)
    /// A file, or the URL of a document.
    static let document = Placeholder("PATH|URL", isSystemText: true)
    /// A payload, or the file that contains it.
    static let payload = Placeholder("JSON|@FILE", isSystemText: true)

    /// One of the words.
    static func words(_ words: [String]) -> Placeholder {
        Placeholder(words.joined(separator: "|"), subject: "words")
    }

    /// The words of `words(_:)`; empty for any other placeholder.
    var choices: [String] { subject == "words" ? text.split(separator: "|").map(String.init) : [] }
}
