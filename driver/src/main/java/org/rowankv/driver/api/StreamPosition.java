package org.rowankv.driver.api;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.rowankv.protocol.Version;

/** Position in the change stream of a cache: per shard, the version of the last delivered change. Immutable. */
public final class StreamPosition {
    /** Version of a shard without deliveries: a stream that starts there begins with the next change. */
    public static final long NOTHING_YET = -1;

    private final long[] versions;

    private StreamPosition(long[] versions) {
        this.versions = versions;
    }

    /** @param versions by shard, each a version or {@link #NOTHING_YET} */
    public static StreamPosition of(long... versions) {
        for (long version : versions) {
            if (version < NOTHING_YET) {
                throw new IllegalArgumentException("position " + version + " is invalid");
            }
        }
        return new StreamPosition(versions.clone());
    }

    public int shardCount() {
        return versions.length;
    }

    /** Epoch and counter in one, as in {@link Version}; or {@link #NOTHING_YET}. */
    public long version(int shard) {
        return versions[shard];
    }

    /** A copy by shard, as {@link #of} accepts it. */
    @SuppressWarnings("ReturnsArray")
    public long[] versions() {
        return versions.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StreamPosition that && Arrays.equals(versions, that.versions);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(versions);
    }

    @Override
    public String toString() {
        return Arrays.stream(versions)
                .mapToObj(version -> version == NOTHING_YET ? "-" : Version.toString(version))
                .collect(Collectors.joining(" "));
    }
}
