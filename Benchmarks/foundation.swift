// The floor of the memory that HandoffKit adds: the system tests' app without Handoff. Reads lines
// of JSON, answers each on the main queue, and runs the main run loop.
import Dispatch
import Foundation

Thread.detachNewThread {
    while let line = readLine() {
        DispatchQueue.main.async {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
            let fields = ["read": object ?? "nothing"]
            let answer = try? JSONSerialization.data(withJSONObject: fields)
            FileHandle.standardOutput.write((answer ?? Data()) + Data("\n".utf8))
        }
    }
    exit(0)
}
while true { RunLoop.main.run() }
