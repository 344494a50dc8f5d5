package org.rowankv.server.inspect;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.configstore.NodeFile;
import org.rowankv.server.configstore.VersionedNode;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.durability.FileThread;
import org.rowankv.topology.Configuration;

/**
 * The configuration of a closed store on disk: the intact nodes, in memory, and the faults of the others. Nothing is
 * changed, not even what a crash left half written. For one thread.
 */
public final class ConfigurationImage {
    private final Path directory;
    private final ConfigurationStore store = new MemoryConfigurationStore();
    private final List<Damage> damages = new ArrayList<>();

    private ConfigurationImage(Path directory) {
        this.directory = directory;
    }

    public static ConfigurationImage read(ClosedStore closed) {
        return read(closed.configurationDir());
    }

    /** Reads the configuration of a closed store that may lack areas. */
    public static ConfigurationImage read(Path directory) {
        final ConfigurationImage image = new ConfigurationImage(directory);
        return FileThread.call("rowan-configuration-image", () -> {
            try {
                image.load();
                return image;
            } catch (IOException e) {
                throw new StoreOpenException("cannot read the configuration in " + image.directory + ": " + e, e);
            }
        });
    }

    private void load() throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            for (Path file : found) {
                if (NodeFile.isNamed(file.getFileName().toString())) {
                    loadNode(file);
                }
            }
        }
    }

    private void loadNode(Path file) throws IOException {
        try {
            final NodeFile read = NodeFile.read(directory, file);
            store.compareAndSet(
                    read.path(),
                    ConfigurationStore.ABSENT,
                    read.node().bytes(),
                    read.node().stamp());
        } catch (ConfigurationStoreException e) {
            damages.add(new Damage(file, 0, String.valueOf(e.getMessage())));
        }
    }

    /** The intact nodes; changes to it are not written. */
    public ConfigurationStore store() {
        return store;
    }

    /** Nodes that are damaged. */
    public List<Damage> damages() {
        return List.copyOf(damages);
    }

    /**
     * The placement.
     *
     * @throws StoreOpenException if that is missing or damaged
     */
    public Configuration configuration() {
        final VersionedNode stored = store.read(ConfigurationCodec.PATH);
        if (stored != null) {
            return ConfigurationCodec.decode(stored.bytes());
        }
        final Path file = NodeFile.of(directory, ConfigurationCodec.PATH);
        for (Damage damage : damages) {
            if (damage.file().equals(file)) {
                throw new StoreOpenException(damage.reason());
            }
        }
        throw new StoreOpenException(
                "the configuration " + file + " is missing: put it back from a backup, or start with an empty dir");
    }
}
