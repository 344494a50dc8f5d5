package org.rowankv.samples.quickstart;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.cache.CacheManager;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.inspect.ReplicaReport;
import org.rowankv.server.inspect.StoreInspection;

/**
 * Servers in the JVM that opens the store, in a directory.
 *
 * @param isKept whether the directory is there after the run
 */
record EmbeddedQuickstartStore(Path directory, long capacityBytes, boolean isKept) implements QuickstartStore {
    private static final int SERVERS = 3;
    private static final int REPLICAS = 3;

    @Override
    public String description() {
        return SERVERS + " servers with " + (capacityBytes >> 20) + " MiB each, " + REPLICAS + " replicas, in "
                + directory;
    }

    @Override
    public URI uri() {
        return URI.create("rowan:embedded?servers=" + SERVERS + "&replicas=" + REPLICAS + "&capacity=" + capacityBytes
                + "&dir=" + encodedDirectory());
    }

    private String encodedDirectory() {
        return URLEncoder.encode(directory.toString(), StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("%2F", "/");
    }

    @Override
    public String command() {
        return isKept
                ? "./rowan sql --url 'jdbc:rowan:embedded?dir=" + encodedDirectory()
                        + "' -e 'SELECT _key, octet_length(_value) FROM classes LIMIT 10'"
                : "";
    }

    @Override
    public List<String> table(CacheManager manager) {
        return StoreTable.of(manager).lines();
    }

    @Override
    public String reopen() {
        return "opening the same directory in a new process";
    }

    @Override
    public List<String> differences() {
        try (ClosedStore closed = ClosedStore.open(directory)) {
            final ReplicaReport report = StoreInspection.of(closed).compareReplicas();
            final List<String> differences = new ArrayList<>();
            for (ReplicaReport.ShardDigests shard : report.shards()) {
                if (!shard.agree()) {
                    differences.add("shard " + shard.shard() + " differs: " + shard.replicas());
                }
            }
            if (differences.isEmpty()
                    && !(report.differences().isEmpty()
                            && report.unsettled().isEmpty()
                            && report.damagedPlaces() == 0
                            && report.replicas() == REPLICAS)) {
                differences.add("the files are damaged: " + report);
            }
            return differences;
        }
    }
}
