import Glibc
import HandoffBrowser

/// The entry point: everything else is in `HandoffBrowser`, so that tests can reach it.
@main
struct Main {
    static func main() {
        exit(BrowserProcess.run(Array(CommandLine.arguments.dropFirst())))
    }
}
