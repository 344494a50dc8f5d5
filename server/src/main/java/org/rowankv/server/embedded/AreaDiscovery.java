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
 * The areas of a store that exists, and the configuration it starts with. Any complete replica of the newest configuration
 * suffices: an area that is missing, or cannot be believed, is made anew, and its server's replicas are joining. Where a
 * shard would be left without a complete replica the store is refused, and nothing was changed.
 *
 * <p>An area is believed if its incarnation is the one that the configuration names, or later: so one that was just made,
 * and one that was put back from earlier days, hold nothing that counts. A crash between making an area and storing the
 * configuration leaves it to be made again.
 */
final class AreaDiscovery {
    private static final Logger LOG = LoggerFactory.getLogger(AreaDiscovery.class);

    /** Where areas are. */
    interface Place {
        /** @throws UnusableAreaException if the area is missing, or cannot be believed */
        Area open(int server, boolean acceptUnclean);

        /** Makes an empty area; whatever is found in its place is out of the way afterwards. */
        Area createAgain(int server);

        /** After the area made by {@link #createAgain} was closed: what was found in its place is there again. */
        void putBack(int server);

        /**
         * For an area that was made again and never used, by a start that did not end: what was found in its place then is
         * there again, if it was kept.
         *
         * @return whether it is
         */
        boolean putBackUnfinished(int server);

        /** For people. */
        String name();
    }

    private final Configuration found;
    private final Place place;
    private final @Nullable Area[] areas;
    private final Map<Integer, UnusableAreaException> lost = new TreeMap<>();
    /** Used with consent although their replicas are incomplete: only for shards without a complete one. */
    private final Set<Integer> incomplete = new TreeSet<>();

    private AreaDiscovery(Configuration found, Place place) {
        this.found = found;
        this.place = place;
        this.areas = new @Nullable Area[found.serverCount()];
    }

    /** @param acceptUnclean whether areas of which only the last writes are in doubt may be used where nothing else is left */
    static AreaDiscovery open(Configuration found, Place place, boolean acceptUnclean) {
        final AreaDiscovery opened = new AreaDiscovery(found, place);
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
            area = place.open(server, acceptUnclean);
        } catch (UnusableAreaException e) {
            lost.put(server, e);
            return;
        }
        areas[server] = area;
        if (area.superblock().isIncomplete()) {
            LOG.warn(
                    "server {} lacks an entry that was acknowledged, and is used all the same: its replicas count where no"
                            + " other is complete",
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
            if (incarnation == 0 && place.putBackUnfinished(server)) {
                open(server, acceptUnclean);
                return;
            }
            lost.put(
                    server,
                    new UnusableAreaException("the area of server " + server + " in " + place.name()
                            + " is older than the configuration: it ends with start "
                            + incarnation + " of the server, whose last was start "
                            + found.incarnations().get(server) + ". Put the newest one back"));
            return;
        }
        requireTenures(area);
    }

    /** What a tenure voids that the configuration does not know of may be all that there is. */
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
                .append(place.name())
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
                text.append(" Server ").append(server).append(" had not yet got its copy of what the others held.");
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

    /**
     * Makes the lost areas again. Returns the configuration to start with, but for the incarnations.
     */
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
            LOG.warn("{}. Server {} begins anew, and is sent what the other replicas hold", why.getMessage(), server);
            areas[server] = place.createAgain(server);
        });
        return next;
    }

    /**
     * Begins the tenures of joining replicas, so that what earlier stays left counts nothing. After the configuration is
     * stored in which they join: else an attempt that fails would void a replica that counts. Before any of them becomes
     * complete.
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

    /** After all areas were closed, and before a configuration was stored in which those made again count as joining. */
    void putBack() {
        lost.keySet().forEach(place::putBack);
    }

    /** Whether the area of a server was made again. */
    boolean isMadeAgain(int server) {
        return lost.containsKey(server);
    }

    /** By server, those that there are. */
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
