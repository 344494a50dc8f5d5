package org.rowankv.tools;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.server.area.SuperblockReading;
import org.rowankv.server.checkpoint.CheckpointReader;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.inspect.SegmentGroup;
import org.rowankv.server.inspect.ServerContents;
import org.rowankv.server.inspect.ServerInspection;
import org.rowankv.server.inspect.StoreContents;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** Formats the content of a store as text and as JSON. */
public final class ContentsText {
    private ContentsText() {}

    public static void print(StoreContents store, PrintWriter out) {
        out.printf("store %s%n", store.directory());
        out.printf(
                "  format %d, cluster %s, durability %s%s%n",
                store.formatVersion(),
                store.clusterId(),
                store.durability(),
                store.copied() ? ", in another directory than it was created in (opens with accept-copied=true)" : "");
        out.printf(
                "  servers %d, replicas %d, shards %d, capacity %d bytes each, segments of %d%n",
                store.shape().servers(),
                store.shape().replicas(),
                store.shape().shards(),
                store.shape().capacity(),
                store.shape().segmentLength());
        final Configuration configuration = store.configuration();
        out.printf("configuration of term %d%n", configuration.term());
        for (int server = 0; server < configuration.serverCount(); server++) {
            out.printf(
                    "  server %d: start %d, primary of %d shards, backup of %d%n",
                    server,
                    configuration.incarnations().get(server),
                    primaries(configuration, server),
                    backups(configuration, server));
        }
        store.caches().forEach(cache -> out.printf("cache %d: %s%n", cache.id(), cache.name()));
        store.servers().forEach(server -> print(server, out));
        store.checkpoints().forEach(checkpoint -> print(checkpoint, out));
    }

    public static void print(ServerInspection.Contents server, PrintWriter out) {
        out.printf("server directory %s%n", server.directory());
        out.printf(
                "  server '%s' of cluster '%s', identity %s%s%n",
                server.name(),
                server.cluster(),
                server.identity(),
                server.copied() ? ", in another directory than it was created in (starts with --accept-copied)" : "");
        if (server.servers().isEmpty()) {
            out.println("  no area yet: it never became a member of its cluster");
        }
        server.servers().forEach(each -> print(each, out));
    }

    private static void print(CheckpointReader checkpoint, PrintWriter out) {
        out.printf("checkpoint of server %d: %s, %s%n", checkpoint.server(), checkpoint.file(), checkpoint.reason());
        if (checkpoint.number() > 0) {
            out.printf(
                    "  number %d, of start %d, taken %s; objects %d, segments %d%n  CommitVer by shard %s%n",
                    checkpoint.number(),
                    checkpoint.incarnation(),
                    Instant.ofEpochMilli(checkpoint.takenMs()),
                    checkpoint.objects(),
                    checkpoint.segments(),
                    checkpoint.commitVersions());
        }
    }

    private static int primaries(Configuration configuration, int server) {
        return (int) configuration.shards().stream()
                .filter(shard -> shard.primary() == server)
                .count();
    }

    private static int backups(Configuration configuration, int server) {
        return (int) configuration.shards().stream()
                .filter(shard -> shard.primary() != server && shard.isReplica(server))
                .count();
    }

    private static void print(ServerContents server, PrintWriter out) {
        final SuperblockReading superblock = server.superblock();
        out.printf("server %d: %s%n", server.server(), nameOf(server.file()));
        out.printf(
                "  superblock: format %d, area %s, start %d, term %d; copy A %s, copy B %s%n",
                superblock.formatVersion(),
                superblock.areaId(),
                superblock.incarnation(),
                superblock.term(),
                superblock.copies().get(0),
                superblock.copies().get(1));
        out.printf(
                "  %s, under boot id %s%s%s%n",
                superblock.clean() ? "closed" : "not closed",
                superblock.bootId(),
                superblock.thisBoot() ? " (the present one)" : "",
                superblock.copied() ? "; the file is a copy (opens with accept-copied=true)" : "");
        out.printf(
                "  %-20s %8s %14s %14s %14s %14s %6s%n",
                "segments", "count", "live", "tombstones", "dead", "empty", "live%");
        for (SegmentGroup group : server.segments()) {
            final long all = group.liveBytes() + group.tombstoneBytes() + group.deadBytes() + group.emptyBytes();
            out.printf(
                    "  %-20s %8d %14d %14d %14d %14d %5.1f%%%n",
                    (group.state() + " " + group.owner()).strip(),
                    group.segments(),
                    group.liveBytes(),
                    group.tombstoneBytes(),
                    group.deadBytes(),
                    group.emptyBytes(),
                    100.0 * group.liveBytes() / all);
        }
        out.printf(
                "  objects %d (%d with a lifetime, %d in blocks only), tombstones %d, open sessions %d, completions %d%n",
                server.objects(),
                server.expiring(),
                server.inBlocks(),
                server.tombstones(),
                server.openSessions(),
                server.completions());
        if (server.parts() > 0) {
            out.printf(
                    "  values in parts %d, parts %d; without a value %d (the next start removes them)%n",
                    server.partedValues(), server.parts(), server.orphans());
        }
        out.printf("  entries %s, void %d%n", server.entries(), server.voidEntries());
        if (server.damagedPlaces() > 0) {
            out.printf("  damaged places %d (--verify names them)%n", server.damagedPlaces());
        }
    }

    /** File name without its directories. */
    private static String nameOf(String file) {
        return String.valueOf(Path.of(file).getFileName());
    }

    public static String of(Damage damage) {
        return damage.file() + " at offset " + damage.offset() + ": " + damage.reason();
    }

    /** On one line. */
    public static String json(ServerInspection.Contents server) {
        final Map<String, Object> members = new LinkedHashMap<>();
        members.put("directory", server.directory());
        members.put("name", server.name());
        members.put("cluster", server.cluster());
        members.put("identity", server.identity());
        members.put("copied", server.copied());
        members.put("servers", server.servers());
        members.put("damages", server.damages());
        return Json.of(members);
    }

    /** On one line. */
    public static String json(StoreContents store) {
        final Map<String, Object> members = new LinkedHashMap<>();
        members.put("directory", store.directory());
        members.put("formatVersion", store.formatVersion());
        members.put("clusterId", store.clusterId());
        members.put("durability", store.durability());
        members.put("copied", store.copied());
        members.put("shape", store.shape());
        final Map<String, Object> configuration = new LinkedHashMap<>();
        configuration.put("term", store.configuration().term());
        configuration.put("incarnations", store.configuration().incarnations());
        final List<Map<String, Object>> shards = new ArrayList<>();
        for (ShardAssignment shard : store.configuration().shards()) {
            final Map<String, Object> assignment = new LinkedHashMap<>();
            assignment.put("epoch", shard.epoch());
            assignment.put("primary", shard.primary());
            assignment.put("backups", shard.backups());
            assignment.put("joining", shard.joining());
            shards.add(assignment);
        }
        configuration.put("shards", shards);
        members.put("configuration", configuration);
        members.put("caches", store.caches());
        members.put("servers", store.servers());
        members.put("checkpoints", store.checkpoints());
        members.put("damages", store.damages());
        return Json.of(members);
    }
}
