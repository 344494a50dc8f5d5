package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.Machine;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.directory.StoreDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Areas in the files of a directory, for one opening of it. Owned by the opening thread. */
final class DirectoryStorage implements AreaDiscovery.Place {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStorage.class);

    private final StoreDirectory directory;
    private final EmbeddedSettings settings;
    private final RandomSource random;
    private final Machine machine;
    /** Servers with a file that this opening has set aside. */
    private final Set<Integer> setAside = new HashSet<>();

    DirectoryStorage(StoreDirectory directory, EmbeddedSettings settings, RandomSource random, Machine machine) {
        this.directory = directory;
        this.settings = settings;
        this.random = random;
        this.machine = machine;
    }

    @Override
    public Area open(int server, boolean acceptUnclean) {
        return Area.open(
                directory.areaSettings(server, settings.shape().durability()),
                new OpenOverrides(acceptUnclean, directory.consent().copied()),
                machine);
    }

    @Override
    public Area createAgain(int server) {
        directory.setAside(server).ifPresent(aside -> {
            setAside.add(server);
            LOG.warn("ROWAN-2004 unusable area file set aside: server={} file={}", server, aside);
        });
        return Area.create(directory.areaSettings(server, settings.shape().durability()), random, machine);
    }

    @Override
    public void putBack(int server) {
        if (setAside.remove(server)) {
            putBackAside(server);
        }
    }

    @Override
    public boolean putBackUnfinished(int server) {
        return putBackAside(server);
    }

    private boolean putBackAside(int server) {
        final Optional<Path> back = directory.putBack(server);
        back.ifPresent(file -> LOG.warn("ROWAN-2005 area file restored: server={} file={}", server, file));
        return back.isPresent();
    }

    @Override
    public String name() {
        return directory.path().toString();
    }
}
