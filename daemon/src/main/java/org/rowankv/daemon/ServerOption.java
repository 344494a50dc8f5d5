package org.rowankv.daemon;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.options.OptionDefaults;
import org.rowankv.runtime.SettingForm;
import org.rowankv.server.cluster.ClusterSettings;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The options of {@code rowan server}: the table for parsing, messages, help and documentation. An option
 * {@code --some-name} may also be set as {@code ROWAN_SOME_NAME} in the environment, or as {@code some-name} in the
 * options file.
 */
public enum ServerOption {
    OPTIONS(SettingForm.PATH, "FILE", "", "file with one option per line"),
    NAME(SettingForm.TEXT, "NAME", null, "name of this server, unique in its cluster: a-z 0-9 . _ -"),
    DATA(SettingForm.PATH, "DIR", null, "directory of this server's data"),
    ZOOKEEPER(SettingForm.TEXT, "HOST:PORT,…", null, "ZooKeeper servers of the configuration store"),
    CLUSTER(SettingForm.TEXT, "NAME", "rowan", "name of the cluster"),
    LISTEN(SettingForm.TEXT, "HOST:PORT", "127.0.0.1:7171", "listen address for clients"),
    ADVERTISE(
            SettingForm.TEXT,
            "HOST:PORT",
            "",
            "address at which clients and servers reach this machine, if not --listen"),
    FABRIC(
            SettingForm.CHOICE,
            "tcp or rdma",
            "tcp",
            "what carries entries between servers, the same on each; rdma needs DiSNI"),
    PEER_LISTEN(SettingForm.TEXT, "HOST:PORT", "", "listen address for other servers (the port after --listen)"),
    RDMA_LISTEN(
            SettingForm.TEXT,
            "HOST:PORT",
            "",
            "in place of --peer-listen with --fabric rdma: the address of an RDMA interface"),
    RDMA_MODE(
            SettingForm.CHOICE,
            "landed or leased",
            "landed",
            "with --fabric rdma, the same on each server: landed, where a thread of the receiver places entries, or leased,"
                    + " where senders write them into segments of the receiver"),
    PEER_ADVERTISE(
            SettingForm.TEXT,
            "HOST:PORT",
            "",
            "address at which other servers reach this one (host of --advertise, port of --peer-listen)"),
    ADMIN_LISTEN(
            SettingForm.TEXT,
            "HOST:PORT",
            "",
            "listen address for \"rowan health\" and \"rowan status\" (127.0.0.1, two ports after --listen)"),
    CLUSTER_SECRET_FILE(
            SettingForm.PATH,
            "FILE",
            "",
            "file with the secret shared by all servers of the cluster, at least 16 bytes; alternatively set"
                    + " ROWAN_CLUSTER_SECRET in the environment to the secret itself"),
    INSECURE(
            SettingForm.FLAG,
            "",
            "false",
            "accept servers from other machines without a secret: anything that reaches the peer port can act as a server"),
    ZOOKEEPER_AUTH_FILE(
            SettingForm.PATH,
            "FILE",
            "",
            "file with scheme:credential for ZooKeeper, such as digest:user:password; only its holder can access the nodes"),
    EXPECT(SettingForm.COUNT, "", null, "number of servers of the cluster"),
    REPLICAS(SettingForm.NUMBER, "", "", "copies of every object (2, or 1 with one server)"),
    SHARDS(SettingForm.NUMBER, "", "", "number of shards (48 per server)"),
    ZONE(SettingForm.TEXT, "ZONE", "", "zone of this machine; replicas are placed in different zones"),
    CAPACITY(SettingForm.BYTES, "", "1g", "bytes of the log"),
    SEGMENT(SettingForm.BYTES, "", "1m", "bytes of a segment"),
    MAX_MESSAGE(SettingForm.BYTES, "", "16k", "longest message in bytes"),
    DURABILITY(
            SettingForm.CHOICE,
            "process or power",
            "process",
            "what an acknowledged write survives: any end of the process, or also a power cut"),
    WORKERS(
            SettingForm.NUMBER,
            "1..1024",
            "",
            "event loops for clients, each with its own log (1, plus 1 for every 4 processors from 8 on)"),
    CLIENT_MEMORY(
            SettingForm.BYTES,
            "",
            "",
            "memory limit of incomplete frames, unsent answers and requests of all clients (an eighth of the heap)"),
    THREADING(
            SettingForm.CHOICE,
            "shared, dedicated or auto",
            "auto",
            "shared: one thread for all agents; dedicated: commit has its own; auto: dedicated from 8 processors"),
    VERIFY_READS(SettingForm.FLAG, "", "false", "verify checksums on every read"),
    SCRUB_RATE(SettingForm.NUMBER, "", "4", "scrub rate in MiB per second"),
    CHECKPOINT_INTERVAL(
            SettingForm.NUMBER,
            "",
            "10",
            "seconds between checkpoints, from which a start goes on instead of reading the whole log; 0: none"),
    SESSION_LEASE(
            SettingForm.NUMBER,
            "0 (for ever) or at least 20 seconds",
            "600",
            "seconds without a request after which a client's session ends; 0: never"),
    LEASE(
            SettingForm.NUMBER,
            "10..60000",
            "" + ClusterSettings.DEFAULT_LEASE_MS,
            "ms that a server may answer without hearing the configuration manager, and after which a silent server is"
                    + " excluded; the same on every server"),
    START_WAIT(
            SettingForm.NUMBER,
            "",
            "" + ClusterSettings.DEFAULT_START_WAIT_MS,
            "ms that a start waits for servers without which every object is there too"),
    MIN_REPLICAS(
            SettingForm.NUMBER,
            "1..the number of replicas",
            "1",
            "complete replicas below which a shard takes no writes until it has them again; reads go on. The same on every"
                    + " server"),
    DRAIN(
            SettingForm.NUMBER,
            "",
            "" + ClusterSettings.DEFAULT_DRAIN_MS,
            "ms that a stop waits until others have its roles, and again for pending operations"),
    LOG_FORMAT(
            SettingForm.CHOICE,
            "line or json",
            "line",
            "line: time, level and text of each event; json: one JSON object per event"),
    VERBOSE(SettingForm.FLAG, "", "false", "also log debug events, and the thread and class of each event"),
    ACCEPT_UNCLEAN(SettingForm.FLAG, "", "false", "use data left incomplete by a power cut or damage"),
    ACCEPT_COPIED(SettingForm.FLAG, "", "false", "use a directory that is a copy of this server's original one");

    private final SettingForm form;
    private final String written;
    private final @Nullable String defaultText;
    private final String meaning;

    /**
     * @param written form of the value, if the form's description is not enough: a word for the help, a range, or the
     * choices
     * @param defaultText as it would be written; null if the option is required, empty if the default is not one value
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

    /** Null if the option is required; empty if the default is not one value. */
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
        final boolean hasNoDefault = defaultText == null || defaultText.isEmpty();
        return option.type(String.class)
                .paramLabel(isText() ? written : form.name())
                .defaultValue(hasNoDefault ? null : defaultText)
                .description(hasNoDefault ? meaning : meaning + " (${DEFAULT-VALUE})")
                .build();
    }

    /** Whether the command line, the environment or the options file has a value: a default is none. */
    boolean isChosen(CommandSpec command) {
        final OptionSpec option = command.findOption(flag());
        return command.commandLine().getParseResult().hasMatchedOption(option)
                || command.defaultValueProvider() instanceof OptionDefaults others
                        && others.defaultValue(option) != null;
    }

    /** Whether there is a value, even an empty one. A default is one too. */
    boolean isGiven(CommandSpec command) {
        return command.findOption(flag()).getValue() != null;
    }

    /** Whether a FLAG is set. */
    boolean isSet(CommandSpec command) {
        return Boolean.TRUE.equals(command.findOption(flag()).getValue());
    }

    /**
     * The value in canonical form, or the default; empty if there is neither.
     *
     * @throws IllegalArgumentException if the value is invalid; the message states what is valid
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

    /** The value of a number option; 0 if there is none. */
    long number(CommandSpec command) {
        final String text = text(command);
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }

    /** For a number that is out of range. */
    IllegalArgumentException refusal(Object given) {
        return new IllegalArgumentException(flag() + " must be " + written + ", not " + given);
    }

    /** Adds these options to a command. */
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
