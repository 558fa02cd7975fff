import Glibc
import HandoffDesktopService
import LoopIO

/// The entry point: everything else is in `HandoffDesktopService`, so that tests can reach it.
@main
struct Main {
    static func main() {
        exit(DesktopProcess.run(ProcessEnvironment.arguments))
    }
}
