// An app for the system tests. Reads commands from standard input, one JSON object per line, and
// prints HandoffKit's callbacks as lines of JSON. Ends with its input.
//
//     KitProgram runloop | dispatch | none
//
// runloop: callbacks on the main queue, serviced by RunLoop.main. dispatch: the same, serviced by
// dispatchMain(). none: callbacks on a separate queue; the main thread only reads.
import Dispatch
import Foundation

let mode = CommandLine.arguments.dropFirst().first ?? "runloop"
let queue = mode == "none" ? DispatchQueue(label: "own") : .main
let app = KitApp(queue: queue)

/// Performs commands in order, on the callback queue.
@Sendable func readCommands() {
    while let line = readLine() {
        // A deliberately blocked callback is released from outside its queue.
        if line.contains("\"release\"") { app.release() } else { queue.async { app.perform(line) } }
    }
    exit(0)
}

if mode == "none" { readCommands() }
Thread.detachNewThread(readCommands)
if mode == "dispatch" { dispatchMain() }
while true { RunLoop.main.run() }
