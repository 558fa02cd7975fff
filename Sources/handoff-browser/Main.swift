import Glibc
import HandoffBrowser
import LoopIO

/// The entry point. Everything else is in `HandoffBrowser`, where tests can import it.
@main
struct Main {
    static func main() {
        exit(BrowserProcess.run(ProcessEnvironment.arguments))
    }
}
