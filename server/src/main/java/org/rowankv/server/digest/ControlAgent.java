package org.rowankv.server.digest;

import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.rowan.RowanReceiver;
import org.rowankv.rdma.rowan.SegmentSupplier;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/**
 * The control path of the backup log (§4.3 of the paper): keeps free segments posted ahead of the senders. Not involved
 * in landing.
 */
public final class ControlAgent implements Agent, SegmentSupplier {
    /** A horizon that precedes everything. */
    private static final int OLDEST = 1;

    private final RowanReceiver receiver;
    private final Segments segments;
    private final Replicas replicas;

    /** @param ahead segments kept posted, beside the one being filled */
    public ControlAgent(ReceiveQueue queue, Segments segments, Replicas replicas, int ahead) {
        this.receiver = new RowanReceiver(queue, this, ahead, ahead);
        this.segments = segments;
        this.replicas = replicas;
    }

    @Override
    public String roleName() {
        return "control";
    }

    @Override
    public int doWork() {
        return receiver.replenish();
    }

    @Override
    public int take(int[] taken, int[] generations, int requested) {
        int count = 0;
        // Entries copied to a replica that is catching up may have been ended by ones that landed long before.
        final long horizon = replicas.isJoining() ? OLDEST : 0;
        while (count < requested) {
            final int segment = segments.allocate(SegmentOwner.BACKUP, horizon);
            if (segment < 0) {
                break;
            }
            taken[count] = segment;
            generations[count] = segments.generation(segment);
            count++;
        }
        return count;
    }

    @Override
    public void takeBack(int segment, int generation) {
        segments.free(segment);
    }
}
