// Importing this library also imports Foundation, as with UIKit and AppKit.
@_exported public import Foundation
