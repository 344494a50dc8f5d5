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
    private final Templates templates;

    private StoreSettings(Map<Setting, String> values, Map<String, String> templateTexts) {
        this.values = values;
        final Map<String, String> texts = new TreeMap<>();
        if (values.containsKey(Setting.TEMPLATES)) {
            texts.putAll(Templates.read(path(text(Setting.TEMPLATES), Setting.TEMPLATES)));
        }
        texts.putAll(templateTexts);
        this.templates = Templates.of(texts);
    }

    /**
     * @param properties the manager's; what begins with "rowan." must be a setting or a template's
     * @param system the system's; only settings and templates are looked at
     */
    public static StoreSettings of(URI uri, Properties properties, Properties system) {
        final Map<Setting, String> values = new EnumMap<>(Setting.class);
        final Map<String, String> templates = new TreeMap<>();
        for (String name : system.stringPropertyNames()) {
            final String parameter = name.startsWith(Setting.PREFIX) ? name.substring(Setting.PREFIX.length()) : "";
            if (parameter.startsWith(Templates.PREFIX) || Setting.ofParameter(parameter) != null) {
                put(values, templates, name, parameter, system.getProperty(name));
            }
        }
        requireTexts(properties);
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(Setting.PREFIX)) {
                final String parameter = name.substring(Setting.PREFIX.length());
                put(values, templates, name, parameter, properties.getProperty(name));
            }
        }
        for (Map.Entry<String, String> parameter : parameters(uri).entrySet()) {
            put(values, templates, parameter.getKey(), parameter.getKey(), parameter.getValue());
        }
        return new StoreSettings(Collections.unmodifiableMap(values), templates);
    }

    /** A number put into Properties would be overlooked. */
    private static void requireTexts(Properties properties) {
        properties.forEach((name, value) -> {
            if (name instanceof String text && text.startsWith(Setting.PREFIX) && !(value instanceof String)) {
                throw new CacheException("the property " + name + " has to be a String, not a "
                        + value.getClass().getName());
            }
        });
    }

    private static void put(
            Map<Setting, String> values, Map<String, String> templates, String written, String parameter, String text) {
        if (parameter.startsWith(Templates.PREFIX)) {
            templates.put(parameter.substring(Templates.PREFIX.length()), text);
            return;
        }
        final Setting setting = Setting.ofParameter(parameter);
        if (setting == null) {
            throw new CacheException("unknown setting \"" + written + "\"; known are: " + Setting.knownParameters()
                    + ", and " + Templates.PREFIX + "<pattern>.<entry>");
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
        final String name = decode(part.substring(0, equals));
        if (parameters.put(name, decode(part.substring(equals + 1))) != null) {
            throw unknown(uri, "it sets \"" + name + "\" twice");
        }
    }

    /** A plus stands for itself, in paths above all. */
    private static String decode(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
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

    /** What caches have by their names. */
    public Templates templates() {
        return templates;
    }

    /** The directory of the store, or null for a store in memory. */
    public @Nullable Path directory() {
        final String text = text(Setting.DIR);
        if (text.isEmpty()) {
            return null;
        }
        try {
            return realPath(path(text, Setting.DIR));
        } catch (IOException e) {
            throw new CacheException("the directory " + text + " cannot be reached", e);
        }
    }

    private static Path path(String text, Setting setting) {
        try {
            return Path.of(text).toAbsolutePath().normalize();
        } catch (InvalidPathException e) {
            throw new CacheException("the setting " + setting.parameter() + " = \"" + text + "\" is not a path", e);
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
