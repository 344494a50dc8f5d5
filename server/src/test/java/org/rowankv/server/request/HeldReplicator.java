package org.rowankv.server.request;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.rowankv.server.replication.Replication;
import org.rowankv.server.replication.Replicator;

/**
 * One backup behind an ordered connection; each message lands when the test lets it. Counts like a replicator that
 * sends an entry in pieces: a message posted or acknowledged, but uncounted when an error struck, is forgotten.
 */
final class HeldReplicator implements Replicator {
    private record Message(OneEntry entry, long attempt, long address, int piece) {}

    private final Backup backup;
    private final Consumer<String> points;
    private final Deque<Message> underWay = new ArrayDeque<>();
    private final Deque<Message> completions = new ArrayDeque<>();

    /** @param points called wherever an error could strike or another thread could proceed */
    HeldReplicator(Backup backup, Consumer<String> points) {
        this.backup = backup;
        this.points = points;
    }

    boolean hasUnderWay() {
        return !underWay.isEmpty();
    }

    /** The oldest message in flight lands at the backup; its completion waits to be polled. */
    void acknowledge() {
        final Message message = underWay.remove();
        backup.landed(message.address, message.piece);
        completions.add(message);
    }

    private final class OneEntry implements Replication {
        private long address;
        private long attempt;
        private int sent;
        private int outstanding;

        @Override
        public int acquireCredit(int shard, int usedLength) {
            points.accept("replicator.credit");
            backup.drawn(1);
            return -1;
        }

        @Override
        public void returnCredit() {
            backup.drawn(-1);
        }

        @Override
        public void begin(int shard, long entryAddress) {
            points.accept("replicator.before-begin");
            backup.announced(entryAddress);
            address = entryAddress;
            attempt++;
            sent = 0;
            outstanding = 0;
            points.accept("replicator.after-begin");
        }

        @Override
        public boolean advance() {
            points.accept("replicator.before-advance");
            while (sent < backup.pieces()) {
                underWay.add(new Message(this, attempt, address, sent));
                points.accept("replicator.posted");
                sent++;
                outstanding++;
            }
            return outstanding == 0;
        }

        @Override
        public void interrupted() {
            sendAllAgain();
        }

        @Override
        public void acknowledgementsLost() {
            sendAllAgain();
        }

        private void sendAllAgain() {
            attempt++;
            sent = 0;
            outstanding = 0;
        }
    }

    @Override
    public Replication newReplication() {
        return new OneEntry();
    }

    @Override
    public void poll() {
        while (!completions.isEmpty()) {
            final Message heard = completions.remove();
            if (heard.attempt == heard.entry.attempt) {
                points.accept("replicator.heard");
                heard.entry.outstanding--;
            }
        }
    }

    @Override
    public void releaseCredit() {
        // Nothing is acquired ahead.
    }

    @Override
    public void releaseSpareCredit() {
        // Nothing is acquired ahead.
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
