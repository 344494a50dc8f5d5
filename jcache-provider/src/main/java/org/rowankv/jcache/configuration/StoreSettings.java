package org.rowankv.jcache.configuration;

import java.io.IOException;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.classes.AllowedClasses;
import org.rowankv.protocol.PartList;

/**
 * Effective settings of a cache manager. The URI overrides the manager's properties, these the system properties, these
 * the environment, this the configuration file, and this the defaults. Immutable.
 */
public final class StoreSettings {
    /** Servers inside this JVM, with every setting at its default. */
    public static final URI DEFAULT_URI = URI.create("rowan:embedded");

    /** The system property with the URI of managers that are requested without one. */
    public static final String URI_PROPERTY = "rowan.uri";

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
        if (bytes(Setting.MAX_VALUE) > PartList.MAX_VALUE) {
            throw new CacheException("the setting " + Setting.MAX_VALUE.parameter() + " = \"" + text(Setting.MAX_VALUE)
                    + "\" is too large: a value has at most " + (PartList.MAX_VALUE >> 20) + "m");
        }
    }

    private StoreSettings(Map<Setting, String> values, StoreSettings other) {
        this.values = values;
        this.templates = other.templates;
        this.allowedClasses = other.allowedClasses;
        this.addresses = other.addresses;
    }

    /** These settings, and others where they are not given. */
    public StoreSettings orElse(Map<Setting, String> others) {
        final Map<Setting, String> all = new EnumMap<>(others);
        all.putAll(values);
        return new StoreSettings(Collections.unmodifiableMap(all), this);
    }

    /** Bytes of the longest encoded value that is stored. */
    public int maxValue() {
        return (int) bytes(Setting.MAX_VALUE);
    }

    /** The settings of a manager that is requested with that URI. */
    public static StoreSettings of(URI uri, SettingSources sources) {
        final StoreUri given = StoreUri.of(uri);
        final SettingLayer file = switch (given.kind()) {
            case FILE -> SettingsFile.read(uri, sources.loader());
            case NAMED -> SettingsFile.readIfPresent(sources.loader());
            case EMBEDDED, CLUSTER -> SettingLayer.NONE;
        };
        final boolean isFile = given.kind() == StoreUri.Kind.FILE;
        final StoreUri described = isFile ? inner(file, uri) : given;
        final String name = described.name();
        final List<SettingLayer> layers = List.of(
                file,
                SettingLayer.ofEnvironment(sources.environment(), name),
                SettingLayer.ofSystem(sources.system()),
                SettingLayer.ofManager(sources.manager()));
        final Collected collected = new Collected();
        if (isFile) {
            collected.addParameters(described);
        }
        layers.forEach(layer -> collected.add(layer.general()));
        final StoreUri store = name.isEmpty() ? described : collected.addNamedStore(name, layers, uri);
        if (!isFile) {
            if (store.kind() == StoreUri.Kind.CLUSTER) {
                StoreUri.requireOfManager(uri, given.parameters());
            }
            collected.addParameters(given);
        }
        return new StoreSettings(Collections.unmodifiableMap(collected.values), collected.templates, store.addresses());
    }

    /** The store that a file describes: of the kind that its URI names, or in this JVM. */
    private static StoreUri inner(SettingLayer file, URI uri) {
        final String text = file.texts().get(SettingLayer.URI);
        if (text == null) {
            return StoreUri.of(DEFAULT_URI);
        }
        final StoreUri inner = StoreUri.of(StoreUri.parse(text, "the " + SettingLayer.URI + " in " + uri));
        if (inner.kind() == StoreUri.Kind.FILE) {
            throw new CacheException("the configuration file " + uri + " names another file, " + text + ": its "
                    + SettingLayer.URI + " is that of a store");
        }
        return inner;
    }

    /** Settings while they are collected, from the source that counts least. Not thread-safe. */
    private static final class Collected {
        private final Map<Setting, String> values = new EnumMap<>(Setting.class);
        private final Map<String, String> templates = new TreeMap<>();

        void add(SettingLayer layer) {
            layer.texts().forEach((name, text) -> {
                if (!name.equals(SettingLayer.URI)) {
                    put(layer.prefix() + name, name, text);
                }
            });
        }

        void addParameters(StoreUri uri) {
            uri.parameters().forEach((name, text) -> put(name, name, text));
        }

        private void put(String written, String name, String text) {
            if (name.startsWith(Templates.PREFIX)) {
                templates.put(name.substring(Templates.PREFIX.length()), text);
                return;
            }
            final Setting setting = Setting.ofParameter(name);
            if (setting == null) {
                throw new CacheException("unknown setting \"" + written + "\"; known are: " + Setting.knownParameters()
                        + ", and " + Templates.PREFIX + "<pattern>.<entry>");
            }
            values.put(setting, setting.normalize(text));
        }

        /**
         * Adds the settings of a named store, which count more than general ones of any source; the general directory
         * and name belong to another store.
         *
         * @return the store behind the name
         */
        StoreUri addNamedStore(String name, List<SettingLayer> layers, URI uri) {
            values.remove(Setting.DIR);
            values.put(Setting.NAME, name);
            StoreUri store = StoreUri.of(DEFAULT_URI);
            boolean known = false;
            for (SettingLayer layer : layers) {
                final SettingLayer own = layer.ofStore(name);
                known |= !own.texts().isEmpty();
                final String text = own.texts().get(SettingLayer.URI);
                if (text != null) {
                    store = StoreUri.of(StoreUri.parse(text, own.prefix() + SettingLayer.URI));
                }
            }
            if (!known) {
                throw StoreUri.unknown(
                        uri,
                        "no store is called \"" + name + "\", since nothing sets " + Setting.PREFIX
                                + SettingLayer.STORES + name + ".dir or ." + SettingLayer.URI + ", for example");
            }
            if (store.kind() != StoreUri.Kind.EMBEDDED && store.kind() != StoreUri.Kind.CLUSTER) {
                throw StoreUri.unknown(
                        store.uri(), "the store " + name + " has to be rowan:embedded or rowan://host:port/");
            }
            addParameters(store);
            layers.forEach(layer -> add(layer.ofStore(name)));
            return store;
        }
    }

    /** The URI of managers that are requested without one. */
    public static URI defaultUri(SettingSources sources) {
        final String property = sources.system().getProperty(URI_PROPERTY, "");
        if (!property.isEmpty()) {
            return StoreUri.parse(property, "the system property " + URI_PROPERTY);
        }
        final String name = SettingLayer.variable(SettingLayer.URI);
        final String variable = sources.environment().getOrDefault(name, "");
        if (!variable.isEmpty()) {
            return StoreUri.parse(variable, "the environment variable " + name);
        }
        final URI file = SettingsFile.find(sources.loader());
        return file == null ? DEFAULT_URI : file;
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

    /** Whether an unreachable cluster does not prevent the start. */
    public boolean isLazy() {
        return "lazy".equals(text(Setting.START));
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
            return storeText() + " with operation-timeout " + count(Setting.OPERATION_TIMEOUT) + ", start "
                    + text(Setting.START);
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
