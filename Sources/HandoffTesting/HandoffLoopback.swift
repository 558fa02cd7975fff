import HandoffKit

/// A network of simulated devices of one account in this process, for tests of an app. The app's
/// activities are continued on another device, by another app in the test or by the test itself. No
/// daemon, account or network is needed.
///
/// ```swift
/// let loopback = try HandoffLoopback()
/// let (desk, laptop) = (try loopback.device("Desk"), try loopback.device("Laptop"))
/// let app = desk.application()
/// let activity = NSUserActivity(activityType: "com.example.editing", application: app)
/// activity.becomeCurrent()
/// let arrived = try await laptop.take("com.example.editing")
/// ```
///
/// Apps observe the same behaviour as with the daemon: the order of callbacks, saves, types, teams
/// and versions, errors and streams. Documents (`HandoffDocument`, `file:` URLs of folders that are
/// not shared) are not fetched: they need real devices.
public final class HandoffLoopback: Sendable {
    private let core: LoopbackCore

    /// Creates a network without devices.
    /// - Throws: an error if the folder for its sockets, or its thread, cannot be created.
    public init() throws {
        core = try LoopbackCore()
    }

    /// Returns the device with this name, creating it on first use.
    /// - Throws: an error if its socket cannot be created.
    public func device(_ name: String) throws -> LoopbackDevice {
        let folder = core.folder
        let path = try core.perform { try $0.device(name, in: folder).path }
        return LoopbackDevice(name: name, socketPath: path, core: core)
    }

    /// The activities that have been handed over so far.
    public var recording: LoopbackRecording {
        LoopbackRecording(steps: (try? core.perform { $0.steps }) ?? [])
    }

    /// Replays a recording: hands over its activities in order to the apps on the devices with the
    /// recorded names.
    /// - Parameters:
    ///   - recording: a recording of this network or of another one.
    ///   - speed: the speed relative to the recording; infinity for no pauses.
    /// - Throws: `HandoffError` for the first activity that is not accepted.
    public func replay(_ recording: LoopbackRecording, speed: Double = 1) async throws {
        for step in recording.steps {
            try await Task.sleep(for: speed.isFinite ? step.after / speed : .zero)
            try await device(step.to).hand(step.activity, from: step.from)
        }
    }
}
