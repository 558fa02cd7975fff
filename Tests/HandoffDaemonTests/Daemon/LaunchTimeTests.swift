import Glibc
import HandoffControl
import HandoffDesktopService
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffDaemon

/// The time that an app may take from its start until it attaches. The started app does nothing.
/// The tests attach instead.
@Suite final class LaunchTimeTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice
    private let home: ScratchFolder

    init() throws {
        fleet = try Fleet()
        let home = try ScratchFolder()
        self.home = home
        for folder in [".config", ".config/handoff", ".config/handoff/handlers.d"] { mkdir(home.file(folder), 0o700) }
        let manifest = #"{"name": "The app", "exec": ["/bin/true"], "types": ["\#(Note.type)"]}"#
        try home.write(bytes: Array(manifest.utf8), to: ".config/handoff/handlers.d/app.json")
        let devices = try fleet.account("desk", "couch") { device in
            guard device.name == "couch" else { return }
            let path = home.path
            device.apps = DesktopAccess(hasScreen: false) { loop, log in
                let variables = ["HOME": path, "XDG_DATA_DIRS": path, "PATH": "/bin:/usr/bin"]
                let service = DesktopService(
                    loop: loop, log: log, environment: variables, socket: nil, userID: geteuid())
                service.start()
                let server = DesktopServer(
                    loop: loop, log: log, version: "1", userID: geteuid(), onCall: { service.serve($0) })
                return DesktopLink(loop: loop, log: log) { () throws(DesktopConnector.Problem) in
                    do throws(Errno) {
                        let pair = try Descriptor.socketPair()
                        server.accept(pair.second)
                        return pair.first
                    } catch {
                        throw .notReached(error)
                    }
                }
            }
        }
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        fleet.end()
    }

    /// A continuation whose app has been started and has not attached. The payload has arrived.
    private func launch(_ request: ContinueRequest = ContinueRequest()) throws -> OpenCall {
        _ = try desk.publish(Note.activity("late"))
        try fleet.poll("an offer that an app opens") { try couch.offers().first?.opens.kind == .app }
        let call = try couch.continue(request)
        try fleet.poll("the start of the app") { couch.log.contains { $0.contains("Starting an app") } }
        try fleet.poll("the payload arrived") { couch.log.contains { $0.contains("Received the payload") } }
        return call
    }

    @Test func `after thirty seconds, and not before, the continuation has failed`() throws {
        let call = try launch()
        let begin = fleet.clock.now
        // The clock ran while the test waited for the start and the payload.
        fleet.pass(.seconds(25))
        // A reply shows that the daemon has processed the time.
        _ = try couch.status()
        #expect(call.waiting <= 1)
        let failure = try call.failure()
        #expect(failure.code == 4610 && failure.reason == "appNotAttached")
        #expect(failure.message.contains("The app"))
        let taken = fleet.clock.now.nanoseconds - begin.nanoseconds
        // The clock runs while the test waits.
        #expect(taken >= 25_000_000_000 && taken < 40_000_000_000, "\(taken)")
        // An app that attaches later receives nothing.
        let late = try couch.attach("app", types: Note.type)
        _ = try couch.status()
        #expect(late.waiting == 0)
    }

    @Test func `an app that attaches at the last moment receives its activity`() throws {
        let call = try launch()
        fleet.pass(.seconds(25))
        let app = try couch.attach("app", types: Note.type)
        let continuation = try app.willContinue()
        #expect(try app.content(continuation).userInfo == Note.userInfo("late"))
        // From here on the app's own time counts.
        fleet.pass(.seconds(5))
        try app.answer(continuation, handled: true)
        _ = try call.result()
        guard case .continued = try ContinueEvent(json: call.result()) else { throw UnexpectedEvent() }
    }

    @Test func `an app that declares its types after attaching receives its activity`() throws {
        let call = try launch()
        let app = try couch.attach("app")
        try app.declare("com.example.other")
        _ = try couch.status()
        #expect(app.waiting == 0)
        try app.declare("com.example.other", Note.type)
        let continuation = try app.willContinue()
        try app.declare("com.example.other", Note.type, "com.example.third")
        #expect(try app.content(continuation).userInfo == Note.userInfo("late"))
        try app.answer(continuation, handled: true)
        _ = try call.result()
        guard case .continued = try ContinueEvent(json: call.result()) else { throw UnexpectedEvent() }
    }

    @Test func `a shorter timeout of the caller includes the start`() throws {
        // Less than the launch time of 30 s.
        let call = try launch(ContinueRequest(timeout: 20))
        fleet.pass(.seconds(20))
        #expect(try call.failure().reason == "appNotAttached")
    }
}
