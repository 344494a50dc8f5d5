package org.rowankv.server.cleaning;

import java.nio.ByteBuffer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;

/** The record of a dead entry whose outcome may still be requested: its request id, result, and old value if any. */
public final class CompletionRecord {
    private final EntryDraft draft = new EntryDraft();
    private byte[] oldValue = new byte[0];
    private int length;

    /** Appends the record of an entry; its address, or 0 without room. */
    long append(AppendLog log, ByteBuffer entry, int at) {
        length = EntryDescriptor.aligned((int) of(entry, at).usedLength());
        return log.ensureRoom(length) ? log.append(draft, FrameDescriptor.tag(entry, at)) : 0;
    }

    /** The record of an entry; valid until the next call. */
    public EntryDraft of(ByteBuffer entry, int at) {
        final int flags = EntryDescriptor.flags(entry, at);
        draft.begin(EntryType.COMPLETION, EntryDescriptor.shard(entry, at), EntryDescriptor.cacheId(entry, at))
                .request(
                        EntryDescriptor.sessionId(entry, at, flags),
                        EntryDescriptor.sequence(entry, at, flags),
                        EntryDescriptor.unanswered(entry, at, flags))
                .resultBits(EntryDescriptor.resultBits(flags))
                .previousVersion(EntryDescriptor.previousVersion(entry, at, flags))
                .version(EntryDescriptor.version(entry, at));
        final int oldLength = EntryDescriptor.oldValueLength(entry, at, flags);
        if (oldLength >= 0) {
            if (oldLength > oldValue.length) {
                oldValue = new byte[oldLength];
            }
            final int oldAt = at
                    + EntryDescriptor.headerLength(flags)
                    + EntryDescriptor.keyLength(entry, at)
                    + EntryDescriptor.valueLength(entry, at);
            entry.get(oldAt, oldValue, 0, oldLength);
            draft.oldValue(oldValue, oldLength);
        }
        return draft;
    }

    /** Of the last record appended. */
    int length() {
        return length;
    }
}
