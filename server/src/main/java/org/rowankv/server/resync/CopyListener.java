package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.SortedMap;

/**
 * Receives the progress of copies to replicas that are catching up, and passes it on to other servers. Called by the
 * agents of servers; must not block for long.
 *
 * <p>A call that says something returns true once the receiver is known to have what is said, and until then is repeated. So it may just
 * send a message, and return true when an answer has come. What is said is of one epoch of a shard: a receiver that has
 * heard it already, or something of a later epoch, does nothing.
 */
public interface CopyListener {
    /**
     * A shard's copy will take so many bytes of log space. They are reserved there before the first entry lands, even
     * if there are less: they were acquired when the entries were first written.
     *
     * <p>Not heard before what the receiver has from before its tenure is in use again: only then it may be copied.
     *
     * @param epoch of the shard, in which its primary copies
     * @param server that is catching up
     * @param destroyed ids of caches that were destroyed before: entries of them are not copied, and the replica must
     *     refuse them as this one does
     */
    boolean announced(int shard, int epoch, int server, long bytes, BitSet destroyed);

    /**
     * Everything of a shard from before the tenure of a server that is catching up has landed in that server's backup
     * log. Said again when the epoch changes and the copy still counts.
     *
     * @param epoch of the shard, in which that is so
     * @param server that is catching up
     */
    boolean copied(int shard, int epoch, int server);

    /**
     * Asks a server which of these objects of a shard are there now: the primary asks one that is catching up, which asks
     * the primary.
     *
     * @param epoch of the shard; in another one there is no answer
     * @param question see {@link PresentEntries}
     */
    Inquiry ask(int server, int shard, int epoch, ByteBuffer question);

    /**
     * Copies to a server that is catching up have taken effect there: these replicas are complete. A configuration may
     * say so as long as the shard has that epoch: in another one another primary may have sent what is missing here.
     *
     * @param epochs by shard: all that are complete and not stored as such
     * @return true once all of them are stored as complete, or are none of this server's any more
     */
    boolean joined(int server, SortedMap<Integer, Integer> epochs);
}
