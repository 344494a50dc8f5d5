package org.rowankv.sim;

import java.util.List;

/** The bugs that the simulator must find, each planted alone. */
final class PlantedBugs {
    private static final String RDMA = "rdma";
    private static final String DRIVER = "driver";
    private static final String SERVER = "server";

    static final List<PlantedBug> ALL = List.of(
            new PlantedBug(
                    "acknowledged before the last backup has it",
                    SERVER,
                    "org.rowankv.server.replication.RowanReplicator",
                    "complete &= advance(server);",
                    "complete |= advance(server);"),
            new PlantedBug(
                    "a fence takes no permission away",
                    RDMA,
                    "org.rowankv.rdma.local.LocalReceiveQueue",
                    "pair.markFenced();",
                    ""),
            new PlantedBug(
                    "a fence raises no epoch and voids nothing",
                    RDMA,
                    "org.rowankv.rdma.local.LocalReceiveQueue",
                    "if (HazardWord.isOwning(hazard) && pair.isOn(ring)) {",
                    "if (HazardWord.isOwning(hazard) && !pair.isOn(ring)) {"),
            new PlantedBug(
                    "places are taken without comparing",
                    RDMA,
                    "org.rowankv.rdma.local.LocalQueuePair",
                    "if (ring.compareAndSet(found, next)) {",
                    "if (ring.compareAndSet(ring.word(), next)) {"),
            new PlantedBug(
                    "segments in quarantine are used again",
                    SERVER,
                    "org.rowankv.server.Server",
                    "endpoint.receiveQueue()::isNamed,",
                    "segment -> false,"),
            new PlantedBug(
                    "versions without a new epoch",
                    DRIVER,
                    "org.rowankv.placement.Configuration",
                    "shard.withEpoch(shard.epoch() + 1)",
                    "shard.withEpoch(shard.epoch())"),
            new PlantedBug(
                    "deletions are forgotten at once",
                    SERVER,
                    "org.rowankv.server.shard.ShardReplica",
                    "return deletions.forget(commitVersion(),",
                    "return deletions.forget(Long.MAX_VALUE,"),
            new PlantedBug(
                    "the horizon ignores what was copied",
                    SERVER,
                    "org.rowankv.server.log.Segments",
                    "horizons.set(segment, horizon == 0 ? sequence : Math.min(sequence, horizon));",
                    "horizons.set(segment, sequence);"),
            new PlantedBug(
                    "CommitVer overtakes a version nobody announced",
                    SERVER,
                    "org.rowankv.server.request.Mutation",
                    "worker.inFlight().announce(worker.slot(), shardId, shard.versions().lowerBound());",
                    ""),
            new PlantedBug(
                    "completions go with their entries",
                    SERVER,
                    "org.rowankv.server.cleaning.Relocation",
                    "if (sequence == 0 || !replica.sessions(sessionId).isNeeded(sessionId, sequence, address)) {",
                    "if (sequence != -1) {"),
            new PlantedBug(
                    "completions are not rebuilt at the start",
                    SERVER,
                    "org.rowankv.server.session.SessionTable",
                    "if (session == null || session.closed) {\n            return 0;\n        }\n        return remember(session, sequence",
                    "if (session == null || session.closed || scanning) {\n            return 0;\n        }\n        return"
                            + " remember(session, sequence"),
            new PlantedBug(
                    "no duplicate check",
                    SERVER,
                    "org.rowankv.server.request.Decision",
                    "case COMPLETED -> {",
                    "case COMPLETED -> {\n if (asked.sequence() > 0) {\n return false;\n }"),
            new PlantedBug(
                    "keys are not locked",
                    SERVER,
                    "org.rowankv.server.shard.KeyLocks",
                    "return held == owner || held == 0 && owners.compareAndSet(stripe, 0, owner);",
                    "return held == owner || owners.compareAndSet(stripe, held, owner);"),
            new PlantedBug(
                    "a touch changes the object's version",
                    SERVER,
                    "org.rowankv.server.request.Decision",
                    "                    .objectVersion(current.objectVersion)\n",
                    ""),
            new PlantedBug(
                    "an entry is visible whatever its version",
                    SERVER,
                    "org.rowankv.server.shard.ShardReplica",
                    "if (existing != 0 && existing != address && !isLost(existing) && versionAt(existing) >= version) {",
                    "if (existing == -1) {"),
            new PlantedBug(
                    "readers do not look at the generation again",
                    SERVER,
                    "org.rowankv.server.request.ObjectReader",
                    "            if (segments.generation(segment) != generation) {\n                request.noResult();",
                    "            if (generation == 0) {\n                request.noResult();"),
            new PlantedBug(
                    "the cleaner frees what it could not copy",
                    SERVER,
                    "org.rowankv.server.cleaning.Relocation",
                    "} else if (replica.relocate(LOCK_OWNER, position, type, address, copy)) {",
                    "} else if (address != 0) {"),
            new PlantedBug(
                    "a clear spares what was written last",
                    SERVER,
                    "org.rowankv.server.shard.ShardReplica",
                    "return EntryType.holdsObject(type) && version > clears.clearedUpTo(cacheId)",
                    "return EntryType.holdsObject(type) && version > clears.clearedUpTo(cacheId) - 2"),
            new PlantedBug(
                    "expired objects are read",
                    SERVER,
                    "org.rowankv.server.request.ObjectReader",
                    "clock.wallMs() < expiryMs);",
                    "clock.wallMs() < expiryMs + 500);"),
            new PlantedBug(
                    "the cold start collects nothing",
                    SERVER,
                    "org.rowankv.server.reconfiguration.ColdStart",
                    "if (owners.size() > 1) {",
                    "if (owners.size() > 9) {"),
            new PlantedBug(
                    "space is not given back by what is superseded",
                    SERVER,
                    "org.rowankv.server.request.Mutation",
                    "if (freed > 0) {",
                    "if (freed > 4096) {"));

    private PlantedBugs() {}
}
