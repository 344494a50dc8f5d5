package org.rowankv.server.authority;

import java.util.Arrays;
import org.rowankv.topology.ShardAssignment;

/** One server of the model: its authority, its replica of the one shard, and messages between it and others. */
final class ModelServer {
    /** No read is open. */
    static final long NO_READ = -1;

    boolean up = true;
    Authority authority;
    /** Open as the primary of the term that the authority has committed. */
    RoleWord role = new RoleWord();
    /** 0, or 1 after the one write. */
    int value;
    /** The term whose primary gave it its content: what an earlier primary sends has no effect any more. */
    int epoch;
    /** The role word of a read between check and end. */
    long taken = NO_READ;
    /** Whether the value was known when the lease of that read was checked. */
    boolean mustSee;
    /** Its request under way. */
    LeaseRequest requested;
    /** A grant under way to it. */
    LeaseGrant granted;
    /** As the manager: when it found itself confirmed, while it has not answered requests yet. */
    ClockReading confirmedAt;
    /** As the manager: questions under way, by slot of the voter. */
    final ConfirmationRequest[] asked;
    /** As the manager: confirmations under way, by slot of the voter. */
    final ConfirmationRequest[] confirmed;
    /** As the manager: a vote under way to the store. */
    ClockReading voteSent;
    /** As the manager: a vote that the store gave, under way. */
    ClockReading voteGiven;

    ModelServer(int servers) {
        asked = new ConfirmationRequest[servers];
        confirmed = new ConfirmationRequest[servers];
    }

    ModelServer copy() {
        final ModelServer copy = new ModelServer(asked.length);
        copy.up = up;
        copy.authority = authority;
        copy.value = value;
        copy.epoch = epoch;
        copy.mustSee = mustSee;
        copy.setRole(role.isOpen(), taken != NO_READ, taken != NO_READ && !role.isUnchanged(taken));
        copy.requested = requested;
        copy.granted = granted;
        copy.confirmedAt = confirmedAt;
        copy.voteSent = voteSent;
        copy.voteGiven = voteGiven;
        System.arraycopy(asked, 0, copy.asked, 0, asked.length);
        System.arraycopy(confirmed, 0, copy.confirmed, 0, confirmed.length);
        return copy;
    }

    /** A role word with that history, as far as it matters. */
    void setRole(boolean open, boolean reading, boolean changed) {
        role = new RoleWord();
        taken = NO_READ;
        if (reading) {
            role.open();
            taken = role.take();
            if (changed) {
                role.close();
            }
        }
        if (open) {
            role.open();
        } else {
            role.close();
        }
    }

    /** All that ends with the process. */
    void forget() {
        setRole(false, false, false);
        mustSee = false;
        requested = null;
        granted = null;
        forgetManaging();
    }

    /** All that ends when it manages no more, or another term. */
    void forgetManaging() {
        confirmedAt = null;
        voteSent = null;
        voteGiven = null;
        Arrays.fill(asked, null);
        Arrays.fill(confirmed, null);
    }

    Voter voter() {
        return authority.voter();
    }

    ManagerTerm manager() {
        return authority.manager();
    }

    /** What the store holds in one term. */
    static final class Stored {
        private final Electorate electorate;
        private final ShardAssignment shard;
        /** Both as bits, since every state contains them. */
        private final int bits;

        Stored(Electorate electorate, ShardAssignment shard) {
            this.electorate = electorate;
            this.shard = shard;
            int coded = electorate.manager() | shard.primary() << 2;
            for (int slot = 0; slot < 4; slot++) {
                final int ofSlot = (int) electorate.incarnation(slot)
                        | (electorate.isMember(slot) ? 1 << 2 : 0)
                        | (shard.isReplica(slot) ? 1 << 3 : 0)
                        | (shard.isJoining(slot) ? 1 << 4 : 0);
                coded |= ofSlot << 4 + 5 * slot;
            }
            this.bits = coded;
        }

        /** Whether the shard's epoch does not change: it does with another primary's process, and other replicas. */
        boolean isSameEpoch(Stored other) {
            boolean isSame = shard.primary() == other.shard.primary()
                    && electorate.incarnation(shard.primary()) == other.electorate.incarnation(shard.primary());
            for (int slot = 0; slot < 4; slot++) {
                isSame &= shard.isReplica(slot) == other.shard.isReplica(slot);
            }
            return isSame;
        }

        Electorate electorate() {
            return electorate;
        }

        ShardAssignment shard() {
            return shard;
        }

        int bits() {
            return bits;
        }
    }
}
