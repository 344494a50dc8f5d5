package org.rowankv.daemon.options;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Defaults for options that are not on the command line: the variable {@code ROWAN_} and the name in the environment,
 * else a line in the options file. An option {@code --scrub-rate} is {@code ROWAN_SCRUB_RATE} and {@code scrub-rate=…}.
 */
public final class OptionDefaults implements IDefaultValueProvider {
    public static final String FILE_OPTION = "--options";
    private static final String PREFIX = "ROWAN_";
    /** Holds the cluster's secret itself. Not an option: a command line is visible to every user of the machine. */
    public static final String SECRET_VARIABLE = PREFIX + "CLUSTER_SECRET";

    private final Map<String, String> environment;
    private final Properties file = new Properties();

    /**
     * @param arguments of the command line, which may name the options file
     * @throws IllegalArgumentException if the options file cannot be read
     */
    public OptionDefaults(Map<String, String> environment, String... arguments) {
        this.environment = environment;
        @Nullable String name = environment.get(variable(FILE_OPTION.substring(2)));
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i].equals(FILE_OPTION) && i + 1 < arguments.length) {
                name = arguments[i + 1];
            } else if (arguments[i].startsWith(FILE_OPTION + "=")) {
                name = arguments[i].substring(FILE_OPTION.length() + 1);
            }
        }
        if (name != null) {
            try (Reader reader = Files.newBufferedReader(Path.of(name), StandardCharsets.UTF_8)) {
                file.load(reader);
            } catch (IOException e) {
                throw new IllegalArgumentException("the options file " + name + " cannot be read: " + e);
            }
        }
    }

    private static String variable(String name) {
        return PREFIX + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static String nameOf(OptionSpec option) {
        return option.longestName().substring(2);
    }

    /** The cluster's secret in the environment, or null. */
    @Nullable
    public String clusterSecret() {
        return environment.get(SECRET_VARIABLE);
    }

    /** Lines of the options file that are not options of the command. */
    public Set<String> unknown(CommandSpec command) {
        final Set<String> names = new TreeSet<>(file.stringPropertyNames());
        command.options().forEach(option -> names.remove(nameOf(option)));
        return names;
    }

    @Override
    public @Nullable String defaultValue(ArgSpec argument) {
        if (!(argument instanceof OptionSpec option) || option.usageHelp() || option.versionHelp()) {
            return null;
        }
        final String name = nameOf(option);
        final String variable = environment.get(variable(name));
        return variable != null ? variable : file.getProperty(name);
    }
}
