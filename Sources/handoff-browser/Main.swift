import Glibc
import HandoffBrowser
import LoopIO

/// The entry point: everything else is in `HandoffBrowser`, so that tests can reach it.
@main
struct Main {
    static func main() {
        exit(BrowserProcess.run(ProcessEnvironment.arguments))
    }
}
