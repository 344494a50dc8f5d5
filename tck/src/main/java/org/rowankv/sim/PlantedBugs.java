package org.rowankv.sim;

import java.util.List;

/** The bugs that the simulator must find, each planted alone. */
final class PlantedBugs {
    private static final String RDMA = "rdma";
    private static final String DRIVER = "driver";
    private static final String SERVER = "server";

    static final List<PlantedBug> ALL = List.of(
            new PlantedBug(
                    "the horizon ignores what is kept for its answer",
                    SERVER,
                    "org.rowankv.server.log.Segments",
                    "|| keepsEnded.get(segment) != 0",
                    ""),
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
                    "found.withEpoch(found.epoch() + 1)",
                    "found.withEpoch(found.epoch())"),
            new PlantedBug(
                    "a restarted server resumes in its old term",
                    DRIVER,
                    "org.rowankv.placement.Configuration",
                    "            next.add(left);\n        }\n"
                            + "        return new Configuration(clusterId, hashSeed, term + 1, newIncarnations, next);",
                    "            next.add(left);\n        }\n"
                            + "        return new Configuration(clusterId, hashSeed, term, newIncarnations, next);"),
            new PlantedBug(
                    "deletions are forgotten while a replica is joining",
                    SERVER,
                    "org.rowankv.server.shard.ShardReplica",
                    "if (joining) {\n            return 0;\n        }\n        settle();",
                    "settle();"),
            new PlantedBug(
                    "a joining replica is promoted",
                    DRIVER,
                    "org.rowankv.placement.ShardAssignment",
                    "return isReplica(server) && !joining.contains(server);",
                    "return isReplica(server);"),
            new PlantedBug(
                    "entries of an older tenure count",
                    SERVER,
                    "org.rowankv.server.reconfiguration.SegmentReader",
                    "|| FrameDescriptor.tag(buffer, at) < replicas.get(shard).tenure();",
                    ";"),
            new PlantedBug(
                    "copies to a joining replica are taken for repetitions",
                    SERVER,
                    "org.rowankv.server.digest.DigestAgent",
                    "return version <= replica.commitVersion() && !replica.isJoining();",
                    "return version <= replica.commitVersion();"),
            new PlantedBug(
                    "deletions are forgotten while older entries wait",
                    SERVER,
                    "org.rowankv.server.digest.DigestAgent",
                    "        final int assembled = assembler.assemble(this);\n        if (mayForget && assembler.isIdle()) {\n"
                            + "            forgetDeletions();\n        }\n",
                    "        if (mayForget) {\n            forgetDeletions();\n        }\n"
                            + "        final int assembled = assembler.assemble(this);\n"),
            new PlantedBug(
                    "the horizon passes what is dead in the log",
                    SERVER,
                    "org.rowankv.server.log.Segments",
                    "smallest = Math.min(smallest, horizon(s));",
                    "smallest = Math.max(smallest, horizon(s));"),
            new PlantedBug(
                    "what is dead in a segment that was read holds no horizon back",
                    SERVER,
                    "org.rowankv.server.cleaning.HorizonLook",
                    "case EntryType.PUT, EntryType.TOUCH -> needed |= !isOutlived(buffer, at, address);",
                    "case EntryType.PUT, EntryType.TOUCH -> needed |= type == 0;"),
            new PlantedBug(
                    "CommitVer overtakes a version nobody announced",
                    SERVER,
                    "org.rowankv.server.request.Mutation",
                    "worker.inFlight().announce(slot, shardId, shard.versions().lowerBound());",
                    ""),
            new PlantedBug(
                    "CommitVer passes a version in flight",
                    SERVER,
                    "org.rowankv.server.request.InFlight",
                    "smallest[shard] = Math.min(smallest[shard], Version.before(bound));",
                    "smallest[shard] = Math.min(smallest[shard], bound);"),
            new PlantedBug(
                    "versions of an epoch are given out again when they come to their end",
                    DRIVER,
                    "org.rowankv.protocol.VersionCounter",
                    "            if (last.compareAndSet(before, first)) {",
                    "            if (last.compareAndSet(before, Version.of(Version.epoch(before), 0))) {"),
            new PlantedBug(
                    "numbers of segments have 32 bits",
                    SERVER,
                    "org.rowankv.server.log.Segments",
                    "lastSequence.set(sequence);",
                    "lastSequence.set((int) sequence);"),
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
                    "if (session == null || session.closed) {\n            return 0;\n        }\n        return session.completions.remember(",
                    "if (session == null || session.closed || scanning) {\n            return 0;\n        }\n        return"
                            + " session.completions.remember("),
            new PlantedBug(
                    "completions do not move with their entries",
                    SERVER,
                    "org.rowankv.server.cleaning.Relocation",
                    "return sequence != 0 && replica.sessions(sessionId).completionMoved(sessionId, sequence, from, to);",
                    "return false;"),
            new PlantedBug(
                    "duplicate check outside the lock",
                    SERVER,
                    "org.rowankv.server.request.Mutation",
                    "                    if (mustWaitForEviction() || !lock()) {\n                        return false;\n"
                            + "                    }\n"
                            + "                    state = State.DECIDING;\n"
                            + "                }\n"
                            + "                case DECIDING -> {\n"
                            + "                    if (decision.decide()) {\n"
                            + "                        state = State.AWAITING_SPACE;\n",
                    "                    state = State.DECIDING;\n"
                            + "                }\n"
                            + "                case DECIDING -> {\n"
                            + "                    if (stripesHeld == stripesNeeded || decision.decide()) {\n"
                            + "                        if (!lock()) {\n                            return false;\n"
                            + "                        }\n"
                            + "                        state = State.AWAITING_SPACE;\n"),
            new PlantedBug(
                    "removals need space",
                    SERVER,
                    "org.rowankv.server.request.Decision",
                    "return EntryType.holdsObject(draft.type()) && !inPlace;",
                    "return !inPlace || length > 0;"),
            new PlantedBug(
                    "blocks that land twice are put together twice",
                    SERVER,
                    "org.rowankv.server.digest.EntryAssembler",
                    "if (done.contains(key)) {",
                    "if (key == null) {"),
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
                    "what a writer found is superseded, wherever it is by now",
                    SERVER,
                    "org.rowankv.server.shard.ShardReplica",
                    "                && index.refers(position, address);",
                    "                && position != 1;"),
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
                    "evictions are not logged",
                    SERVER,
                    "org.rowankv.server.request.Decision",
                    "return evict();",
                    "replica().index().lock(worker.lockOwner());\n"
                            + "replica().index().remove(position, current.address);\n"
                            + "replica().counts().removed(asked().cacheId(), worker.segments().charge(current.length));\n"
                            + "replica().index().unlock();\n"
                            + "return answer(Status.OK, ResultBits.EVICTED, 0, 0);"),
            new PlantedBug(
                    "a mark of use forgets what is linked to the bucket",
                    SERVER,
                    "org.rowankv.server.index.ReferenceBits",
                    "return linkWord | 1L << SHIFT + slot;",
                    "return 1L << SHIFT + slot;"),
            new PlantedBug(
                    "what a clear ended still counts",
                    SERVER,
                    "org.rowankv.server.retention.ClearSweepAgent",
                    "replica.counts().removed(EntryDescriptor.cacheId(entry, at), segments.charge(length));",
                    ""),
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
                    "if (freed > 4096) {"),
            new PlantedBug(
                    "power: acknowledged before the own device has it",
                    SERVER,
                    "org.rowankv.server.request.Mutation",
                    "return ticket == 0 || worker.tLog().isForced(ticket);",
                    "return ticket >= 0;"),
            new PlantedBug(
                    "power: acknowledged before the backup's device has it",
                    RDMA,
                    "org.rowankv.rdma.local.CompletionRing",
                    "if (force != null && !force.isForced(tickets[at])) {",
                    "if (at < 0) {"),
            new PlantedBug(
                    "power: what lands is not flushed",
                    RDMA,
                    "org.rowankv.rdma.local.LocalQueuePair",
                    "force.flush(ring.address(LandingRing.segment(posting), place), length);",
                    ""),
            new PlantedBug(
                    "power: a segment is freed before its copies are forced",
                    SERVER,
                    "org.rowankv.server.cleaning.Relocation",
                    "        log.drain();\n        Chaos.point(\"clean.before-free\");",
                    "        Chaos.point(\"clean.before-free\");"),
            new PlantedBug(
                    "power: what the digest acts upon is not flushed",
                    SERVER,
                    "org.rowankv.server.digest.DigestAgent",
                    "segments.area().verbs().flush(address, length);",
                    ""),
            new PlantedBug(
                    "power: a segment is named before its line is forced",
                    SERVER,
                    "org.rowankv.server.pm.SegmentMetaTable",
                    "        verbs.flush(at, SegmentMetaDescriptor.LENGTH);\n        verbs.drain();",
                    "        verbs.flush(at, SegmentMetaDescriptor.LENGTH);"),
            new PlantedBug(
                    "power: a start acts upon what only the system has",
                    SERVER,
                    "org.rowankv.server.pm.Area",
                    "memory.flushAll();\n            } catch",
                    "memory.region();\n            } catch"),
            new PlantedBug(
                    "power: what a power cut tore stays",
                    SERVER,
                    "org.rowankv.server.reconfiguration.SegmentReader",
                    "if (segments.area().mayBeTorn()) {",
                    "if (segment < 0) {"),
            new PlantedBug(
                    "power: a force that has not ended is believed",
                    SERVER,
                    "org.rowankv.server.pm.Forcer",
                    "return ticket <= forced;",
                    "return ticket <= requested;"),
            new PlantedBug(
                    "a checkpoint accepts old copies",
                    SERVER,
                    "org.rowankv.server.shard.CheckpointBound",
                    "return version <= itemsUpTo && !named.contains(version);",
                    "return version < 0;"),
            new PlantedBug(
                    "a checkpoint ignores that a segment was used anew",
                    SERVER,
                    "org.rowankv.server.checkpoint.CheckpointLoad",
                    "&& segments.generation(s) == line.generation();",
                    ";"),
            new PlantedBug(
                    "a checkpoint forgets what was answered",
                    SERVER,
                    "org.rowankv.server.checkpoint.CheckpointLoad",
                    "if (isReflected(answer.address())) {",
                    "if (answer.address() < 0) {"),
            new PlantedBug(
                    "a checkpoint covers segments that are open",
                    SERVER,
                    "org.rowankv.server.checkpoint.CheckpointBook",
                    "&& segments.isClosed(s);",
                    "|| segments.isClosed(s) || generation != 0;"));

    private PlantedBugs() {}
}
