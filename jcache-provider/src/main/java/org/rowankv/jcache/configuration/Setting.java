package org.rowankv.jcache.configuration;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.SettingForm;

/**
 * Every setting there is: the one table that parsing, messages and documentation are made from. A setting is written as
 * a parameter of the manager's URI, or with the prefix {@value #PREFIX} as a property of the manager or of the system.
 */
public enum Setting {
    NAME(
            SettingForm.TEXT,
            "",
            Scope.STORE,
            "Tells stores without `dir` apart: managers with the same settings and the same name share one store."),
    SERVERS(SettingForm.COUNT, "1", Scope.STORE, "Servers that run inside this JVM."),
    REPLICAS(
            SettingForm.COUNT,
            "1",
            Scope.STORE,
            "Servers that hold each object; at most `servers`. A write returns once all of them have it."),
    DIR(
            SettingForm.PATH,
            "",
            Scope.STORE,
            "Directory of the servers' files, made if missing. Without it the objects live in memory and end with the last"
                    + " close of a manager of this store; with it they survive what `durability` says."),
    DURABILITY(
            SettingForm.CHOICE,
            "",
            Scope.STORE,
            "What an acknowledged write survives. `none`: nothing beyond the last close; only without `dir`, and the default"
                    + " there. `process`: any end of the process, but no power cut; the default with `dir`. `power`: a power"
                    + " cut too, since every write waits until it is forced to the device of each of its replicas; needs"
                    + " `dir`. May differ from one opening to the next.",
            "none",
            "process",
            "power"),
    CAPACITY(
            SettingForm.BYTES,
            "",
            Scope.STORE,
            "Bytes of each server for objects, replicas and what cleaning needs; at least 2 × (workers + 2 × posted + 7)"
                    + " segments, where posted is 2 with more than one replica and else 0. A full store refuses writes and"
                    + " goes on serving reads. Without it 256m, or without `dir` half of the heap shared by the servers if"
                    + " that is less."),
    SHARDS(
            SettingForm.COUNT,
            "",
            Scope.STORE,
            "Parts that the key space is divided into, spread over the servers. Without it 16 per server."),
    SEGMENT(
            SettingForm.BYTES,
            "",
            Scope.STORE,
            "Size of a segment of the logs, a power of two from 64k to 4m; no entry can be larger. Without it chosen by the"
                    + " capacity."),
    WORKERS(
            SettingForm.COUNT,
            "",
            Scope.STORE,
            "Writes that can be under way at once on each server. Without it two per processor, at least 4."),
    MAX_MESSAGE(
            SettingForm.BYTES,
            "16k",
            Scope.STORE,
            "Longest message between servers; a larger entry travels in blocks. A multiple of 64."),
    VERIFY_READS(
            SettingForm.FLAG,
            "false",
            Scope.STORE,
            "Checks the checksums of each object that is read; without it they are checked when an entry comes, when it is"
                    + " moved, and by the scrubber. A damaged object is never returned once it was found: the read"
                    + " fails, and says which key it is."),
    SCRUB_RATE(
            SettingForm.NUMBER,
            "4",
            Scope.STORE,
            "MiB per second, at most, that each server reads again of what it holds, to find what was damaged since; 0 reads"
                    + " nothing again. What is damaged is taken from another replica if there is one."),
    CHECKPOINT_INTERVAL(
            SettingForm.SECONDS,
            "10",
            Scope.STORE,
            "Seconds between two checkpoints of the indexes of a store with a `dir`, from which the next start begins instead"
                    + " of reading the whole log; one more is taken at the close. 0: none are taken, and those that are there"
                    + " are removed."),
    ACCEPT_UNCLEAN(
            SettingForm.FLAG,
            "false",
            Scope.STORE,
            "Opens a `dir` that the operating system may not have written completely, as after a power cut, or in which"
                    + " damage was found and no other replica is complete: what is whole is kept, the rest is lost."),
    ACCEPT_COPIED(
            SettingForm.FLAG,
            "false",
            Scope.STORE,
            "Opens a `dir` that is a copy of the one the store was created in."),
    DEADLINE(
            SettingForm.COUNT,
            "30",
            Scope.STORE,
            "Seconds that an operation waits for progress inside this JVM, at most; then it fails, and says whether its outcome"
                    + " is unknown. Each step of the close waits no longer either."),
    ALLOWED_CLASSES(
            SettingForm.TEXT,
            "",
            Scope.MANAGER,
            "Classes that Java serialization may write and read besides value and collection classes of the JDK, enums, and"
                    + " the types given to `setTypes`: class names, `package.*` or `package.**`, separated by `;`."),
    STORE_BY_REFERENCE(
            SettingForm.CHOICE,
            "refuse",
            Scope.MANAGER,
            "What becomes of `setStoreByValue(false)`: `refuse` throws UnsupportedOperationException, `copy` stores by value"
                    + " all the same and says so once.",
            "refuse",
            "copy"),
    TEMPLATES(
            SettingForm.PATH,
            "",
            Scope.MANAGER,
            "A properties file (UTF-8) of cache templates, see below; a template's entry given elsewhere goes before the file's."),
    BACKGROUND_THREADS(
            SettingForm.COUNT,
            "2",
            Scope.MANAGER,
            "Threads, at most, for `loadAll`; and as many, at most, for asynchronous listeners. None when idle."),
    LISTENER_BACKLOG(
            SettingForm.COUNT,
            "65536",
            Scope.MANAGER,
            "Events that an asynchronous listener may be behind, and fewer if their values take more than a sixteenth of the"
                    + " heap; further ones are lost to it, counted and logged."),
    OPERATION_TIMEOUT(
            SettingForm.COUNT,
            "10",
            Scope.MANAGER,
            "Seconds that a remote operation is retried before its outcome is unknown; with unreachable servers it fails after half"
                    + " of that. Managers with the same servers and the same timeout share connections.");

    /** What a name has before it outside of a URI. */
    public static final String PREFIX = "rowan.";

    /** What a setting belongs to. */
    public enum Scope {
        /** The store, which all managers with the same store settings share. */
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

    /** The default as it would be written; empty when there is none. */
    public String defaultText() {
        return defaultText;
    }

    public Scope scope() {
        return scope;
    }

    public String meaning() {
        return meaning;
    }

    /** The setting of that URI parameter, or null. */
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

    /** The value in its canonical form; throws when it is none. */
    String normalize(String text) {
        try {
            return form.canonical(text, choices);
        } catch (IllegalArgumentException e) {
            throw new CacheException("the setting " + parameter() + " = \"" + text + "\" " + e.getMessage(), e);
        }
    }
}
