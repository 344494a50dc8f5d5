package org.rowankv.tools;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Version;
import org.rowankv.server.inspect.StoredEntry;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.topology.KeyHash;

/** Formats one entry of a log as a line of text or JSON. */
public final class EntryLine {
    private static final String[] RESULT_BITS = {
        "existed", "created", "updated", "removed", "expired", "born-expired", "touched", "replayed", "evicted"
    };

    private EntryLine() {}

    /** @param hash of the cluster's keys, if it is known */
    public static String text(int server, StoredEntry entry, @Nullable KeyHash hash) {
        final StringBuilder line = new StringBuilder(String.format(
                "server %d segment %d offset %d %s shard %d version %s cache %d",
                server,
                entry.place().segment(),
                entry.place().fileOffset(),
                EntryType.name(entry.type()),
                entry.shard(),
                Version.toString(entry.version()),
                entry.cacheId()));
        if (entry.objectVersion() != entry.version()) {
            line.append(" object ").append(Version.toString(entry.objectVersion()));
        }
        if (entry.key().length > 0) {
            if (hash != null) {
                line.append(" hash ").append(hashOf(entry, hash));
            }
            line.append(" key ").append(KeyText.of(entry.key()));
        }
        line.append(" value ").append(entry.valueLength());
        if (entry.expires()) {
            line.append(" expires ").append(expiryOf(entry));
        }
        if (entry.sessionId() != 0) {
            line.append(" request ")
                    .append(Long.toHexString(entry.sessionId()))
                    .append('.')
                    .append(entry.sequence());
        }
        final List<String> flags = flagsOf(entry);
        return (flags.isEmpty() ? line : line.append(' ').append(String.join(",", flags))).toString();
    }

    /** @param hash of the cluster's keys, if it is known */
    public static String json(int server, StoredEntry entry, @Nullable KeyHash hash) {
        final Map<String, Object> members = new LinkedHashMap<>();
        members.put("server", server);
        members.put("segment", entry.place().segment());
        members.put("offset", entry.place().fileOffset());
        members.put("length", entry.place().length());
        members.put("type", EntryType.name(entry.type()));
        members.put("shard", entry.shard());
        members.put("version", Version.toString(entry.version()));
        members.put("objectVersion", Version.toString(entry.objectVersion()));
        members.put("cache", entry.cacheId());
        if (entry.key().length > 0) {
            if (hash != null) {
                members.put("keyHash", hashOf(entry, hash));
            }
            members.put("key", KeyText.of(entry.key()));
        }
        members.put("valueLength", entry.valueLength());
        if (entry.expires()) {
            members.put("expires", expiryOf(entry));
        }
        members.put("flags", flagsOf(entry));
        return Json.of(members);
    }

    private static String hashOf(StoredEntry entry, KeyHash hash) {
        return String.format("%016x", hash.hash(entry.cacheId(), entry.key(), 0, entry.key().length));
    }

    private static String expiryOf(StoredEntry entry) {
        return entry.expiryMs() == Long.MAX_VALUE
                ? "never"
                : Instant.ofEpochMilli(entry.expiryMs()).toString();
    }

    private static List<String> flagsOf(StoredEntry entry) {
        final List<String> flags = new ArrayList<>();
        if (entry.isVoid()) {
            flags.add("void");
        }
        if (entry.isInBlocks()) {
            flags.add("in-" + entry.blocks().size() + "-blocks");
        }
        if ((entry.flags() & EntryDescriptor.WITHOUT_SPACE) != 0) {
            flags.add("without-space");
        }
        if ((entry.flags() & EntryDescriptor.HAS_OLD_VALUE) != 0) {
            flags.add("old-value");
        }
        for (int bit = 0; bit < RESULT_BITS.length; bit++) {
            if (ResultBits.has(EntryDescriptor.resultBits(entry.flags()), 1 << bit)) {
                flags.add(RESULT_BITS[bit]);
            }
        }
        return flags;
    }
}
