package import HandoffJSON

/// Where somebody is on a page: what he reads, and what plays. Never anything that he has entered.
package struct PagePlace: Sendable, Equatable {
    /// Where he is in the text.
    package struct Reading: Sendable, Equatable {
        /// The first words that are seen, with single blanks between them.
        package var words: String
        /// How far their line is below the top of the view, in CSS pixels; negative when its beginning is above.
        package var offset: Double

        package init(words: String, offset: Double) {
            self.words = words
            self.offset = offset
        }
    }

    /// Where he is in a film or a sound.
    package struct Media: Sendable, Equatable {
        /// Seconds from its beginning.
        package var time: Double
        /// Whether it plays.
        package var isPlaying: Bool

        package init(time: Double, isPlaying: Bool) {
            self.time = time
            self.isPlaying = isPlaying
        }
    }

    /// The key in `userInfo`.
    package static let key = "place"
    /// The most bytes of the words.
    package static let longestWords = 1024
    private static let farthest = 1e6
    private static let longestTime = 1e6

    /// What is read; nil at the very top, and on a page without text.
    package var reading: Reading?
    /// How much of the way has been scrolled, from 0 to 1; for pages whose text is another there.
    package var ratio: Double?
    /// What plays, or has played; nil for none.
    package var media: Media?

    package init(reading: Reading? = nil, ratio: Double? = nil, media: Media? = nil) {
        self.reading = reading
        self.ratio = ratio
        self.media = media
    }

    /// Reads what a page's script or another device said, which may be anything: what is out of its range is left out.
    package init?(json: JSONObject) {
        if let words = json["words"]?.string, (1...Self.longestWords).contains(words.utf8.count),
            let offset = json["offset"]?.number, abs(offset) <= Self.farthest
        {
            reading = Reading(words: words, offset: offset)
        }
        if let ratio = json["ratio"]?.number, (0...1).contains(ratio) { self.ratio = ratio }
        if let time = json["time"]?.number, (0...Self.longestTime).contains(time) {
            media = Media(time: time, isPlaying: json["playing"]?.bool ?? false)
        }
        if reading == nil, ratio == nil, media == nil { return nil }
    }

    /// As it travels.
    package var json: JSONObject {
        var json: JSONObject = [:]
        if let reading {
            json["words"] = .string(reading.words)
            json["offset"] = .real(reading.offset)
        }
        if let ratio { json["ratio"] = .real(ratio) }
        if let media {
            json["time"] = .real(media.time)
            json["playing"] = .bool(media.isPlaying)
        }
        return json
    }
}
