// These are Apple's names.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The activity type of any page shown in a browser. Apps of every team may continue it.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of a document's URL in `userInfo`.
public let NSUserActivityDocumentURLKey = "NSUserActivityDocumentURLKey"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The lowest error code for user activity errors.
public let NSUserActivityErrorMinimum = 4608

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The highest error code for user activity errors.
public let NSUserActivityErrorMaximum = 4863

/// The identifier of an activity in the system's stores.
public typealias NSUserActivityPersistentIdentifier = String

/// UIKit's name for the protocol.
public typealias UIUserActivityRestoring = NSUserActivityRestoring

/// AppKit's name for the class.
public typealias NSResponder = UIResponder

/// UIKit's name for the object that represents the app to the system.
public typealias UIApplication = HandoffApplication

/// AppKit's name for the object that represents the app to the system.
public typealias NSApplication = HandoffApplication

/// AppKit's name for the application delegate protocol.
public typealias NSApplicationDelegate = UIApplicationDelegate

/// UIKit's name for a part of the app with its own state.
public typealias UIScene = HandoffScene
