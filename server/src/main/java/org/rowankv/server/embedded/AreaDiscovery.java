package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.area.UnusableAreaException;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The usable areas of an existing store, and the configuration it starts with. Any complete replica of the newest
 * configuration suffices: an area that is missing or unusable is created again, and its server's replicas are joining.
 * If a shard would lose its last complete replica, the store is refused and nothing is changed.
 *
 * <p>An area is usable if its incarnation is the one in the configuration, or later. So a newly created area, or one
 * restored from an old backup, does not count. After a crash between the creation of an area and the storing of the
 * configuration, the area is created again.
 */
final class AreaDiscovery {
    private static final Logger LOG = LoggerFactory.getLogger(AreaDiscovery.class);

    /** The storage of the areas. */
    interface Place {
        /** @throws UnusableAreaException if the area is missing or unusable */
        Area open(int server, boolean acceptUnclean);

        /** Creates an empty area; an existing unusable one is moved away. */
        Area createAgain(int server);

        /** After the area created by {@link #createAgain} was closed: restores what was moved away. */
        void putBack(int server);

        /**
         * For an area created again but never used, by a start that did not complete: restores what was moved away
         * then, if it was kept.
         *
         * @return whether it was restored
         */
        boolean putBackUnfinished(int server);

        /** For messages. */
        String name();
    }

    private final Configuration found;
    private final Place storage;
    private final @Nullable Area[] areas;
    private final Map<Integer, UnusableAreaException> lost = new TreeMap<>();
    /** Used by override although their replicas are incomplete: only for shards without a complete replica. */
    private final Set<Integer> incomplete = new TreeSet<>();

    private AreaDiscovery(Configuration found, Place storage) {
        this.found = found;
        this.storage = storage;
        this.areas = new @Nullable Area[found.serverCount()];
    }

    /** @param acceptUnclean whether areas with only their last writes in doubt may be used where no other is left */
    static AreaDiscovery open(Configuration found, Place storage, boolean acceptUnclean) {
        final AreaDiscovery opened = new AreaDiscovery(found, storage);
        try {
            opened.open(acceptUnclean);
            return opened;
        } catch (RuntimeException | Error e) {
            opened.closeAll();
            throw e;
        }
    }

    private void open(boolean acceptUnclean) {
        for (int server = 0; server < areas.length; server++) {
            open(server, false);
        }
        if (acceptUnclean && !found.shardsLostWithout(lost.keySet()).isEmpty()) {
            for (Map.Entry<Integer, UnusableAreaException> each : List.copyOf(lost.entrySet())) {
                if (each.getValue().isUnclean()) {
                    lost.remove(each.getKey());
                    open(each.getKey(), true);
                }
            }
        }
        final List<Integer> shards = found.shardsLostWithout(lost.keySet());
        if (!shards.isEmpty()) {
            throw refusal(shards);
        }
    }

    private void open(int server, boolean acceptUnclean) {
        final Area area;
        try {
            area = storage.open(server, acceptUnclean);
        } catch (UnusableAreaException e) {
            lost.put(server, e);
            return;
        }
        areas[server] = area;
        if (area.superblock().isIncomplete()) {
            LOG.warn(
                    "ROWAN-2002 server {} lacks an acknowledged entry and is used nevertheless: its replicas count"
                            + " where no other is complete",
                    server);
            incomplete.add(server);
        }
        if (area.superblock().term() > found.term()) {
            throw new StoreOpenException("server " + server + " has adopted term "
                    + area.superblock().term() + ", but the stored configuration is of term " + found.term()
                    + ": the configuration is older than the data; put the newest one back");
        }
        final long incarnation = area.superblock().incarnation();
        if (incarnation < found.incarnations().get(server)) {
            areas[server] = null;
            area.close();
            if (incarnation == 0 && storage.putBackUnfinished(server)) {
                open(server, acceptUnclean);
                return;
            }
            lost.put(
                    server,
                    new UnusableAreaException("the area of server " + server + " in " + storage.name()
                            + " is older than the configuration: it ends with start "
                            + incarnation + " of the server, whose last was start "
                            + found.incarnations().get(server) + ". Put the newest one back"));
            return;
        }
        requireTenures(area);
    }

    /** Entries voided by a tenure later than the configuration may be the only copies. */
    private void requireTenures(Area area) {
        for (int shard = 0; shard < found.shardCount(); shard++) {
            final int tenure = area.tenures().tenure(shard);
            final int epoch = found.shard(shard).epoch();
            if (tenure > epoch) {
                throw new StoreOpenException("server " + area.serverId() + " holds shard " + shard + " since epoch "
                        + tenure + ", but the stored configuration is of epoch " + epoch
                        + ": the configuration is older than the data; put the newest one back");
            }
        }
    }

    private StoreOpenException refusal(List<Integer> shards) {
        final StringBuilder text = new StringBuilder("the store in ")
                .append(storage.name())
                .append(" cannot be opened: no complete replica is left of ")
                .append(shards.size())
                .append(" of its ")
                .append(found.shardCount())
                .append(" shards (")
                .append(listed(shards))
                .append(").");
        lost.forEach((server, why) -> text.append(" Server ")
                .append(server)
                .append(": ")
                .append(why.getMessage())
                .append('.'));
        for (int server = 0; server < areas.length; server++) {
            if (!lost.containsKey(server) && found.isJoining(server)) {
                text.append(" Server ")
                        .append(server)
                        .append(" had not yet received its copy from the other replicas.");
            }
        }
        final StoreOpenException refusal = new StoreOpenException(text.toString());
        lost.values().forEach(refusal::addSuppressed);
        return refusal;
    }

    private static String listed(List<Integer> shards) {
        final int most = 20;
        final String text = String.valueOf(shards.subList(0, Math.min(most, shards.size())));
        return text.substring(1, text.length() - 1) + (shards.size() > most ? ", …" : "");
    }

    /** Creates the lost areas again. Returns the configuration to start with, except for the incarnations. */
    Configuration begin() {
        try {
            return beginOrFail();
        } catch (RuntimeException | Error e) {
            closeAll();
            throw e;
        }
    }

    private Configuration beginOrFail() {
        final Configuration next = found.coldStart(found.incarnations(), lost.keySet(), incomplete);
        lost.forEach((server, why) -> {
            LOG.warn(
                    "ROWAN-2003 {}. Server {} starts empty and receives its content from the other replicas",
                    why.getMessage(),
                    server);
            areas[server] = storage.createAgain(server);
        });
        return next;
    }

    /**
     * Begins the tenures of joining replicas, which voids entries of earlier tenures. Call after the configuration in
     * which they join is stored: otherwise a failed attempt would void a replica that counts. Call before any of them
     * becomes complete.
     */
    void beginTenures(Configuration next) {
        for (Area area : areas()) {
            for (int shard = 0; shard < next.shardCount(); shard++) {
                if (next.shard(shard).isJoining(area.serverId())) {
                    area.tenures().put(shard, next.shard(shard).epoch());
                }
            }
            area.drain();
        }
    }

    /**
     * Restores the areas that were moved away. Call after all areas are closed, and before a configuration is stored in
     * which the areas created again are joining.
     */
    void putBack() {
        lost.keySet().forEach(storage::putBack);
    }

    /** Whether the area of a server was created again. */
    boolean isMadeAgain(int server) {
        return lost.containsKey(server);
    }

    /** The opened areas, by server. */
    List<Area> areas() {
        final List<Area> opened = new ArrayList<>();
        for (Area area : areas) {
            if (area != null) {
                opened.add(area);
            }
        }
        return opened;
    }

    private void closeAll() {
        areas().forEach(Area::close);
    }
}
