package org.rowankv.jcache.configuration;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.SettingForm;

/**
 * Table of all settings, the source of parsing, messages and documentation. A setting is a parameter of the manager's
 * URI, or with the prefix {@value #PREFIX} a property of the manager or of the system.
 */
public enum Setting {
    NAME(
            SettingForm.TEXT,
            "",
            Scope.STORE,
            "Separates stores without `dir`: managers with equal settings and the same name share one " + "store."),
    SERVERS(SettingForm.COUNT, "1", Scope.STORE, "Servers in this JVM."),
    REPLICAS(
            SettingForm.COUNT,
            "1",
            Scope.STORE,
            "Copies of each object, on different servers; at most `servers`. A write returns once all "
                    + "copies exist."),
    DIR(
            SettingForm.PATH,
            "",
            Scope.STORE,
            "Directory of the servers' files, created if missing. Without it, objects live in memory until "
                    + "the last manager of the store closes; with it, they survive as `durability` states. A directory "
                    + "that holds a store gives `servers`, `replicas`, `capacity`, `shards` and `segment`, and refuses "
                    + "others."),
    DURABILITY(
            SettingForm.CHOICE,
            "",
            Scope.STORE,
            "What an acknowledged write survives. `none`: nothing beyond the last close; only without "
                    + "`dir`, and the default there. `process`: any end of the process, but no power cut; the "
                    + "default with `dir`. `power`: power cuts too, because every write waits until each replica's "
                    + "device has it; requires `dir`. May change between openings.",
            "none",
            "process",
            "power"),
    CAPACITY(
            SettingForm.BYTES,
            "",
            Scope.STORE,
            "Bytes per server for objects, replicas and cleaning; at least 2 × (workers + 2 × posted + 7) "
                    + "segments, where posted is 2 with several replicas, else 0. A full store refuses writes and "
                    + "serves reads. Default: 256m; without `dir` at most half of the heap, divided by the servers."),
    SHARDS(
            SettingForm.COUNT,
            "",
            Scope.STORE,
            "Partitions of the key space, spread over the servers. Default: 16 per server."),
    SEGMENT(
            SettingForm.BYTES,
            "",
            Scope.STORE,
            "Size of a log segment, a power of two from 64k to 4m, and the limit of an entry. Default: "
                    + "chosen by capacity."),
    WORKERS(
            SettingForm.COUNT,
            "",
            Scope.STORE,
            "Concurrent writes per server. Default: two per processor, at least 4."),
    MAX_MESSAGE(
            SettingForm.BYTES,
            "16k",
            Scope.STORE,
            "Longest message between servers, a multiple of 64; a larger entry is sent in blocks."),
    VERIFY_READS(
            SettingForm.FLAG,
            "false",
            Scope.STORE,
            "Verifies checksums on every read; otherwise only on arrival, on moves, and by the scrubber. "
                    + "Reads of detected damage wait for another replica, or fail and name the key."),
    SCRUB_RATE(
            SettingForm.NUMBER,
            "4",
            Scope.STORE,
            "Limit in MiB per second at which each server rereads its data to detect damage; 0 disables "
                    + "it. Damaged data is restored from another replica, if there is one."),
    CHECKPOINT_INTERVAL(
            SettingForm.SECONDS,
            "10",
            Scope.STORE,
            "Seconds between index checkpoints of a store with `dir`, from which a start continues instead "
                    + "of reading the whole log; the close writes one more. 0 disables checkpoints and removes "
                    + "existing ones."),
    ACCEPT_UNCLEAN(
            SettingForm.FLAG,
            "false",
            Scope.STORE,
            "Opens a `dir` that may be incomplete after a power cut, or that is damaged without another "
                    + "complete replica: intact data is kept, the rest is lost."),
    ACCEPT_COPIED(SettingForm.FLAG, "false", Scope.STORE, "Opens a `dir` that is a copy of the original directory."),
    DEADLINE(
            SettingForm.COUNT,
            "30",
            Scope.STORE,
            "Longest time in seconds that an operation in this JVM waits for progress; then it fails and "
                    + "reports whether its outcome is unknown. It also bounds each step of the close."),
    ALLOWED_CLASSES(
            SettingForm.TEXT,
            "",
            Scope.MANAGER,
            "Classes that Java serialization may write and read: class names, `package.*`, `package.**`, `**` for "
                    + "every class not known from attacks, and the presets `@spring`, `@hibernate`, `@jdk`, separated "
                    + "by `;`. Always allowed are JDK values and collections, enums, keys and entries that Spring and "
                    + "Hibernate make, and the types given to `setTypes` with those of their components. Default: nothing "
                    + "more with `rowan://`, `**` without. The JVM's `jdk.serialFilter` applies too."),
    STORE_BY_REFERENCE(
            SettingForm.CHOICE,
            "refuse",
            Scope.MANAGER,
            "Effect of `setStoreByValue(false)`: `refuse` throws UnsupportedOperationException; `copy` "
                    + "stores by value and logs one warning.",
            "refuse",
            "copy"),
    TEMPLATES(
            SettingForm.PATH,
            "",
            Scope.MANAGER,
            "A properties file (UTF-8) of cache templates, see below; entries given elsewhere override it."),
    BACKGROUND_THREADS(
            SettingForm.COUNT,
            "2",
            Scope.MANAGER,
            "Limit of threads for `loadAll`, and the same limit for asynchronous listeners. None while " + "idle."),
    LISTENER_BACKLOG(
            SettingForm.COUNT,
            "65536",
            Scope.MANAGER,
            "Limit of events queued for an asynchronous listener, lower if their values exceed a sixteenth "
                    + "of the heap; further events are lost, counted and logged."),
    OPERATION_TIMEOUT(
            SettingForm.COUNT,
            "10",
            Scope.MANAGER,
            "Seconds that a remote operation waits for a server that accepts it, and is retried, before it fails or "
                    + "its outcome is unknown. Managers with the same servers and timeout share connections."),
    MAX_VALUE(
            SettingForm.BYTES,
            "256m",
            Scope.MANAGER,
            "Longest encoded value that is stored, at most 256m. A value that does not fit into a segment is stored in "
                    + "parts, which count as bytes of its cache and need room for the old and the new value while it is "
                    + "replaced."),
    START(
            SettingForm.CHOICE,
            "eager",
            Scope.MANAGER,
            "Effect of an unreachable cluster on `getCacheManager`: `eager` fails; `lazy` opens the manager and "
                    + "retries every second. Until the cluster is reached, reads find nothing, and writes, removals, "
                    + "processors and reads of read-through caches throw a CacheException.",
            "eager",
            "lazy");

    /** Prefix of a setting's name outside of URIs. */
    public static final String PREFIX = "rowan.";

    /** Owner of a setting. */
    public enum Scope {
        /** The store, shared by all managers with the same store settings. */
        STORE,
        /** One cache manager. */
        MANAGER
    }

    private final SettingForm form;
    private final String defaultText;
    private final Scope scope;
    private final String meaning;
    private final List<String> choices;

    Setting(SettingForm form, String defaultText, Scope scope, String meaning, String... choices) {
        this.form = form;
        this.defaultText = defaultText;
        this.scope = scope;
        this.meaning = meaning;
        this.choices = List.of(choices);
    }

    /** The name in a URI. */
    public String parameter() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The name as a property. */
    public String property() {
        return PREFIX + parameter();
    }

    public SettingForm form() {
        return form;
    }

    /** The default in written form; empty if there is none. */
    public String defaultText() {
        return defaultText;
    }

    public Scope scope() {
        return scope;
    }

    public String meaning() {
        return meaning;
    }

    /** The setting of a URI parameter, or null. */
    static @Nullable Setting ofParameter(String parameter) {
        for (Setting setting : values()) {
            if (setting.parameter().equals(parameter)) {
                return setting;
            }
        }
        return null;
    }

    static String knownParameters() {
        return Arrays.stream(values()).map(Setting::parameter).collect(Collectors.joining(", "));
    }

    /** The value in canonical form; throws if it is invalid. */
    String normalize(String text) {
        try {
            return form.canonical(text, choices);
        } catch (IllegalArgumentException e) {
            throw new CacheException("the setting " + parameter() + " = \"" + text + "\" " + e.getMessage(), e);
        }
    }
}
