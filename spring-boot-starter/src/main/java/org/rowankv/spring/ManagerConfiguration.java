package org.rowankv.spring;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.configuration.Setting;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.configuration.TemplateEntry;
import org.rowankv.jcache.spi.RowanCachingProvider;

/**
 * URI and properties of a cache manager: what the application says, over the defaults of a Spring application.
 * Immutable.
 */
final class ManagerConfiguration {
    private static final String TEMPLATE = Setting.PREFIX + "template.";
    private static final String ANY = "*";
    /** What Spring applications expect of a cache, of the settings that the provider has. */
    private static final Map<String, String> DEFAULTS = Map.of("store-by-reference", "copy", "when-full", "evict");
    /** What frameworks and the JDK make themselves; a store that others write to is closed but for what is listed. */
    private static final List<String> PRESETS = List.of("@spring", "@hibernate", "@jdk");

    private static final String REMOTE = "rowan://";

    private final @Nullable URI uri;
    private final Properties properties;

    private ManagerConfiguration(@Nullable URI uri, Properties properties) {
        this.uri = uri;
        this.properties = properties;
    }

    /**
     * @param configured the URI that the application names elsewhere, where it has no rowan.uri
     * @param packages of the application
     */
    static ManagerConfiguration of(RowanProperties given, @Nullable URI configured, List<String> packages) {
        final URI uri = given.uri() == null || given.uri().isBlank() ? configured : URI.create(given.uri());
        final Properties properties = new Properties();
        given.settings().forEach((name, value) -> properties.setProperty(Setting.PREFIX + canonical(name), value));
        if (given.dir() != null && !given.dir().isBlank()) {
            properties.setProperty(Setting.DIR.property(), given.dir());
        }
        for (Setting setting : Setting.values()) {
            final String value = DEFAULTS.get(setting.parameter());
            if (value != null) {
                putDefault(properties, setting, value);
            }
        }
        allowClasses(properties, given, packages, isRemote(uri));
        final Map<String, CacheTemplateProperties> caches = new TreeMap<>(given.caches());
        caches.forEach((pattern, cache) -> putTemplate(properties, pattern, cache.entries()));
        putTemplate(properties, ANY, Map.of());
        return new ManagerConfiguration(uri, properties);
    }

    /** The setting's own name for each way to write it, such as in the environment. */
    private static String canonical(String name) {
        for (Setting setting : Setting.values()) {
            if (bare(setting.parameter()).equals(bare(name))) {
                return setting.parameter();
            }
        }
        return name;
    }

    private static String bare(String name) {
        return name.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
    }

    /** A system property that sets it is left alone. */
    private static void putDefault(Properties properties, Setting setting, String value) {
        if (System.getProperty(setting.property()) == null) {
            properties.putIfAbsent(setting.property(), value);
        }
    }

    private static boolean isRemote(@Nullable URI uri) {
        final String text = uri == null ? System.getProperty(StoreSettings.URI_PROPERTY, "") : uri.toString();
        return text.startsWith(REMOTE);
    }

    /**
     * A store in this JVM stays open unless the application lists classes; then, and for a cluster, what the frameworks
     * make is allowed too, and for a cluster the application's packages.
     */
    private static void allowClasses(
            Properties properties, RowanProperties given, List<String> packages, boolean remote) {
        final List<String> allowed = new ArrayList<>(given.allowedClasses());
        final String property = Setting.ALLOWED_CLASSES.property();
        final String listed = properties.getProperty(property, System.getProperty(property, ""));
        if (!listed.isBlank()) {
            allowed.add(listed);
        }
        if (remote && given.allowApplicationClasses()) {
            packages.stream()
                    .filter(each -> each.indexOf('.') > 0) // of a single word it would be half of the world
                    .forEach(each -> allowed.add(each + ".**"));
        }
        if (remote || !allowed.isEmpty()) {
            allowed.addAll(PRESETS);
            properties.setProperty(property, String.join(";", allowed));
        }
    }

    /** Templates are not merged: each of them says that caches are created. */
    private static void putTemplate(Properties properties, String pattern, Map<String, String> entries) {
        final String create = TEMPLATE + pattern + ".create";
        if (System.getProperty(create) == null) {
            properties.putIfAbsent(create, "true");
        }
        entries.forEach((entry, value) -> properties.setProperty(TEMPLATE + pattern + '.' + entry, value));
    }

    /**
     * The same store, for Hibernate: where templates have the entry, its caches are empty at each start, since the database
     * may be another one.
     */
    ManagerConfiguration forHibernate() {
        final Properties changed = new Properties();
        changed.putAll(properties);
        if (Stream.of(TemplateEntry.values()).anyMatch(entry -> entry.key().equals("content"))) {
            properties.stringPropertyNames().stream()
                    .filter(name -> name.startsWith(TEMPLATE) && name.endsWith(".create"))
                    .forEach(name -> changed.putIfAbsent(name.replaceFirst("create$", "content"), "fresh"));
        }
        return new ManagerConfiguration(uri, changed);
    }

    /** Null for the provider's default. */
    @Nullable
    URI uri() {
        return uri;
    }

    Properties properties() {
        return properties;
    }

    /**
     * Opens a manager that is shared with no other application in this JVM. Stores are shared, as the settings say.
     *
     * @param loader loads the classes of keys and values
     */
    RowanCacheManager open(ClassLoader loader) {
        return new RowanCachingProvider()
                .getCacheManager(uri, loader, properties)
                .unwrap(RowanCacheManager.class);
    }
}
