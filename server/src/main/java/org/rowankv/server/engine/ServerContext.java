package org.rowankv.server.engine;

import java.util.List;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.MessageHandler;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.log.Segments;
import org.rowankv.server.request.SpacePressure;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.shard.Replicas;
import org.rowankv.topology.Configuration;

/**
 * The components of a {@link Server}, apart from its endpoint.
 *
 * @param segments of its area, already read
 * @param replicas of its shards
 * @param configuration that assigns its roles
 * @param threading SHARED, or DEDICATED
 * @param pressure receives requests of a worker without space
 * @param copies receives the progress of copies to joining replicas
 * @param epochs source of new epochs when versions are exhausted
 * @param permit for answers that no backup has acknowledged
 * @param ios pollers of the event loops that execute client requests; empty if callers' threads execute them
 */
public record ServerContext(
        ServerSettings settings,
        Segments segments,
        Replicas replicas,
        Configuration configuration,
        Clock clock,
        Scheduling scheduling,
        ThreadingMode threading,
        ErrorLog errors,
        SpacePressure pressure,
        CopyListener copies,
        EpochSupplier epochs,
        AnswerPermit permit,
        List<IoPoller> ios) {

    public ServerContext {
        ios = List.copyOf(ios);
    }

    /** Settings of a server's endpoint. */
    public static EndpointSettings endpointSettings(
            int serverId,
            ServerSettings settings,
            Segments segments,
            long incarnation,
            long clusterId,
            MessageHandler messages,
            MembershipView view) {
        return new EndpointSettings(
                serverId,
                incarnation,
                clusterId,
                segments.region(),
                segments.length(),
                segments.area().segmentBase(),
                Math.max(2, 2 * settings.postedAhead()),
                segments.space(),
                messages,
                view,
                segments.area().landingForce());
    }

    /** A server with its own endpoint, which communicates with others only through the backup logs. */
    public Server open(int serverId, Fabric fabric, MembershipView view) {
        final EndpointSettings endpointSettings = endpointSettings(
                serverId,
                settings,
                segments,
                configuration.incarnations().get(serverId),
                configuration.clusterId(),
                (from, incarnation, message) -> {},
                view);
        return new Server(this, endpointSettings, fabric::open, fabric.capabilities());
    }
}
