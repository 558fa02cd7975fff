import Glibc
import HandoffDaemon
import HandoffEmbeddedDiscovery
import LoopIO

/// The entry point. Everything else is in `HandoffDaemon`, where tests can import it. The embedded
/// discovery is only referenced here, so that no other target links it.
@main
struct Main {
    static func main() {
        let words = ProcessEnvironment.arguments
        exit(DaemonProcess.run(words) { options, log in EmbeddedDiscovery(options: options, logger: log) })
    }
}
