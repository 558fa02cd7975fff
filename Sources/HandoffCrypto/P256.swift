internal import COpenSSL

/// The curve P-256, also called secp256r1 and prime256v1 (FIPS 186-4 D.1.2.3).
enum P256 {
    /// The group (`EC_GROUP_new_by_curve_name`). Never changed.
    static let group: SharedHandle = {
        OpenSSL.start()
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
            // Every OpenSSL 3 has it. If it is missing, the installation is broken.
            preconditionFailure("OpenSSL has no P-256")
        }
        return SharedHandle(group, free: EC_GROUP_free)
    }()

    /// The number of points, which is prime. Owned by `group`.
    static var order: OpaquePointer? {
        EC_GROUP_get0_order(group.pointer)
    }
}

/// A point of P-256 other than infinity. Overwritten when the last reference is released.
package final class P256Point: Sendable {
    /// Size of the uncompressed form in bytes: 4, then both coordinates.
    package static let byteCount = 65
    /// The first byte of the uncompressed form (SEC 1 section 2.3.3).
    private static let uncompressedMark: UInt8 = 4

    /// Unsafe for the compiler only: the point is complete after the initialisers and only read
    /// afterwards.
    private nonisolated(unsafe) let point: OpaquePointer

    /// Creates a point by `body`, which returns 1 on success. Infinity is an error.
    private init(_ call: String, _ body: (OpaquePointer, OpaquePointer) -> Int32) throws(CryptoError) {
        let group = P256.group.pointer
        guard let created = EC_POINT_new(group) else { throw .failed("EC_POINT_new") }
        guard body(group, created) == 1 else {
            EC_POINT_clear_free(created)
            throw .failed(call)
        }
        guard EC_POINT_is_at_infinity(group, created) == 0 else {
            EC_POINT_clear_free(created)
            throw .library(call: call, detail: "infinity")
        }
        point = created
    }

    deinit {
        EC_POINT_clear_free(point)
    }

    /// Parses an untrusted point. Returns nil unless `bytes` is the uncompressed form, 65 bytes, of
    /// a point on the curve.
    ///
    /// The cofactor is 1, so every point on the curve has the order of the group.
    package convenience init?(uncompressed bytes: [UInt8]) {
        // OpenSSL would also accept the compressed and the hybrid form, and infinity, which has one
        // byte.
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

    /// Creates the generator times `scalar`, in constant time (`EC_POINT_mul` with one scalar).
    package convenience init(generatorTimes scalar: P256Scalar) throws(CryptoError) {
        try self.init("EC_POINT_mul") { group, point in
            EC_POINT_mul(group, point, scalar.number, nil, nil, nil)
        }
    }

    /// Returns this point times `scalar`, in constant time (`EC_POINT_mul` with one scalar).
    package func times(_ scalar: P256Scalar) throws(CryptoError) -> P256Point {
        try P256Point("EC_POINT_mul") { group, point in
            EC_POINT_mul(group, point, nil, self.point, scalar.number, nil)
        }
    }

    /// Returns the sum of this point and `other` (`EC_POINT_add`). Throws if they are opposites, as
    /// the sum is infinity.
    package func plus(_ other: P256Point) throws(CryptoError) -> P256Point {
        try P256Point("EC_POINT_add") { group, point in
            EC_POINT_add(group, point, self.point, other.point, nil)
        }
    }

    /// Returns this point minus `other` (`EC_POINT_invert`, `EC_POINT_add`). Throws if they are
    /// equal.
    package func minus(_ other: P256Point) throws(CryptoError) -> P256Point {
        try P256Point("EC_POINT_add") { group, point in
            guard EC_POINT_copy(point, other.point) == 1, EC_POINT_invert(group, point, nil) == 1 else { return 0 }
            return EC_POINT_add(group, point, self.point, point, nil)
        }
    }

    /// The uncompressed form of a point that is not secret, 65 bytes.
    package var uncompressed: [UInt8] {
        secretUncompressed.exposedCopy()
    }

    /// The uncompressed form of a secret point, 65 bytes (`EC_POINT_point2oct`).
    package var secretUncompressed: SecretBytes {
        SecretBytes(count: Self.byteCount) { buffer in
            let written = EC_POINT_point2oct(
                P256.group.pointer, point, POINT_CONVERSION_UNCOMPRESSED,
                buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.count, nil)
            precondition(written == buffer.count, "every point but infinity has 65 bytes")
        }
    }
}

/// A secret number from 0 up to the order of P-256 (FIPS 186-4 D.1.2.3). Overwritten when the last
/// reference is released.
package final class P256Scalar: Sendable {
    /// Size of the big-endian form in bytes.
    package static let byteCount = 32

    /// OpenSSL's number, of constant width and marked for its constant-time paths
    /// (BN_FLG_CONSTTIME).
    ///
    /// Unsafe for the compiler only: the number is complete after the initialisers and only read
    /// afterwards.
    nonisolated(unsafe) let number: OpaquePointer

    /// Takes ownership of `number`.
    private init(owning number: OpaquePointer) {
        BN_set_flags(number, BN_FLG_CONSTTIME)
        self.number = number
    }

    deinit {
        BN_clear_free(number)
    }

    /// Creates a uniformly random number from 1 to the order minus 1 (`BN_priv_rand_range`).
    package convenience init() throws(CryptoError) {
        guard let number = BN_new() else { throw .failed("BN_new") }
        repeat {
            guard BN_priv_rand_range(number, P256.order) == 1 else {
                BN_clear_free(number)
                throw .failed("BN_priv_rand_range")
            }
        } while BN_is_zero(number) == 1
        self.init(owning: number)
    }

    /// Reduces the big-endian number in `bytes` modulo the order (`BN_nnmod`). Returns nil if the
    /// result is 0.
    ///
    /// For a uniform result the bytes must be at least 16 longer than the order's 32 (RFC 9382
    /// section 3.2).
    package convenience init?(reducing bytes: SecretBytes) throws(CryptoError) {
        OpenSSL.start()
        guard let context = BN_CTX_new() else { throw .failed("BN_CTX_new") }
        defer { BN_CTX_free(context) }
        let wide = bytes.withUnsafeBytes { bytes in
            BN_bin2bn(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count), nil)
        }
        guard let wide else { throw .failed("BN_bin2bn") }
        defer { BN_clear_free(wide) }
        BN_set_flags(wide, BN_FLG_CONSTTIME)
        guard let number = BN_new() else { throw .failed("BN_new") }
        guard BN_nnmod(number, wide, P256.order, context) == 1 else {
            BN_clear_free(number)
            throw .failed("BN_nnmod")
        }
        guard BN_is_zero(number) == 0 else {
            BN_clear_free(number)
            return nil
        }
        self.init(owning: number)
    }

    /// The number as 32 bytes, big-endian (`BN_bn2binpad`).
    package var bytes: SecretBytes {
        SecretBytes(count: Self.byteCount) { buffer in
            let count = Int32(clamping: buffer.count)
            let written = BN_bn2binpad(number, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
            precondition(written == count, "a number below the order has 32 bytes")
        }
    }
}

extension P256Scalar: CustomStringConvertible, CustomReflectable {
    package var description: String { "<secret scalar>" }
    /// Empty, so that `dump` and test failures do not reveal it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
