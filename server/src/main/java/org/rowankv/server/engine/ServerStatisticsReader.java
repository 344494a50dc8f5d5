package org.rowankv.server.engine;

import java.util.List;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.dispatch.ServerAgents;
import org.rowankv.server.dispatch.WorkerPool;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.CommitAgent;
import org.rowankv.server.scrub.ScrubAgent;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** Reads the counters of a server's components. Thread-safe; reads are not a consistent snapshot. */
record ServerStatisticsReader(
        int serverId,
        Segments segments,
        Replicas replicas,
        List<BackupConnections> links,
        WorkerPool pool,
        CurrentRoles roles,
        DigestAgent digest,
        CommitAgent commit,
        CleanAgent cleaner,
        ScrubAgent scrubber,
        RetentionAgents ending,
        QuiescenceTracker quiescenceTracker,
        ServerAgents agents) {

    ServerStatistics read() {
        long reconnects = 0;
        long notReady = 0;
        long creditRefusals = 0;
        for (BackupConnections link : links) {
            reconnects += link.reconnects();
            notReady += link.notReadyCount();
            creditRefusals += link.creditRefusals();
        }
        long indexBytes = 0;
        long indexEntries = 0;
        long openSessions = 0;
        for (ShardReplica replica : replicas.all()) {
            indexBytes += replica.index().memoryBytes();
            indexEntries += replica.index().count();
            openSessions += replica.sessions().openCount();
        }
        return new ServerStatistics(
                serverId,
                pool.tLogBytes(),
                digest.digestedBytes(),
                cleaner.relocatedBytes(),
                cleaner.cleanedSegments(),
                cleaner.tombstonesDropped(),
                segments.space().limit(),
                segments.space().available(),
                SegmentCounts.of(segments.area().segments()),
                segments.length(),
                indexBytes,
                indexEntries,
                pool.expiredObjects(),
                ending.expirySweep().endedObjects(),
                roles.get().evictedObjects(),
                digest.holesFenced(),
                reconnects,
                notReady,
                quiescenceTracker.isSettled(),
                scrubber.scrubbedBytes(),
                scrubber.rounds(),
                segments.damage().badEntries(),
                segments.damage().replacedEntries(),
                segments.damage().lostEntries(),
                commit.lag(),
                creditRefusals,
                openSessions,
                ending.sessionLeases().endedSessions() + pool.replacedSessions(),
                agents.cycles(),
                segments.pins().count());
    }
}
