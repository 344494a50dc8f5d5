package org.rowankv.server.engine;

import java.util.List;
import java.util.function.IntConsumer;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.MessageHandler;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.log.Segments;
import org.rowankv.server.request.SpacePressure;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.shard.Replicas;
import org.rowankv.topology.Configuration;

/**
 * What a {@link Server} is put together of, apart from its endpoint.
 *
 * @param segments of its area, read
 * @param replicas of the shards that it holds
 * @param configuration that gives it its roles
 * @param threading SHARED, or DEDICATED
 * @param wakeUp wakes the agents of a server of the cluster up
 * @param pressure what a worker without room asks
 * @param copies told of copies to joining replicas
 * @param epochs where new epochs come from when versions come to an end
 * @param ios in whose turns the clients' requests come; none where they come on threads of callers
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
        IntConsumer wakeUp,
        SpacePressure pressure,
        CopyListener copies,
        EpochSupplier epochs,
        List<IoPoller> ios) {

    public ServerContext {
        ios = List.copyOf(ios);
    }

    /** What a server's endpoint is opened with. */
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

    /** A server with an endpoint of its own, which talks to no other but through the backup logs. */
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
