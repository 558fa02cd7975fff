import HandoffHandlers
import LoopIO

/// Searches the software catalogs of this device for apps, with `appstreamcli`. Uses no network. Lives
/// on the loop's thread.
final class ComponentSearch {
    private static let program = "appstreamcli"
    /// The maximum number of programs that run. One that does not end occupies its place.
    private static let maxRunning = 4

    private let loop: EventLoop
    private let environment: [String: String]
    private let programs: ProgramSearch
    /// Starts the program, which may be on a slow disk.
    private var worker: Worker?
    private var running = 0

    /// - Parameter environment: The environment of the program.
    init(loop: EventLoop, environment: [String: String]) {
        self.loop = loop
        self.environment = environment
        programs = ProgramSearch(path: environment["PATH"])
    }

    /// Finds the first of these apps that a catalog has. The completion is called once, not inside
    /// this call.
    func find(_ ids: ArraySlice<ComponentID>, completion: @escaping (ComponentID?) -> Void) {
        guard let id = ids.first, running < Self.maxRunning, let worker = worker ?? (try? Worker(name: "catalog"))
        else { return loop.later { completion(nil) } }
        self.worker = worker
        running += 1
        let (programs, environment) = (programs, environment)
        worker.run(
            { () throws(Errno) -> DetachedProgram.Started? in
                guard let path = programs.find(Self.program) else { return nil }
                // The id is no option: it starts with a letter or digit.
                return try DetachedProgram.start([path, "get", id.text], environment: environment, folder: "/")
            }, on: loop
        ) { [weak self] result in
            guard let self else { return completion(nil) }
            running -= 1
            guard case .success(let started?) = result else { return completion(nil) }
            do throws(Errno) {
                try DetachedProgram(started, on: loop) { [weak self] status in
                    self?.running -= 1
                    guard status != 0, let self else { return completion(status == 0 ? id : nil) }
                    find(ids.dropFirst(), completion: completion)
                }
                running += 1
            } catch {
                completion(nil)
            }
        }
    }

    /// Stops. Pending searches end without a result.
    func stop() {
        worker = nil
    }
}
