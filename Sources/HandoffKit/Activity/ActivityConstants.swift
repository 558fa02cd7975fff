// These are Apple's names.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The type of whatever page a browser shows; apps of every team may continue it.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of a document's URL in `userInfo`.
public let NSUserActivityDocumentURLKey = "NSUserActivityDocumentURLKey"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The first of the error codes of activities.
public let NSUserActivityErrorMinimum = 4608

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The last of the error codes of activities.
public let NSUserActivityErrorMaximum = 4863

/// The name of an activity in stores of the system.
public typealias NSUserActivityPersistentIdentifier = String

/// The name of the protocol in UIKit.
public typealias UIUserActivityRestoring = NSUserActivityRestoring

/// The name that AppKit has for the class.
public typealias NSResponder = UIResponder

/// The name that UIKit has for what speaks to the system on behalf of the app.
public typealias UIApplication = HandoffApplication

/// The name that AppKit has for what speaks to the system on behalf of the app.
public typealias NSApplication = HandoffApplication

/// The name that AppKit has for the application's delegate.
public typealias NSApplicationDelegate = UIApplicationDelegate

/// The name that UIKit has for a part of the app with a state of its own.
public typealias UIScene = HandoffScene
