package org.rowankv.daemon;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.SettingForm;
import org.rowankv.server.cluster.ClusterSettings;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Every option of {@code rowan server}: the one table that parsing, messages, help and documentation are made from. An option
 * {@code --some-name} may also be {@code ROWAN_SOME_NAME} in the environment, or {@code some-name} in the options file.
 */
public enum ServerOption {
    OPTIONS(SettingForm.PATH, "FILE", "", "file with options, a line each"),
    NAME(SettingForm.TEXT, "NAME", null, "name of this server, unique in its cluster: a-z 0-9 . _ -"),
    DATA(SettingForm.PATH, "DIR", null, "directory of this server's data"),
    ZOOKEEPER(SettingForm.TEXT, "HOST:PORT,…", null, "servers of the ZooKeeper that holds the configuration"),
    CLUSTER(SettingForm.TEXT, "NAME", "rowan", "name of the cluster"),
    LISTEN(SettingForm.TEXT, "HOST:PORT", "127.0.0.1:7171", "where clients come in"),
    ADVERTISE(SettingForm.TEXT, "HOST:PORT", "", "where clients and servers reach this machine, if not at --listen"),
    PEER_LISTEN(SettingForm.TEXT, "HOST:PORT", "", "where the other servers come in (the port after that of --listen)"),
    PEER_ADVERTISE(
            SettingForm.TEXT,
            "HOST:PORT",
            "",
            "where the other servers reach this one (the host of --advertise, the port of --peer-listen)"),
    ADMIN_LISTEN(
            SettingForm.TEXT,
            "HOST:PORT",
            "",
            "where \"rowan health\" and \"rowan status\" ask (127.0.0.1, two ports after --listen)"),
    CLUSTER_SECRET_FILE(
            SettingForm.PATH,
            "FILE",
            "",
            "file with the secret that all servers of the cluster share, at least 16 bytes; or the secret itself in the"
                    + " environment, as ROWAN_CLUSTER_SECRET"),
    INSECURE(
            SettingForm.FLAG,
            "",
            "false",
            "listen for servers beyond this machine without a secret: anything that reaches that port can be a server"),
    ZOOKEEPER_AUTH_FILE(
            SettingForm.PATH,
            "FILE",
            "",
            "file with scheme:credential for ZooKeeper, such as digest:user:password; nodes are made for it alone"),
    EXPECT(SettingForm.COUNT, "", null, "servers that the cluster has"),
    REPLICAS(SettingForm.NUMBER, "", "", "copies of every object (2, or 1 of one server)"),
    SHARDS(SettingForm.NUMBER, "", "", "into which the keys are divided (48 per server)"),
    ZONE(SettingForm.TEXT, "ZONE", "", "of this machine; replicas go to different zones"),
    CAPACITY(SettingForm.BYTES, "", "1g", "bytes of log"),
    SEGMENT(SettingForm.BYTES, "", "1m", "bytes of a segment"),
    MAX_MESSAGE(SettingForm.BYTES, "", "16k", "longest message"),
    DURABILITY(
            SettingForm.CHOICE,
            "process or power",
            "process",
            "what an acknowledged write survives: any end of the process, or a power cut too"),
    WORKERS(
            SettingForm.NUMBER,
            "1..1024",
            "",
            "event loops that serve clients, each with a log of its own (1, and 1 more for every 4 processors from 8 on)"),
    CLIENT_MEMORY(
            SettingForm.BYTES,
            "",
            "",
            "for unfinished frames, unsent answers, and keys and values of requests of all clients (an eighth of the heap)"),
    THREADING(
            SettingForm.CHOICE,
            "shared, dedicated or auto",
            "auto",
            "shared: one thread for all agents; dedicated: commit has its own; auto: dedicated from 8 processors"),
    VERIFY_READS(SettingForm.FLAG, "", "false", "check the checksums on every read"),
    SCRUB_RATE(SettingForm.NUMBER, "", "4", "MiB per second read again"),
    SESSION_LEASE(
            SettingForm.NUMBER,
            "0 (for ever) or at least 20 seconds",
            "600",
            "seconds after which a client that is not heard of counts as gone; 0: never"),
    DRAIN(SettingForm.NUMBER, "", "" + ClusterSettings.DEFAULT_DRAIN_MS, "ms that a stop waits"),
    LOG_FORMAT(
            SettingForm.CHOICE,
            "line or json",
            "line",
            "line: each event as time, level and text; json: as one JSON object"),
    VERBOSE(SettingForm.FLAG, "", "false", "log debug events too, and the thread and class of each event"),
    ACCEPT_UNCLEAN(SettingForm.FLAG, "", "false", "use data that a power cut or damage has left incomplete"),
    ACCEPT_COPIED(SettingForm.FLAG, "", "false", "use a directory that is a copy of the one this server had");

    private final SettingForm form;
    private final String written;
    private final @Nullable String defaultText;
    private final String meaning;

    /**
     * @param written how, if the form does not say it all: a word for the help, a range, or the choices
     * @param defaultText as it would be written; null if one must be given, empty if it is not one value
     */
    ServerOption(SettingForm form, String written, @Nullable String defaultText, String meaning) {
        this.form = form;
        this.written = written.isEmpty() ? form.description() : written;
        this.defaultText = defaultText;
        this.meaning = meaning;
    }

    /** The name on the command line. */
    public String flag() {
        return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String written() {
        return written;
    }

    /** Null if one must be given; empty if it is not one value. */
    public @Nullable String defaultText() {
        return defaultText;
    }

    public String meaning() {
        return meaning;
    }

    private boolean isText() {
        return form == SettingForm.TEXT || form == SettingForm.PATH;
    }

    private OptionSpec option() {
        final OptionSpec.Builder option = OptionSpec.builder(flag()).required(defaultText == null);
        if (form == SettingForm.FLAG) {
            return option.type(boolean.class).description(meaning).build();
        }
        final boolean says = defaultText == null || defaultText.isEmpty();
        return option.type(String.class)
                .paramLabel(isText() ? written : form.name())
                .defaultValue(says ? null : defaultText)
                .description(says ? meaning : meaning + " (${DEFAULT-VALUE})")
                .build();
    }

    /** Whether there is a value, if an empty one. */
    boolean isGiven(CommandSpec command) {
        return command.findOption(flag()).getValue() != null;
    }

    /** Whether a FLAG was given. */
    boolean isSet(CommandSpec command) {
        return Boolean.TRUE.equals(command.findOption(flag()).getValue());
    }

    /**
     * What was given in its canonical form, or the default; empty if there is neither.
     *
     * @throws IllegalArgumentException if it cannot be; says what can
     */
    String text(CommandSpec command) {
        final String text = command.findOption(flag()).getValue();
        if (text == null || isText()) {
            return text == null ? "" : text;
        }
        try {
            return form.canonical(text.toLowerCase(Locale.ROOT), List.of(written.split(", | or ")));
        } catch (IllegalArgumentException e) {
            throw refusal(text);
        }
    }

    /** The same of what is a number; 0 if there is none. */
    long number(CommandSpec command) {
        final String text = text(command);
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }

    /** For a number that is out of its range. */
    IllegalArgumentException refusal(Object given) {
        return new IllegalArgumentException(flag() + " must be " + written + ", not " + given);
    }

    /** Gives a command these options. */
    static final class All implements IModelTransformer {
        @Override
        public CommandSpec transform(CommandSpec command) {
            for (ServerOption option : values()) {
                command.addOption(option.option());
            }
            return command;
        }
    }
}
