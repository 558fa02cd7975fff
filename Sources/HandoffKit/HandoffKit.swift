// Whoever imports this library has Foundation, as with UIKit and AppKit.
@_exported public import Foundation
