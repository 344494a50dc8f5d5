package org.rowankv.server.inspect;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.directory.AreaImage;
import org.rowankv.server.directory.ClosedServer;
import org.rowankv.server.directory.Damage;
import org.rowankv.topology.Configuration;

/**
 * An inspection of the directory of one stopped server of a cluster of processes. Caches and other replicas are
 * not checked; epochs are if the cluster's configuration is given. For one thread.
 */
public final class ServerInspection {
    private final ClosedServer server;
    private final @Nullable Configuration configuration;

    private ServerInspection(ClosedServer server, @Nullable Configuration configuration) {
        this.server = server;
        this.configuration = configuration;
    }

    /**
     * Without the configuration, what the server had of shards that others hold now counts as present.
     *
     * @param server open as long as this is used
     */
    public static ServerInspection of(ClosedServer server) {
        return new ServerInspection(server, null);
    }

    /**
     * @param server open as long as this is used
     * @param configuration of the stopped cluster
     */
    public static ServerInspection of(ClosedServer server, Configuration configuration) {
        return new ServerInspection(server, configuration);
    }

    /**
     * The content of a server's directory.
     *
     * @param copied whether the directory is not the one the server was created in
     * @param servers the contents of its area; none if it has no area yet
     * @param damages all damage found
     */
    public record Contents(
            String directory,
            String name,
            String cluster,
            String identity,
            boolean copied,
            List<ServerContents> servers,
            List<Damage> damages) {}

    /** Reads everything, and verifies it: every checksum, both copies of the superblock, the tables. */
    public Contents contents() {
        final List<Damage> damages = new ArrayList<>();
        final @Nullable AreaImage area = server.area();
        return new Contents(
                server.path().toString(),
                server.name(),
                server.cluster(),
                Long.toHexString(server.identity()),
                server.isCopied(),
                area == null ? List.of() : List.of(AreaSurvey.of(area, configuration, damages)),
                damages);
    }

    /** Visits every valid entry of its area, with the server's number. */
    public void forEachEntry(StoreInspection.EntryVisitor visitor) {
        final @Nullable AreaImage area = server.area();
        if (area != null) {
            final int number = area.superblock().server();
            walk(area, entry -> visitor.onEntry(number, entry));
        }
    }

    static void walk(AreaImage area, Consumer<StoredEntry> consumer) {
        AreaWalk.walk(area, new AreaWalk.Visitor() {
            @Override
            public void onEntry(StoredEntry entry, ByteBuffer buffer, int at) {
                consumer.accept(entry);
            }

            @Override
            public void onDamage(Damage damage) {
                // contents() reports it.
            }
        });
    }
}
