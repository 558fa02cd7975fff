import Foundation
import HandoffKit

// The parts of UIKit, AppKit and MapKit that these apps use besides Handoff, as a Linux toolkit
// could provide them.

class UIViewController: UIResponder {
    var presentedViewController: UIViewController?

    func loadView() {}
    func viewDidLoad() {}
    func viewDidAppear(_ animated: Bool) {}
    func viewDidDisappear(_ animated: Bool) {}
    func dismiss(animated: Bool) {}
}

class UINavigationController: UIViewController {
    var viewControllers: [UIViewController] = []
}

class UIWindow: UIResponder {
    var rootViewController: UIViewController?
}

extension UIApplication {
    @MainActor var keyWindow: UIWindow? { nil }
}

class NSViewController: NSResponder {
    func loadView() {}
}

class NSWindowController: NSResponder {
    var contentViewController: NSViewController?
}

class NSWindow: NSResponder {
    var windowController: NSWindowController?
}

typealias CLLocationDegrees = Double

struct CLLocationCoordinate2D {
    var latitude: CLLocationDegrees
    var longitude: CLLocationDegrees
}

struct MKCoordinateSpan {
    var latitudeDelta: CLLocationDegrees
    var longitudeDelta: CLLocationDegrees
}

struct MKCoordinateRegion {
    var center: CLLocationCoordinate2D
    var span: MKCoordinateSpan
}

class MKMapView: UIResponder {
    var region = MKCoordinateRegion(
        center: CLLocationCoordinate2D(latitude: 0, longitude: 0),
        span: MKCoordinateSpan(latitudeDelta: 0, longitudeDelta: 0))

    func setRegion(_ region: MKCoordinateRegion, animated: Bool) { self.region = region }
}
