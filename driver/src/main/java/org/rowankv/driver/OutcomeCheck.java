package org.rowankv.driver;

import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** What a status that is no result means to the caller. */
final class OutcomeCheck {
    private static final int MAX_KEY_SHOWN = 64;

    private OutcomeCheck() {}

    /** Throws unless the status is a result of the operation itself. */
    static void check(Request request) {
        switch (request.status()) {
            case OK, NOT_FOUND, CONDITION_FAILED -> {}
            case FULL ->
                throw new StoreFullException("the store is full: the entry of " + entryBytes(request)
                        + " bytes was not written; remove objects, let them expire, or raise the capacity");
            case TOO_LARGE ->
                throw new RowanException(
                        Status.TOO_LARGE,
                        "key and value have " + entryBytes(request)
                                + " bytes together; nothing was written. A key fits into a segment of the log, and a value has"
                                + " at most max-value bytes");
            case PARTS_MISSING ->
                throw new RowanException(
                        Status.PARTS_MISSING,
                        request.operation().isMutation()
                                ? "the parts of the value were removed while it was sent; nothing was written. Try again"
                                : "the value of key " + keyText(request) + " in the cache with id " + request.cacheId()
                                        + " is in parts, and some are missing; it is not served. Put it again, or remove it");
            case UNKNOWN_CACHE ->
                throw new RowanException(
                        Status.UNKNOWN_CACHE, "the cache with id " + request.cacheId() + " was destroyed");
            case CORRUPTED ->
                throw new RowanException(
                        Status.CORRUPTED,
                        "the stored entry of key " + keyText(request) + " in the cache with id " + request.cacheId()
                                + " does not agree with its checksum, and no other replica "
                                + (request.mayBeRepaired() ? "has replaced it within the deadline" : "has it")
                                + "; it is not served. Put it again, or remove it");
            case CLOSED -> throw new RowanException(Status.CLOSED, "the store is closed");
            case UNREACHABLE ->
                throw new RowanException(
                        Status.UNREACHABLE,
                        "the server that the operation " + request.operation()
                                + " belongs to could not be reached within the deadline; it was not applied");
            case NO_VERSION ->
                throw new RowanException(
                        Status.NO_VERSION,
                        "shard " + request.shard()
                                + " needs a new epoch before it takes writes, and the configuration store"
                                + " could not store one; nothing was written. See the servers' logs, and try again");
            case UNDER_REPLICATED ->
                throw new RowanException(
                        Status.UNDER_REPLICATED,
                        "shard " + request.shard()
                                + " has fewer complete replicas than min-replicas of its cluster, and"
                                + " did not get more within the deadline; nothing was written, and reads go on. Start the"
                                + " servers that are away, or wait for their copies: see \"rowan status\"");
            case NO_REPLY ->
                throw new RowanException(
                        Status.NO_REPLY, "no reply to the operation " + request.operation() + " within the deadline");
            case OUTCOME_UNKNOWN ->
                throw new RowanException(
                        Status.OUTCOME_UNKNOWN,
                        "no reply within the deadline: the operation may have taken effect once");
            default ->
                throw new RowanException(
                        request.status(),
                        "the operation " + request.operation() + " was not applied: " + request.status());
        }
    }

    /** The ASCII characters of the key, others escaped, truncated. */
    private static String keyText(Request request) {
        final StringBuilder text = new StringBuilder("\"");
        final int shown = Math.min(request.keyLength(), MAX_KEY_SHOWN);
        for (int i = 0; i < shown; i++) {
            final int each = request.key()[request.keyOffset() + i] & 0xff;
            if (each >= ' ' && each < 0x7f) {
                text.append((char) each);
            } else {
                text.append(String.format("\\x%02x", each));
            }
        }
        return text.append(shown < request.keyLength() ? "\"..." : "\"").toString();
    }

    private static long entryBytes(Request request) {
        return (long) request.keyLength() + request.valueLength();
    }
}
