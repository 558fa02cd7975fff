import Glibc
import LoopIO

/// What files and files of folders are written with.
enum FileWriting {
    /// Writes all bytes at the descriptor's offset (write(2)).
    static func write(_ bytes: ArraySlice<UInt8>, to number: Int32) throws(Errno) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(Errno) in
            let bytes = UnsafeRawBufferPointer(buffer)
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                written += try SystemCall.retrying { Glibc.write(number, rest.baseAddress, rest.count) }
            }
        }
    }

    /// Sets when the content was changed (futimens(3)), as far as the file system can say it.
    static func setTime(_ seconds: Int64?, of number: Int32) {
        guard let seconds else { return }
        let times = [timespec(tv_sec: 0, tv_nsec: utimeOmit), timespec(tv_sec: Int(seconds), tv_nsec: 0)]
        // A time is worth no failure.
        _ = futimens(number, times)
    }

    /// UTIME_OMIT, a macro: this time stays as it is.
    private static let utimeOmit = (1 << 30) - 2
}
