package org.rowankv.server.area;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.durability.DurabilityVerbs;

/**
 * Per shard the epoch at which this server's present membership began: an entry of an older epoch is void here.
 *
 * <pre>
 *   0                4                8
 *   +----------------+----------------+
 *   | epoch          | check          |  one aligned word per shard; zero = not a member
 *   +----------------+----------------+
 * </pre>
 *
 * <p>The check is the CRC32C of shard and epoch. One word is atomic in a crash, so a tenure is the old or the new one.
 *
 * <p>Guarantees: a tenure is durable at the level in force when {@link #set} returns. A start writes it after it has stored
 * the configuration in which the replica joins, and before it serves anything. Read by any thread.
 */
public final class TenureTable {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final ByteBuffer header;
    private final DurabilityVerbs verbs;
    private final int shardCount;

    public TenureTable(ByteBuffer header, DurabilityVerbs verbs, int shardCount) {
        this.header = header;
        this.verbs = verbs;
        this.shardCount = shardCount;
    }

    /** The reason why the table is invalid, or null. */
    @Nullable
    public String whyInvalid() {
        for (int shard = 0; shard < shardCount; shard++) {
            final String reason = whyInvalid(shard);
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    /** The reason why a shard's word is invalid, or null. */
    @Nullable
    public String whyInvalid(int shard) {
        final long word = (long) LONGS.getAcquire(header, offset(shard));
        return word == word(shard, (int) word) ? null : "tenure of shard " + shard + ": check is wrong";
    }

    /** The address of a shard's word in the area. */
    public long wordOffset(int shard) {
        return offset(shard);
    }

    public int shardCount() {
        return shardCount;
    }

    /** Epoch at which the present membership began; 0 when this server is no member. */
    public int tenure(int shard) {
        return (int) (long) LONGS.getAcquire(header, offset(shard));
    }

    /** Begins a membership, or ends it with epoch 0. A present membership never gets an earlier beginning. */
    public void set(int shard, int epoch) {
        put(shard, epoch);
        verbs.drain();
    }

    /**
     * {@link #set} without waiting: durable once the area is drained. Writes it even if it is there already: an earlier
     * start may have stored it without making it durable.
     */
    public void put(int shard, int epoch) {
        final int present = tenure(shard);
        if (epoch < 0 || (epoch != 0 && epoch < present)) {
            throw new IllegalArgumentException(
                    "tenure of shard " + shard + " cannot change from epoch " + present + " to " + epoch);
        }
        final int at = offset(shard);
        if (epoch != present) {
            LONGS.setRelease(header, at, word(shard, epoch));
        }
        verbs.flush(at, AreaDescriptor.TENURE_LENGTH);
    }

    private static long word(int shard, int epoch) {
        if (epoch == 0) {
            return 0;
        }
        final ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(shard).putInt(epoch).flip();
        final CRC32C crc = new CRC32C();
        crc.update(bytes);
        return crc.getValue() << Integer.SIZE | epoch;
    }

    private int offset(int shard) {
        if (shard < 0 || shard >= shardCount) {
            throw new IndexOutOfBoundsException("shard " + shard + " of " + shardCount);
        }
        return AreaDescriptor.TENURES_OFFSET + shard * AreaDescriptor.TENURE_LENGTH;
    }
}
