package org.rowankv.server.inspect;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Version;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.directory.AreaImage;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.inspect.StoredEntry.Place;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryType;
import org.rowankv.topology.Configuration;

/** A walk of one area that sums up its content. Used once, by one thread. */
final class AreaSurvey implements AreaWalk.Visitor {
    private final AreaImage area;
    /** Null if unavailable: then checks that need it are skipped. */
    private final @Nullable Configuration configuration;

    private final AreaReplay replay;
    private final SessionReplay sessions = new SessionReplay();
    private final List<Damage> damages = new ArrayList<>();
    private final Map<String, Long> entries = new TreeMap<>();
    private final long[] used;
    private final long[] live;
    private final long[] tombstoned;
    private long voidEntries;
    private long tombstones;
    private long objects;
    private long expiring;
    private long inBlocks;

    private AreaSurvey(AreaImage area, @Nullable Configuration configuration) {
        this.area = area;
        this.configuration = configuration;
        final int server = area.superblock().server();
        this.replay = new AreaReplay(
                area.shardCount(),
                shard -> configuration == null || configuration.shard(shard).isComplete(server));
        this.used = new long[area.segmentCount()];
        this.live = new long[area.segmentCount()];
        this.tombstoned = new long[area.segmentCount()];
        this.damages.addAll(area.damages());
    }

    /**
     * @param configuration of its cluster, if available: what it does not give the server is not counted as present
     * @param found receives the damage
     */
    static ServerContents of(AreaImage area, @Nullable Configuration configuration, List<Damage> found) {
        final AreaSurvey survey = new AreaSurvey(area, configuration);
        if (configuration != null && area.superblock().term() > configuration.term()) {
            survey.damages.add(new Damage(
                    area.file(),
                    0,
                    "the server has adopted term " + area.superblock().term() + ", but the configuration is of term "
                            + configuration.term() + ": the configuration is older than the data"));
        }
        AreaWalk.walk(area, survey);
        found.addAll(survey.damages);
        return survey.sum();
    }

    @Override
    public void onDamage(Damage damage) {
        damages.add(damage);
    }

    @Override
    public void onEntry(StoredEntry entry, ByteBuffer buffer, int at) {
        final String reason = whyImpossible(entry, buffer, at);
        if (reason != null) {
            damages.add(new Damage(
                    area.file(),
                    entry.place().fileOffset(),
                    "segment " + entry.place().segment() + ": " + EntryType.name(entry.type()) + " entry: " + reason));
            return;
        }
        if (!entry.isInBlocks()) {
            entries.merge(EntryType.name(entry.type()), 1L, Long::sum);
            used[entry.place().segment()] += entry.place().length();
            if (entry.isVoid()) {
                voidEntries++;
            } else if (EntryType.isTombstone(entry.type())) {
                tombstones++;
                tombstoned[entry.place().segment()] += entry.place().length();
            }
        }
        replay.apply(entry, buffer, at);
        sessions.apply(entry);
    }

    /** The reason why an entry with valid checksums is impossible all the same, or null. */
    private @Nullable String whyImpossible(StoredEntry entry, ByteBuffer buffer, int at) {
        if (entry.type() == EntryType.COMMIT_VECTOR) {
            if (entry.valueLength() != CommitVector.length(CommitVector.count(buffer, at))) {
                return "a value of " + entry.valueLength() + " bytes is no number of pairs";
            }
            for (int i = 0; i < CommitVector.count(buffer, at); i++) {
                final String reason =
                        whyImpossible(CommitVector.shard(buffer, at, i), CommitVector.version(buffer, at, i));
                if (reason != null) {
                    return "pair " + i + ": " + reason;
                }
            }
            return null;
        }
        return whyImpossible(entry.shard(), entry.version());
    }

    private @Nullable String whyImpossible(int shard, long version) {
        if (shard < 0 || shard >= area.shardCount()) {
            return "shard " + shard + " of " + area.shardCount();
        }
        final Configuration known = configuration;
        if (version < Version.NONE) {
            return "version " + version + " in shard " + shard;
        }
        if (known != null && Version.epoch(version) > known.shard(shard).epoch()) {
            return "version " + Version.toString(version) + " in shard " + shard + ", whose epoch is "
                    + known.shard(shard).epoch() + " only: the configuration is older than the data";
        }
        return null;
    }

    private ServerContents sum() {
        replay.forEachObject((key, shard, expires, state, places) -> {
            objects += Parts.isParts(key.cacheId()) ? 0 : 1;
            expiring += expires ? 1 : 0;
            inBlocks += places.size() > 1 ? 1 : 0;
            places.forEach(this::addLive);
        });
        sessions.openings().forEach(this::addLive);
        final AreaReplay.PartsCount parts = replay.parts();
        return new ServerContents(
                area.superblock().server(),
                area.file().toString(),
                area.superblock(),
                segments(),
                entries,
                voidEntries,
                objects,
                expiring,
                inBlocks,
                parts.parts(),
                parts.values(),
                parts.orphans(),
                tombstones,
                sessions.open(),
                sessions.completions(),
                damages.size());
    }

    private void addLive(Place place) {
        live[place.segment()] += place.length();
    }

    private List<SegmentGroup> segments() {
        final Map<String, List<Integer>> groups = new TreeMap<>();
        for (int segment = 0; segment < area.segmentCount(); segment++) {
            final String name = !area.isKnown(segment)
                    ? "9 unknown unknown"
                    : area.state(segment).ordinal() + " " + area.state(segment) + " " + area.owner(segment);
            groups.computeIfAbsent(name, unused -> new ArrayList<>()).add(segment);
        }
        final List<SegmentGroup> result = new ArrayList<>();
        groups.forEach((name, segments) -> {
            final String[] words = name.toLowerCase(Locale.ROOT).split(" ", -1);
            final boolean free = words[1].equalsIgnoreCase(SegmentState.FREE.name());
            final long liveBytes = segments.stream().mapToLong(s -> live[s]).sum();
            final long tombstoneBytes =
                    segments.stream().mapToLong(s -> tombstoned[s]).sum();
            final long usedBytes = segments.stream().mapToLong(s -> used[s]).sum();
            result.add(new SegmentGroup(
                    words[1],
                    free ? "" : words[2],
                    segments.size(),
                    liveBytes,
                    tombstoneBytes,
                    usedBytes - liveBytes - tombstoneBytes,
                    (long) segments.size() * area.segmentLength() - usedBytes));
        });
        return result;
    }
}
