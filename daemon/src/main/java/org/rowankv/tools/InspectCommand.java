package org.rowankv.tools;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.directory.ClosedServer;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.inspect.ServerContents;
import org.rowankv.server.inspect.ServerInspection;
import org.rowankv.server.inspect.StoreContents;
import org.rowankv.server.inspect.StoreInspection;
import org.rowankv.server.inspect.StoredEntry;
import org.rowankv.topology.KeyHash;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rowan inspect}: the content of a closed store. */
@Command(
        name = "inspect",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Reads the directory of a closed store without changing it: its identity, configuration and caches, and per"
                    + " server the segments, objects, tombstones, sessions and completions.",
            "For the data directory of a stopped cluster server it prints the same of that server, without configuration"
                    + " and caches, which are not stored there.",
            "Its last line is \"inspect: servers=N objects=N entries=N bad=N\" (not with --json). Exit codes: 0; with"
                    + " --verify 1 if something is damaged; 2 if the directory cannot be read, is in use, or is not a"
                    + " store."
        })
public final class InspectCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DIR", description = "directory of the store (dir=), or of a server (--data)")
    private Path directory;

    @Option(names = "--verify", description = "print every damaged place with file, offset and reason")
    private boolean verify;

    @Option(names = "--entries", description = "print one line for each entry of the logs, instead of totals")
    private boolean entries;

    @Option(names = "--server", description = "with --entries: only entries of this server")
    private @Nullable Integer server;

    @Option(names = "--shard", description = "with --entries: only entries of this shard")
    private @Nullable Integer shard;

    @Option(names = "--segment", description = "with --entries: only entries in this segment")
    private @Nullable Integer segment;

    @Option(names = "--key", description = "with --entries: only entries with this text, or bytes (0x...), in the key")
    private @Nullable String key;

    @Option(names = "--json", description = "print JSON: one line; with --entries one line for each entry")
    private boolean json;

    public static void main(String[] args) {
        System.exit(StoreCommand.line(new InspectCommand()).execute(args));
    }

    @Override
    public Integer call() {
        if (!entries && (server != null || shard != null || segment != null || key != null)) {
            throw new ParameterException(
                    spec.commandLine(), "--server, --shard, --segment and --key select among --entries: add --entries");
        }
        final PrintWriter out = spec.commandLine().getOut();
        try {
            return ClosedServer.isOne(directory) ? inspectServer(out) : inspectStore(out);
        } finally {
            out.flush();
        }
    }

    private int inspectStore(PrintWriter out) {
        try (ClosedStore store = ClosedStore.open(directory)) {
            final StoreInspection inspection = StoreInspection.of(store);
            if (entries) {
                printEntries(
                        inspection::forEachEntry,
                        new KeyHash(inspection.configuration().hashSeed()),
                        out);
                return verify ? verified(inspection.contents(), out) : StoreCommand.WELL;
            }
            final StoreContents contents = inspection.contents();
            if (json) {
                out.println(ContentsText.json(contents));
            } else {
                ContentsText.print(contents, out);
            }
            return verified(contents, out);
        }
    }

    private int verified(StoreContents contents, PrintWriter out) {
        return verified(contents.servers(), contents.damages(), out);
    }

    private int inspectServer(PrintWriter out) {
        try (ClosedServer closed = ClosedServer.open(directory)) {
            final ServerInspection inspection = ServerInspection.of(closed);
            final ServerInspection.Contents contents = inspection.contents();
            if (entries) {
                printEntries(inspection::forEachEntry, null, out);
                return verify ? verified(contents.servers(), contents.damages(), out) : StoreCommand.WELL;
            }
            if (json) {
                out.println(ContentsText.json(contents));
            } else {
                ContentsText.print(contents, out);
            }
            return verified(contents.servers(), contents.damages(), out);
        }
    }

    /** @param hash of the cluster's keys, if it is known */
    private void printEntries(Consumer<StoreInspection.EntryVisitor> source, @Nullable KeyHash hash, PrintWriter out) {
        final byte[] part = key == null ? new byte[0] : parseKey(key);
        source.accept((from, entry) -> {
            if (isSelected(from, entry) && KeyText.contains(entry.key(), part)) {
                out.println(json ? EntryLine.json(from, entry, hash) : EntryLine.text(from, entry, hash));
            }
        });
    }

    private byte[] parseKey(String text) {
        try {
            return KeyText.parse(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(), "--key " + text + " is not 0x and pairs of hex digits: " + e.getMessage(), e);
        }
    }

    private boolean isSelected(int from, StoredEntry entry) {
        return (server == null || server == from)
                && (shard == null || shard == entry.shard())
                && (segment == null || segment == entry.place().segment());
    }

    private int verified(List<ServerContents> servers, List<Damage> damages, PrintWriter out) {
        if (!json) {
            if (verify) {
                damages.forEach(damage -> out.println("bad: " + ContentsText.of(damage)));
            }
            out.println("inspect: servers=" + servers.size() + " objects="
                    + servers.stream().mapToLong(ServerContents::objects).sum()
                    + " entries="
                    + servers.stream().mapToLong(ServerContents::entryCount).sum()
                    + " bad=" + damages.size());
        }
        return verify && !damages.isEmpty() ? StoreCommand.WRONG : StoreCommand.WELL;
    }
}
