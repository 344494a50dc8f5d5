package org.rowankv.jcache.configuration;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.classes.AllowedClasses;

/**
 * Effective settings of a cache manager. The URI overrides the manager's properties, these the system properties, and
 * these the defaults. Immutable.
 */
public final class StoreSettings {
    /** Servers inside this JVM, with every setting at its default. */
    public static final URI DEFAULT_URI = URI.create("rowan:embedded");

    /** The system property with the URI of managers that are requested without one. */
    public static final String URI_PROPERTY = "rowan.uri";

    private static final String SCHEME = "rowan";
    private static final String EMBEDDED = "embedded";
    private static final String AUTHORITY = "//";
    private static final Pattern ADDRESS = Pattern.compile("(?:[^:/?#\\[\\]@,]+|\\[[0-9a-fA-F:.%]+\\]):[0-9]{1,5}");

    private final Map<Setting, String> values;
    private final Templates templates;
    private final AllowedClasses allowedClasses;
    /** Servers of a cluster; empty for servers in this JVM. */
    private final List<String> addresses;

    private StoreSettings(Map<Setting, String> values, Map<String, String> templateTexts, List<String> addresses) {
        this.values = values;
        this.addresses = addresses;
        final Map<String, String> texts = new TreeMap<>();
        if (values.containsKey(Setting.TEMPLATES)) {
            texts.putAll(Templates.read(path(text(Setting.TEMPLATES), Setting.TEMPLATES)));
        }
        texts.putAll(templateTexts);
        this.templates = Templates.of(texts);
        this.allowedClasses = AllowedClasses.of(text(Setting.ALLOWED_CLASSES));
    }

    /**
     * @param properties the manager's; a name that starts with "rowan." must be a setting or a template
     * @param system the system's; other names are ignored
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
        final List<String> addresses = addresses(uri);
        for (Map.Entry<String, String> parameter : parameters(uri).entrySet()) {
            requireOfManager(addresses, parameter.getKey(), uri);
            put(values, templates, parameter.getKey(), parameter.getKey(), parameter.getValue());
        }
        return new StoreSettings(Collections.unmodifiableMap(values), templates, addresses);
    }

    /** {@link Properties#stringPropertyNames} would skip a value that is no String. */
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

    /** The URI of managers that are requested without one. */
    public static URI defaultUri(Properties system) {
        final String text = system.getProperty(URI_PROPERTY);
        try {
            return text == null || text.isEmpty() ? DEFAULT_URI : new URI(withoutBrackets(text));
        } catch (URISyntaxException e) {
            throw new CacheException("the system property " + URI_PROPERTY + " = \"" + text + "\" is no URI", e);
        }
    }

    /** The servers that the URI names; empty for servers in this JVM. */
    private static List<String> addresses(URI uri) {
        final String specific = uri.getRawSchemeSpecificPart();
        if (!SCHEME.equals(uri.getScheme()) || !specific.startsWith(AUTHORITY)) {
            return List.of();
        }
        final String where = beforeQuestion(specific).substring(AUTHORITY.length());
        final int slash = where.indexOf('/');
        if (slash >= 0 && slash != where.length() - 1) {
            throw unknown(uri, "nothing may stand between the last address and the settings but a \"/\"");
        }
        final List<String> addresses = new ArrayList<>();
        for (String address :
                withBrackets(slash < 0 ? where : where.substring(0, slash)).split(",", -1)) {
            if (!ADDRESS.matcher(address).matches()) {
                throw unknown(uri, "\"" + address + "\" is no host:port");
            }
            addresses.add(address);
        }
        return List.copyOf(addresses);
    }

    /** {@link URI} accepts one bracketed address; several must be written with %5B and %5D. */
    private static String withBrackets(String authority) {
        return authority
                .replace("%5B", "[")
                .replace("%5b", "[")
                .replace("%5D", "]")
                .replace("%5d", "]");
    }

    /** Encodes the brackets, so that {@link URI} accepts any addresses. */
    private static String withoutBrackets(String uri) {
        final int from = uri.indexOf("//") + 2;
        final int slash = from < 2 ? -1 : uri.indexOf('/', from);
        final int question = from < 2 ? -1 : uri.indexOf('?', from);
        final int end = slash >= 0 ? slash : question >= 0 ? question : uri.length();
        return from < 2
                ? uri
                : uri.substring(0, from)
                        + uri.substring(from, end).replace("[", "%5B").replace("]", "%5D")
                        + uri.substring(end);
    }

    /** The settings of a remote store belong to its servers. */
    private static void requireOfManager(List<String> addresses, String parameter, URI uri) {
        final Setting setting = Setting.ofParameter(parameter);
        if (!addresses.isEmpty() && setting != null && setting.scope() == Setting.Scope.STORE) {
            throw unknown(uri, "\"" + parameter + "\" is a setting of the servers, which run elsewhere");
        }
    }

    private static String beforeQuestion(String specific) {
        final int question = specific.indexOf('?');
        return question < 0 ? specific : specific.substring(0, question);
    }

    private static Map<String, String> parameters(URI uri) {
        final String specific = uri.getRawSchemeSpecificPart();
        if (!SCHEME.equals(uri.getScheme())) {
            throw unknown(uri, "its scheme is not \"rowan\"");
        }
        final int question = specific.indexOf('?');
        final String where = beforeQuestion(specific);
        if (!EMBEDDED.equals(where) && !where.startsWith(AUTHORITY)) {
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

    /** Keeps a plus sign, which is common in paths. */
    private static String decode(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static CacheException unknown(URI uri, String why) {
        return new CacheException("the URI " + uri + " names no store: " + why
                + "; write rowan:embedded, rowan:embedded?servers=1&dir=/path or rowan://host:port,host:port/");
    }

    /** Whether the setting is given explicitly. */
    public boolean isSet(Setting setting) {
        return values.containsKey(setting);
    }

    public String text(Setting setting) {
        return values.getOrDefault(setting, setting.defaultText());
    }

    /** 0 if there is no value. */
    public int count(Setting setting) {
        final String text = text(setting);
        return text.isEmpty() ? 0 : Integer.parseInt(text);
    }

    /** 0 if there is no value. */
    public long bytes(Setting setting) {
        final String text = text(setting);
        return text.isEmpty() ? 0 : Long.parseLong(setting.normalize(text));
    }

    public boolean flag(Setting setting) {
        return Boolean.parseBoolean(text(setting));
    }

    /** Servers of the cluster, each {@code host:port}; empty for servers in this JVM. */
    public List<String> addresses() {
        return addresses;
    }

    /** The templates of caches. */
    public Templates templates() {
        return templates;
    }

    /** The classes that the user lists. */
    public AllowedClasses allowedClasses() {
        return allowedClasses;
    }

    /** The store's directory, or null for a store in memory. */
    public @Nullable Path directory() {
        final String text = text(Setting.DIR);
        if (text.isEmpty()) {
            return null;
        }
        try {
            return realPath(path(text, Setting.DIR));
        } catch (IOException e) {
            throw new CacheException("the directory " + text + " cannot be resolved", e);
        }
    }

    private static Path path(String text, Setting setting) {
        try {
            return Path.of(text).toAbsolutePath().normalize();
        } catch (InvalidPathException e) {
            throw new CacheException("the setting " + setting.parameter() + " = \"" + text + "\" is not a path", e);
        }
    }

    /** Resolves links, so that all spellings of a directory are equal; its last parts need not exist. */
    private static Path realPath(Path path) throws IOException {
        final Path parent = path.getParent();
        if (path.toFile().exists() || parent == null) {
            return path.toRealPath();
        }
        return realPath(parent).resolve(String.valueOf(path.getFileName()));
    }

    /** Equal for managers of the same store. */
    public String storeIdentity() {
        if (!addresses.isEmpty()) {
            return storeText() + " with operation-timeout " + count(Setting.OPERATION_TIMEOUT);
        }
        final Path directory = directory();
        return directory != null ? "dir " + directory : "memory " + storeText();
    }

    /** The store settings that have a value; for messages and comparison. */
    public String storeText() {
        if (!addresses.isEmpty()) {
            return "cluster at " + String.join(",", addresses);
        }
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
