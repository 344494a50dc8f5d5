package org.rowankv.spring;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.configuration.Setting;
import org.rowankv.jcache.configuration.SettingSources;
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
    /** When each table was changed last: without an entry, Hibernate takes old results of queries for new. */
    private static final String TIMESTAMPS = "*default-update-timestamps-region";

    /** What frameworks and the JDK make themselves; a store that others write to is closed but for what is listed. */
    private static final List<String> PRESETS = List.of("@spring", "@hibernate", "@jdk");

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
        allowClasses(uri, properties, given, packages);
        if (!settings(uri, properties).isSet(Setting.STORE_BY_REFERENCE)) {
            properties.setProperty(Setting.STORE_BY_REFERENCE.property(), "copy");
        }
        final Map<String, CacheTemplateProperties> caches = new TreeMap<>(given.caches());
        caches.forEach((pattern, cache) -> cache.entries()
                .forEach((entry, text) -> properties.setProperty(TEMPLATE + pattern + '.' + entry, text)));
        putDefaults(uri, properties);
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

    /**
     * A store in this JVM stays open unless the application or its file lists classes; then, and for a cluster, what the
     * frameworks make is allowed too, and for a cluster the application's packages.
     */
    private static void allowClasses(
            @Nullable URI uri, Properties properties, RowanProperties given, List<String> packages) {
        final StoreSettings settings = settings(uri, properties);
        final boolean remote = !settings.addresses().isEmpty();
        final List<String> allowed = new ArrayList<>(given.allowedClasses());
        final String listed = settings.text(Setting.ALLOWED_CLASSES);
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
            properties.setProperty(Setting.ALLOWED_CLASSES.property(), String.join(";", allowed));
        }
    }

    /** What the provider would read, of all sources. */
    private static StoreSettings settings(@Nullable URI uri, Properties properties) {
        final SettingSources sources =
                SettingSources.ofProcess(properties, ManagerConfiguration.class.getClassLoader());
        return StoreSettings.of(uri == null ? StoreSettings.defaultUri(sources) : uri, sources);
    }

    /** Templates are not merged: each of them has what a Spring application expects, unless a source says otherwise. */
    private static void putDefaults(@Nullable URI uri, Properties properties) {
        final StoreSettings settings = settings(uri, properties);
        patterns(settings).forEach(pattern -> {
            putDefault(settings, properties, pattern, TemplateEntry.CREATE, "true");
            putDefault(settings, properties, pattern, TemplateEntry.WHEN_FULL, "evict");
        });
    }

    /** Of all sources, and that of every cache. */
    private static Set<String> patterns(StoreSettings settings) {
        final Set<String> patterns = new TreeSet<>(settings.templates().patterns());
        patterns.add(ANY);
        return patterns;
    }

    private static void putDefault(
            StoreSettings settings, Properties properties, String pattern, TemplateEntry entry, String text) {
        if (!settings.templates().isSet(pattern, entry)) {
            properties.setProperty(TEMPLATE + pattern + '.' + entry.key(), text);
        }
    }

    /** The same store, for Hibernate: in this JVM its caches are empty at each start, since the database may be another one. */
    ManagerConfiguration forHibernate() {
        final Properties changed = new Properties();
        changed.putAll(properties);
        final StoreSettings settings = settings(uri, changed);
        putDefault(settings, changed, TIMESTAMPS, TemplateEntry.CREATE, "true");
        putDefault(settings, changed, TIMESTAMPS, TemplateEntry.WHEN_FULL, "refuse");
        if (settings.addresses().isEmpty()) {
            patterns(settings).forEach(each -> putDefault(settings, changed, each, TemplateEntry.CONTENT, "fresh"));
            putDefault(settings, changed, TIMESTAMPS, TemplateEntry.CONTENT, "fresh");
        }
        return new ManagerConfiguration(uri, changed);
    }

    /** Whether the store is a cluster. */
    boolean isRemote() {
        return !settings(uri, properties).addresses().isEmpty();
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
