package import HandoffJSON

/// The user's position on a page: in the text and in media. Never contains anything that the user
/// has entered.
package struct PagePlace: Sendable, Equatable {
    /// A position in the text.
    struct Reading: Sendable, Equatable {
        /// The first visible words, separated by single blanks.
        var words: String
        /// The distance of their line from the top of the scrolling box, in CSS pixels; negative if
        /// the line starts above it.
        var offset: Double
        /// The number of characters that belong to the paragraph in which the words start; nil for
        /// all.
        var paragraph: Int?
        /// The occurrence, if the page has the same words several times; otherwise nil.
        var copy: Copy?
    }

    /// One of several positions with the same words.
    struct Copy: Sendable, Equatable {
        /// The index of the occurrence, from 0.
        var index: Int
        /// The number of occurrences, at least 2.
        var count: Int

        init?(index: Int, count: Int) {
            guard (2...PagePlace.maxCopies).contains(count), (0..<count).contains(index) else { return nil }
            self.index = index
            self.count = count
        }
    }

    /// A position in a video or an audio recording.
    struct Media: Sendable, Equatable {
        /// The time from its start, in seconds.
        var time: Double
        /// True if it is playing.
        var isPlaying: Bool
    }

    /// The key in `userInfo`.
    static let key = "place"
    /// The maximum length of the words, in bytes.
    static let maxWords = 1024
    private static let maxOffset = 1e6
    private static let maxTime = 1e6
    /// The maximum height of a page, in CSS pixels: browsers lay out at most 2^25.
    private static let maxHeight = 1e8
    private static let maxBoxBytes = 256
    fileprivate static let maxCopies = 1000

    /// The position in the text; nil at the very top, and on a page without text.
    var reading: Reading?
    /// The scrolled fraction, from 0 to 1; for pages with different text on the other device.
    var ratio: Double?
    /// The total height, in CSS pixels, because pages that load more content are shorter at first.
    /// Nil from devices that do not send it.
    var height: Double?
    /// The path of the scrolling box in the element tree: child numbers from the root, with `f` for
    /// entering a frame, separated by `/`. Nil for the page itself.
    var box: String?
    /// Media that plays or has played; nil for none.
    var media: Media?

    private static func integer(_ json: JSON?, in range: ClosedRange<Int>) -> Int? {
        json?.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
    }

    private static func isPath(_ text: String) -> Bool {
        text.utf8.count <= maxBoxBytes
            && text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { step in
                let isNumber = step.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                return step.elementsEqual("f".utf8) || ((1...6).contains(step.count) && isNumber)
            }
    }

    /// The position as sent to other devices.
    package var json: JSONObject {
        var json: JSONObject = [:]
        if let reading {
            json["words"] = .string(reading.words)
            json["offset"] = .real(reading.offset)
            if let paragraph = reading.paragraph { json["paragraph"] = .integer(Int64(paragraph)) }
            if let copy = reading.copy {
                json["copy"] = .integer(Int64(copy.index))
                json["copies"] = .integer(Int64(copy.count))
            }
        }
        if let ratio { json["ratio"] = .real(ratio) }
        if let height { json["height"] = .real(height) }
        if let box { json["box"] = .string(box) }
        if let media {
            json["time"] = .real(media.time)
            json["playing"] = .bool(media.isPlaying)
        }
        return json
    }
}

extension PagePlace {
    /// Reads untrusted values from a page's script or another device. Ignores values out of range.
    package init?(json: JSONObject) {
        if let words = json["words"]?.string, (1...Self.maxWords).contains(words.utf8.count),
            let offset = json["offset"]?.number, abs(offset) <= Self.maxOffset
        {
            reading = Reading(
                words: words, offset: offset,
                paragraph: Self.integer(json["paragraph"], in: 1...Self.maxWords),
                copy: Self.integer(json["copy"], in: 0...Self.maxCopies).flatMap { index in
                    Self.integer(json["copies"], in: 2...Self.maxCopies).flatMap { Copy(index: index, count: $0) }
                })
        }
        if let ratio = json["ratio"]?.number, (0...1).contains(ratio) {
            self.ratio = ratio
        }
        if let height = json["height"]?.number, (1...Self.maxHeight).contains(height) { self.height = height }
        if let box = json["box"]?.string, Self.isPath(box) { self.box = box }
        if let time = json["time"]?.number, (0...Self.maxTime).contains(time) {
            media = Media(time: time, isPlaying: json["playing"]?.bool ?? false)
        }
        if reading == nil, ratio == nil, media == nil { return nil }
    }
}
