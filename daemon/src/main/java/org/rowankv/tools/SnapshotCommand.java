package org.rowankv.tools;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.inspect.ServerContents;
import org.rowankv.server.inspect.StoreContents;
import org.rowankv.server.inspect.StoreInspection;
import org.rowankv.server.snapshot.StoreCopy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rowan snapshot}: copies a closed store. */
@Command(
        name = "snapshot",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Copies the directory of a closed or killed store. The copy opens like any other store, without accept-copied."
                    + " Every file is read back and compared, then every entry of the copy is verified. The original is not"
                    + " changed.",
            "Its last line is \"snapshot: files=N bytes=N objects=N bad=0\". Exit codes: 0; 1 if the copy contains"
                    + " damage of the original; 2 if the copy failed, and then nothing is left of it."
        })
public final class SnapshotCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DIR", description = "directory of the store (dir=)")
    private Path directory;

    @Parameters(index = "1", paramLabel = "TARGET", description = "a new or empty directory")
    private Path target;

    public static void main(String[] args) {
        System.exit(StoreCommand.line(new SnapshotCommand()).execute(args));
    }

    @Override
    public Integer call() {
        final PrintWriter out = spec.commandLine().getOut();
        try {
            final StoreCopy.Outcome copied;
            try (ClosedStore store = ClosedStore.open(directory)) {
                StoreInspection.of(store); // a store without its configuration is not worth a copy
                copied = StoreCopy.make(store, target);
            }
            final StoreContents contents;
            try (ClosedStore store = ClosedStore.open(target)) {
                contents = StoreInspection.of(store).contents();
            }
            contents.damages().forEach(damage -> out.println("bad: " + ContentsText.of(damage)));
            if (!contents.servers().stream()
                    .allMatch(server -> server.superblock().clean())) {
                out.println(
                        "note: the store was not closed: after a restart of the machine, or on another one, the copy"
                                + " opens with accept-unclean=true only");
            }
            out.println("snapshot: files=" + copied.files() + " bytes=" + copied.bytes() + " objects="
                    + contents.servers().stream()
                            .mapToLong(ServerContents::objects)
                            .sum()
                    + " bad=" + contents.damages().size());
            return contents.damages().isEmpty() ? StoreCommand.WELL : StoreCommand.WRONG;
        } finally {
            out.flush();
        }
    }
}
