// A GTK 4 app with main-actor code, structured like an app for Apple's systems. Shows a window,
// offers its page, continues the page of another device, and prints a line for each callback. Ends
// with its input.
import CGTKWindow
import Foundation
import HandoffGLib
import HandoffKit

final class ReaderViewController: UIResponder, UIApplicationDelegate {
    private var page = 1

    func read(_ page: Int) {
        self.page = page
        let activity = NSUserActivity(activityType: "com.example.gtk.reading")
        activity.title = "Page \(page)"
        userActivity = activity
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        activity.addUserInfoEntries(from: ["page": page])
        report("saved \(page)")
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        restorationHandler([self])
        return true
    }

    override func restoreUserActivityState(_ activity: NSUserActivity) {
        report("continues \(activity.userInfo?["page"] as? Int ?? 0)")
        // The same loop runs main-actor tasks.
        Task { report("task") }
    }

    func report(_ text: String) {
        MainActor.preconditionIsolated()
        FileHandle.standardOutput.write(Data("\(text) \(Thread.isMainThread ? "main" : "elsewhere")\n".utf8))
    }
}

let controller = ReaderViewController()
UIApplication.shared.activityTypes = ["com.example.gtk.reading"]
UIApplication.shared.delegate = controller
GLibMainQueue.attach()
GLibMainQueue.attach()
Thread.detachNewThread {
    while let line = readLine() {
        if let page = Int(line) { DispatchQueue.main.async { controller.read(page) } }
    }
    DispatchQueue.main.async { cgtkwindow_quit() }
}
exit(cgtkwindow_run("com.example.gtk", { MainActor.assumeIsolated { controller.report("shown") } }))
