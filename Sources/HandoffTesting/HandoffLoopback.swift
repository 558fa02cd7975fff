import HandoffKit

/// Devices of one account that are played in this process, for tests of an app: its activities are continued at another device, which may be
/// another app in the test or the test itself, without a daemon, an account or a network.
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
/// What apps see is what they see of the daemon: the order of callbacks, the saves, types, teams and versions, errors and streams. Documents
/// (`HandoffDocument`, `file:` URLs of folders that are not shared) are not fetched: they need devices.
public final class HandoffLoopback: Sendable {
    private let core: LoopbackCore

    /// A network without a device.
    /// - Throws: when the folder for its sockets, or its thread, cannot be made.
    public init() throws {
        core = try LoopbackCore()
    }

    /// The device of a name, which is made at the first time.
    /// - Throws: when its socket cannot be made.
    public func device(_ name: String) throws -> LoopbackDevice {
        let folder = core.folder
        let path = try core.perform { try $0.device(name, in: folder).path }
        return LoopbackDevice(name: name, socketPath: path, core: core)
    }

    /// All that was handed over so far.
    public var recording: LoopbackRecording {
        LoopbackRecording(steps: (try? core.perform { $0.steps }) ?? [])
    }

    /// Hands over again what was recorded, to the apps that are at the devices of these names, one after the other.
    /// - Parameters:
    ///   - recording: of this network or of another one.
    ///   - speed: how many times faster than it was; infinity: without pauses.
    /// - Throws: `HandoffError` for the first that is not taken.
    public func replay(_ recording: LoopbackRecording, speed: Double = 1) async throws {
        for step in recording.steps {
            try await Task.sleep(for: speed.isFinite ? step.after / speed : .zero)
            try await device(step.to).hand(step.activity, from: step.from)
        }
    }
}
