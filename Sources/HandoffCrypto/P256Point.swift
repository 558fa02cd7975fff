internal import COpenSSL

/// A point of P-256 other than infinity, overwritten when the last reference goes.
///
/// Proof for `@unchecked`: the point is finished in the initialisers and only read afterwards.
package final class P256Point: @unchecked Sendable {
    /// Bytes of the uncompressed form: 4, then both coordinates.
    package static let byteCount = 65
    /// First byte of the uncompressed form (SEC 1 section 2.3.3).
    private static let uncompressedMark: UInt8 = 4

    private let point: OpaquePointer

    /// Makes a point by `body`, whose result is 1 on success; infinity is an error.
    private init(_ call: String, _ body: (OpaquePointer, OpaquePointer) -> Int32) throws(CryptoError) {
        let group = P256.group.pointer
        guard let made = EC_POINT_new(group) else { throw .failed("EC_POINT_new") }
        guard body(group, made) == 1 else {
            EC_POINT_clear_free(made)
            throw .failed(call)
        }
        guard EC_POINT_is_at_infinity(group, made) == 0 else {
            EC_POINT_clear_free(made)
            throw .library(call: call, detail: "infinity")
        }
        point = made
    }

    deinit {
        EC_POINT_clear_free(point)
    }

    /// A point from outside; `nil` unless it is the uncompressed form, 65 bytes, of a point on the curve.
    ///
    /// The cofactor is 1, so that every point on the curve has the order of the group.
    package convenience init?(uncompressed bytes: [UInt8]) {
        // OpenSSL would take the compressed and the hybrid form and infinity, which has one byte, as well.
        guard bytes.count == Self.byteCount, bytes.first == Self.uncompressedMark else { return nil }
        do throws(CryptoError) {
            try self.init("EC_POINT_oct2point") { group, point in
                guard EC_POINT_oct2point(group, point, bytes, bytes.count, nil) == 1 else { return 0 }
                return EC_POINT_is_on_curve(group, point, nil)
            }
        } catch {
            return nil  // The error has emptied OpenSSL's queue.
        }
    }

    /// The generator times `scalar`, in constant time (`EC_POINT_mul` with one scalar).
    package convenience init(generatorTimes scalar: P256Scalar) throws(CryptoError) {
        try self.init("EC_POINT_mul") { group, point in
            EC_POINT_mul(group, point, scalar.number, nil, nil, nil)
        }
    }

    /// This point times `scalar`, in constant time (`EC_POINT_mul` with one scalar).
    package func times(_ scalar: P256Scalar) throws(CryptoError) -> P256Point {
        try P256Point("EC_POINT_mul") { group, point in
            EC_POINT_mul(group, point, nil, self.point, scalar.number, nil)
        }
    }

    /// This point and `other` (`EC_POINT_add`); throws when they are opposites, as the sum is infinity then.
    package func plus(_ other: P256Point) throws(CryptoError) -> P256Point {
        try P256Point("EC_POINT_add") { group, point in
            EC_POINT_add(group, point, self.point, other.point, nil)
        }
    }

    /// This point less `other` (`EC_POINT_invert`, `EC_POINT_add`); throws when they are equal.
    package func minus(_ other: P256Point) throws(CryptoError) -> P256Point {
        try P256Point("EC_POINT_add") { group, point in
            guard EC_POINT_copy(point, other.point) == 1, EC_POINT_invert(group, point, nil) == 1 else { return 0 }
            return EC_POINT_add(group, point, self.point, point, nil)
        }
    }

    /// The uncompressed form of a point that is no secret, 65 bytes.
    package var uncompressed: [UInt8] {
        secretUncompressed.exposedCopy()
    }

    /// The uncompressed form of a point that is a secret, 65 bytes (`EC_POINT_point2oct`).
    package var secretUncompressed: SecretBytes {
        SecretBytes(count: Self.byteCount) { buffer in
            let written = EC_POINT_point2oct(
                P256.group.pointer, point, POINT_CONVERSION_UNCOMPRESSED,
                buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.count, nil)
            precondition(written == buffer.count, "every point but infinity has 65 bytes")
        }
    }
}
