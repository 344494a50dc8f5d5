package org.rowankv.jcache.embedded;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.jcache.codec.ClassRules;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.jcache.codec.LoaderReference;
import org.rowankv.jcache.configuration.CacheDescriptor;
import org.rowankv.jcache.store.Generations;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.embedded.offline.CacheReplacement;

/**
 * {@code rowan recode}: rewrites a cache with serialized keys of a closed store as one with structural keys. Exit codes: 0; 2 if it
 * cannot be done, and then nothing is changed.
 *
 * <p>Interrupted at any moment it leaves the old cache or the new one. It allows every class but those known from
 * attacks: the directory is the user's own.
 */
public final class RecodeCommand {
    private static final String HELP = """
            Usage: rowan recode DIR CACHE [--classpath PATH] [--drop-unclear]
            Rewrites the keys of a cache of a closed store: from Java serialization to the structural format, in which equal keys
            have equal bytes. Values and expiries stay. Interrupted, it leaves the old cache or the new one.
              DIR               directory of the store (dir=)
              CACHE             name of the cache
              --classpath PATH  jars and directories with the classes of the keys, as java takes them
              --drop-unclear    leave equal keys out of which the newer is not known
            Of entries with equal keys the newer version stays. Versions of entries that were written since the same start of the
            store are comparable within a shard only: where such entries have different values, it is unclear which is
            newer. Then the larger version stays, or with --drop-unclear none of them.
            The store needs room for a second copy of the cache.
            The last line is "recode: cache=NAME keys=N recoded=N merged=N unclear=N". Exit codes: 0; 2 if it could not be done,
            and then nothing was changed.""";

    private static final int WELL = 0;
    private static final int REFUSED = 2;
    private static final int PROGRESS_EVERY = 100_000;

    private final PrintStream out;
    private final int progressEvery;
    private final List<String> names = new ArrayList<>();
    private String classpath = "";
    private boolean dropsUnclear;

    private RecodeCommand(PrintStream out, int progressEvery) {
        this.out = out;
        this.progressEvery = progressEvery;
    }

    public static void main(String[] args) {
        // The store's log is for services; SLF4J would complain that it goes nowhere.
        System.setProperty("slf4j.internal.verbosity", "ERROR");
        System.exit(run(System.out, System.err, PROGRESS_EVERY, args));
    }

    /**
     * Runs the command; returns its exit code.
     *
     * @param progressEvery so many keys a line of progress is printed
     */
    static int run(PrintStream out, PrintStream err, int progressEvery, String... args) {
        final RecodeCommand command = new RecodeCommand(out, progressEvery);
        if (List.of(args).contains("--help") || List.of(args).contains("-h")) {
            out.println(HELP);
            return WELL;
        }
        final String complaint = command.parse(args);
        if (complaint != null) {
            err.println("recode: " + complaint);
            err.println(HELP);
            return REFUSED;
        }
        try {
            command.recode();
            return WELL;
        } catch (StoreFullException e) {
            err.println("recode: the store has no room for a second copy of the cache, and nothing was changed: remove"
                    + " entries, or let the application copy the cache to a larger store");
        } catch (StoreOpenException | CacheException | RowanException | IOException e) {
            err.println("recode: " + e.getMessage());
        }
        return REFUSED;
    }

    /** Returns what is wrong, or null. */
    private @Nullable String parse(String... args) {
        for (int i = 0; i < args.length; i++) {
            if ("--classpath".equals(args[i])) {
                if (++i == args.length) {
                    return "--classpath needs a path";
                }
                classpath = args[i];
            } else if ("--drop-unclear".equals(args[i])) {
                dropsUnclear = true;
            } else if (args[i].startsWith("--")) {
                return "unknown option " + args[i];
            } else {
                names.add(args[i]);
            }
        }
        return names.size() == 2 ? null : "give the directory of a store and the name of a cache";
    }

    private static URL[] urls(String classpath) throws MalformedURLException {
        final List<URL> urls = new ArrayList<>();
        for (String part : classpath.split(File.pathSeparator, -1)) {
            if (!part.isEmpty()) {
                if (!Files.exists(Path.of(part))) {
                    throw new CacheException("--classpath names " + part + ", which does not exist");
                }
                urls.add(Path.of(part).toUri().toURL());
            }
        }
        return urls.toArray(new URL[0]);
    }

    private void recode() throws IOException {
        final String name = names.get(1);
        try (URLClassLoader classes = new URLClassLoader(urls(classpath), RecodeCommand.class.getClassLoader());
                CacheReplacement cache = CacheReplacement.open(Path.of(names.get(0)), name)) {
            if (cache.descriptor().length == 0) {
                throw new CacheException("the cache " + name + " is the store's own, and has no such keys");
            }
            final CacheDescriptor present = CacheDescriptor.of(cache.descriptor());
            if (present.keys() == KeyFormat.STRUCTURAL) {
                say("the keys of the cache " + name + " are structural already");
                say("cache=" + name + " keys=0 recoded=0 merged=0 unclear=0");
                return;
            }
            recode(name, cache, present, new LoaderReference(classes));
        }
    }

    private void recode(String name, CacheReplacement cache, CacheDescriptor present, LoaderReference loader) {
        try (RowanClient client = new RowanClient(cache.session(), SystemClock.INSTANCE, SecureSeed.source())) {
            final KeyRecoding recoding = new KeyRecoding(
                    cache,
                    client,
                    new Codec(loader, ClassRules.open(), KeyFormat.STRUCTURAL, true),
                    keyType(present.keyType(), loader),
                    SystemClock.INSTANCE,
                    dropsUnclear,
                    progressEvery,
                    this::say);
            recoding.copy();
            Generations.copy(client, cache.oldId(), cache.newId());
            say("copied all " + recoding.keys() + " objects; giving them to the cache");
            cache.replace(present.withKeys(KeyFormat.STRUCTURAL).toBytes());
            if (recoding.merged() > 0) {
                say(recoding.merged() + " entries had a key that equals another's, and gave way to a newer version");
            }
            if (recoding.unclear() > 0) {
                say(
                        "of " + recoding.unclear() + " equal keys with different values the newer is not known, and "
                                + (dropsUnclear
                                        ? "their entries were left out"
                                        : "one entry was kept: have the application load or remove them, if old values do harm"));
            }
            say("cache=" + name + " keys=" + recoding.keys() + " recoded=" + recoding.recoded() + " merged="
                    + recoding.merged() + " unclear=" + recoding.unclear());
        }
    }

    private static Class<?> keyType(String name, LoaderReference loader) {
        try {
            return Class.forName(name, false, loader.get());
        } catch (ClassNotFoundException | LinkageError e) {
            throw new CacheException(
                    "the cache's key type " + name
                            + " is missing, and nothing was changed: name its jar with --classpath",
                    e);
        }
    }

    private void say(String line) {
        out.println("recode: " + line);
    }
}
