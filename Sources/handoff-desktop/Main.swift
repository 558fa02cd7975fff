import Glibc
import HandoffDesktopService
import LoopIO

/// The entry point. Everything else is in `HandoffDesktopService`, where tests can import it.
@main
struct Main {
    static func main() {
        exit(DesktopProcess.run(ProcessEnvironment.arguments))
    }
}
