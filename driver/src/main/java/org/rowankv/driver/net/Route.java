package org.rowankv.driver.net;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/** A routing and the links to its servers. Immutable; the next route reuses links of unchanged addresses. */
final class Route {
    private final Configuration configuration;
    private final List<ServerLink> links;
    private final ServerLink[] primaries;

    private Route(Configuration configuration, List<ServerLink> links) {
        this.configuration = configuration;
        this.links = links;
        this.primaries = new ServerLink[configuration.shardCount()];
        for (int shard = 0; shard < primaries.length; shard++) {
            primaries[shard] = links.get(configuration.shard(shard).primary());
        }
    }

    /** @param linkFactory creates the link to an address */
    static Route of(Routing routing, @Nullable Route before, Function<String, ServerLink> linkFactory) {
        final Map<String, ServerLink> present = new HashMap<>();
        if (before != null) {
            before.links.forEach(link -> present.put(link.address(), link));
        }
        final List<ServerLink> links = new ArrayList<>();
        for (String address : routing.addresses()) {
            links.add(present.computeIfAbsent(address, linkFactory));
        }
        return new Route(routing.configuration(), links);
    }

    Configuration configuration() {
        return configuration;
    }

    long term() {
        return configuration.term();
    }

    boolean hasShard(int shard) {
        return shard >= 0 && shard < primaries.length;
    }

    ServerLink primaryOf(int shard) {
        return primaries[shard];
    }

    /** Whether the server is the primary of a shard. */
    boolean isPrimary(ServerLink link) {
        return Arrays.asList(primaries).contains(link);
    }

    /** Whether a request for that shard, or another {@link ControlRequest#shard}, belongs to that address. */
    boolean isAt(String address, int shard) {
        return hasShard(shard)
                ? primaries[shard].address().equals(address)
                : shard == ControlRequest.SERVER
                        && members().stream().anyMatch(link -> link.address().equals(address));
    }

    /** The servers that may have roles: those with an address. */
    List<ServerLink> members() {
        return links.stream().filter(link -> !link.address().isEmpty()).toList();
    }

    /** By server id. */
    List<ServerLink> links() {
        return links;
    }

    /** Closes the links that the next route does not use, and returns them; all if it is null. */
    List<ServerLink> closeUnused(@Nullable Route next) {
        final List<ServerLink> unused = links.stream()
                .distinct()
                .filter(link -> next == null || !next.links.contains(link))
                .toList();
        unused.forEach(ServerLink::close);
        return unused;
    }
}
