package org.rowankv.rdma.landing.wire;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.SecureSeed;

/**
 * Method by which a server and its peers authenticate each other. Immutable; for any thread if the random source is.
 * {@link #toString} does not reveal the secret.
 */
public final class PeerAuthentication {
    /** No proof: every peer is trusted. */
    public static final int METHOD_NONE = 0;
    /** Both ends prove possession of the cluster's secret. */
    static final int METHOD_SECRET = 1;

    private static final String ADVICE = "start all servers of the cluster with the same --cluster-secret-file";

    private final @Nullable ClusterSecret secret;
    private final LongSupplier random;

    private PeerAuthentication(@Nullable ClusterSecret secret, LongSupplier random) {
        this.secret = secret;
        this.random = random;
    }

    /** No proof. */
    public static PeerAuthentication none() {
        return new PeerAuthentication(null, SecureSeed::next);
    }

    /**
     * By the secret, or without proof if it is null.
     *
     * @param random numbers that a peer cannot predict; in a simulation they follow from the seed
     */
    public static PeerAuthentication of(@Nullable ClusterSecret secret, LongSupplier random) {
        return new PeerAuthentication(secret, random);
    }

    int method() {
        return secret == null ? METHOD_NONE : METHOD_SECRET;
    }

    /** Null with method none. */
    @Nullable
    public ClusterSecret secret() {
        return secret;
    }

    /** A fresh number. */
    public long draw() {
        return random.getAsLong();
    }

    /** Why a peer with that method is refused, or null if this end uses the same. */
    @Nullable
    public String whyRefused(int method) {
        if (method == method()) {
            return null;
        }
        return switch (method) {
            case METHOD_NONE -> "this server asks for the cluster's secret, and the caller has none: " + ADVICE;
            case METHOD_SECRET -> "the caller has a cluster secret, and this server has none: " + ADVICE;
            default ->
                "the caller authenticates by method " + method
                        + ", which this version does not know: run one version on" + " all servers";
        };
    }

    @Override
    public String toString() {
        return secret == null ? "none" : "secret";
    }
}
