import HandoffCommands
import HandoffControl
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Tests the text output of the network commands.
@Suite struct NetworkCommandTests {
    @Test func `the output matches the transcript in the reference`() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let content = try LocalFile.read("/\(root)/docs/command-reference.md", limit: 1_048_576)
        let reference = String(decoding: content.bytes, as: UTF8.self)
        let networks = ControlNetworks(
            knownOnly: true, silent: true,
            networks: [
                ControlNetwork(
                    id: "6e:bc:b3:e5:36:17", interface: "eth0", gateway: "10.80.0.3", name: nil, known: false)
            ])
        let run = try CommandRun()
        #expect(try run.run("network", "list") { $0.reply(networks.json) } == .done)
        let transcript = "```\ndesk$   handoffctl network list\n\(run.output)\(run.diagnostics)```\n"
        #expect(reference.contains(transcript), "\(transcript)")
    }
}
