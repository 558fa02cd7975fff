import LoopIO
import Testing

@testable import HandoffCommands

/// Tests the downloads folder of the user's desktop.
@Suite struct DownloadFolderTests {
    @Test(
        arguments: [
            (nil, "/home/a/Downloads"),
            ("", "/home/a/Downloads"),
            ("# a comment\nXDG_DOWNLOAD_DIR=\"$HOME/Ladda ner\"\n", "/home/a/Ladda ner"),
            ("XDG_DOWNLOAD_DIR=\"/data/in\"\nXDG_MUSIC_DIR=\"$HOME/Music\"", "/data/in"),
            (#"  XDG_DOWNLOAD_DIR="$HOME/a \"b\" \\ c""#, #"/home/a/a "b" \ c"#),
            ("XDG_DOWNLOAD_DIR=\"$HOME/\u{301}a\"", "/home/a/\u{301}a"),
            ("XDG_DOWNLOAD_DIR=\"/\u{301}\"\t\r", "/\u{301}"),
            ("XDG_DOWNLOAD_DIR=\"/\(String(systemBytes: [0xE9]))\"", "/\(String(systemBytes: [0xE9]))"),
            ("XDG_DOWNLOAD_DIR=relative", "/home/a/Downloads"),
            ("XDG_DOWNLOAD_DIR=\"relative\"", "/home/a/Downloads"),
            ("XDG_DOWNLOAD_DIR=\"/one\"\nXDG_DOWNLOAD_DIR=\"/two\"", "/two"),
        ] as [(String?, String)])
    func `the folder is the desktop's, or the default`(text: String?, path: String) {
        #expect(DownloadFolder.path(home: "/home/a", userFolders: text) == path)
    }
}
