package org.rowankv.server.request;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardParts;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.PartKeys;

/**
 * The parts whose list a mutation puts: they stay until the list has taken effect, because their id is pinned before they are
 * looked up. Owned by one mutation.
 */
final class PinnedParts {
    private final CurrentObject part;
    private final Request lookUp = new Request();
    private @Nullable ShardParts pinnedAt;
    private long id;

    PinnedParts(Segments segments) {
        this.part = new CurrentObject(segments);
    }

    /** Pins the parts of the list that is put; false if some are not there. */
    boolean pin(ShardPrimary primary, Request put) {
        final PartList list = PartList.read(put.value(), put.valueOffset(), put.valueLength());
        if (list == null) {
            return false;
        }
        if (pinnedAt == null) {
            if (!primary.parts().pin(list.id())) {
                return false;
            }
            pinnedAt = primary.parts();
            id = list.id();
        }
        return areThere(primary.replica(), Parts.of(put.cacheId()), list);
    }

    private boolean areThere(ShardReplica replica, int partsId, PartList list) {
        final PartKeys keys = replica.partKeys();
        for (int number = 0; number < list.count(); number++) {
            final byte[] key = keys.key(partsId, replica.shardId(), list.id(), number);
            lookUp.get(partsId, key, 0, key.length).requestValue(false);
            part.load(replica, replica.positionOf(keys.hashOf(partsId, key)), lookUp, false, false);
            if (!part.isKnown() || part.valueLength != list.lengthOf(number)) {
                return false;
            }
        }
        return true;
    }

    void end() {
        final ShardParts present = pinnedAt;
        pinnedAt = null;
        if (present != null) {
            present.unpin(id);
        }
    }
}
