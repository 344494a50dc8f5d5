package org.rowankv.jcache.configuration;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;

/**
 * The settings in force for one cache manager: of its URI, else of its properties, else of the system's, else the
 * defaults. Immutable.
 */
public final class StoreSettings {
    /** Servers inside this JVM, with every setting at its default. */
    public static final URI DEFAULT_URI = URI.create("rowan:embedded");

    private static final String SCHEME = "rowan";
    private static final String EMBEDDED = "embedded";

    private final Map<Setting, String> values;

    private StoreSettings(Map<Setting, String> values) {
        this.values = values;
    }

    /**
     * @param properties the manager's; what begins with "rowan." must be a setting
     * @param system the system's; only settings are looked at
     */
    public static StoreSettings of(URI uri, Properties properties, Properties system) {
        final Map<Setting, String> values = new EnumMap<>(Setting.class);
        for (Setting setting : Setting.values()) {
            final String text = system.getProperty(setting.property());
            if (text != null) {
                values.put(setting, setting.normalize(text));
            }
        }
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(Setting.PREFIX)) {
                put(values, name, name.substring(Setting.PREFIX.length()), properties.getProperty(name));
            }
        }
        for (Map.Entry<String, String> parameter : parameters(uri).entrySet()) {
            put(values, parameter.getKey(), parameter.getKey(), parameter.getValue());
        }
        return new StoreSettings(Collections.unmodifiableMap(values));
    }

    private static void put(Map<Setting, String> values, String written, String parameter, String text) {
        final Setting setting = Setting.ofParameter(parameter);
        if (setting == null) {
            throw new CacheException("unknown setting \"" + written + "\"; known are: " + Setting.knownParameters());
        }
        values.put(setting, setting.normalize(text));
    }

    private static Map<String, String> parameters(URI uri) {
        final String specific = uri.getRawSchemeSpecificPart();
        if (!SCHEME.equals(uri.getScheme())) {
            throw unknown(uri, "its scheme is not \"rowan\"");
        }
        if (specific.startsWith("//")) {
            throw unknown(uri, "this version runs embedded servers only");
        }
        final int question = specific.indexOf('?');
        final String where = question < 0 ? specific : specific.substring(0, question);
        if (!EMBEDDED.equals(where)) {
            throw unknown(uri, "it names \"" + where + "\", which is no kind of store");
        }
        final Map<String, String> parameters = new TreeMap<>();
        if (question >= 0) {
            for (String part : specific.substring(question + 1).split("&", -1)) {
                if (!part.isEmpty()) {
                    addParameter(parameters, part, uri);
                }
            }
        }
        return parameters;
    }

    private static void addParameter(Map<String, String> parameters, String part, URI uri) {
        final int equals = part.indexOf('=');
        if (equals < 1) {
            throw unknown(uri, "\"" + part + "\" is not of the form name=value");
        }
        // A plus stands for itself, in paths above all.
        final String text = URLDecoder.decode(part.substring(equals + 1).replace("+", "%2B"), StandardCharsets.UTF_8);
        if (parameters.put(part.substring(0, equals), text) != null) {
            throw unknown(uri, "it sets \"" + part.substring(0, equals) + "\" twice");
        }
    }

    private static CacheException unknown(URI uri, String why) {
        return new CacheException("the URI " + uri + " names no store: " + why
                + "; write rowan:embedded or rowan:embedded?servers=1&dir=/path");
    }

    /** Whether the setting was given, rather than left to its default. */
    public boolean isSet(Setting setting) {
        return values.containsKey(setting);
    }

    public String text(Setting setting) {
        return values.getOrDefault(setting, setting.defaultText());
    }

    /** 0 when there is no value. */
    public int count(Setting setting) {
        final String text = text(setting);
        return text.isEmpty() ? 0 : Integer.parseInt(text);
    }

    /** 0 when there is no value. */
    public long bytes(Setting setting) {
        final String text = text(setting);
        return text.isEmpty() ? 0 : Long.parseLong(setting.normalize(text));
    }

    public boolean flag(Setting setting) {
        return Boolean.parseBoolean(text(setting));
    }

    /** The directory of the store, or null for a store in memory. */
    public @Nullable Path directory() {
        final String text = text(Setting.DIR);
        if (text.isEmpty()) {
            return null;
        }
        try {
            return realPath(Path.of(text).toAbsolutePath().normalize());
        } catch (InvalidPathException e) {
            throw new CacheException("the setting dir = \"" + text + "\" is not a path", e);
        } catch (IOException e) {
            throw new CacheException("the directory " + text + " cannot be reached", e);
        }
    }

    /** Of several spellings of a directory the one without links; its end need not exist yet. */
    private static Path realPath(Path path) throws IOException {
        final Path parent = path.getParent();
        if (path.toFile().exists() || parent == null) {
            return path.toRealPath();
        }
        return realPath(parent).resolve(String.valueOf(path.getFileName()));
    }

    /** Equal for two managers that mean the same store. */
    public String storeIdentity() {
        final Path directory = directory();
        return directory != null ? "dir " + directory : "memory " + storeText();
    }

    /** The settings of the store that have a value, for messages and to tell whether two managers agree. */
    public String storeText() {
        final StringBuilder text = new StringBuilder();
        for (Setting setting : Setting.values()) {
            final String value = setting.scope() == Setting.Scope.STORE ? effective(setting) : "";
            if (!value.isEmpty()) {
                text.append(text.isEmpty() ? "" : " ")
                        .append(setting.parameter())
                        .append('=')
                        .append(value);
            }
        }
        return text.toString();
    }

    private String effective(Setting setting) {
        if (setting == Setting.DIR) {
            final Path directory = directory();
            return directory == null ? "" : directory.toString();
        }
        final String value = text(setting);
        return value.isEmpty() ? "" : setting.normalize(value);
    }
}
