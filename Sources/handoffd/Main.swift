import Glibc
import HandoffDaemon
import HandoffEmbeddedDiscovery
import LoopIO

/// The entry point: everything else is in `HandoffDaemon`, so that tests can reach it. Only the embedded discovery is
/// named here, so that nothing else links it.
@main
struct Main {
    static func main() {
        let words = ProcessEnvironment.arguments
        exit(DaemonProcess.run(words) { options, log in EmbeddedDiscovery(options: options, logger: log) })
    }
}
