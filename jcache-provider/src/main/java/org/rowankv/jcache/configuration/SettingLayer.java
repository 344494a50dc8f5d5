package org.rowankv.jcache.configuration;

import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.cache.CacheException;

/**
 * Settings of one source. Immutable.
 *
 * @param prefix of the names as they are written there
 * @param texts by the name without the prefix
 */
record SettingLayer(String prefix, Map<String, String> texts) {
    /** Prefix of the settings of named stores. */
    static final String STORES = "stores.";

    /** The setting with the URI: of a file's or a named store's kind, or the default. */
    static final String URI = "uri";

    /** Of an absent source. */
    static final SettingLayer NONE = new SettingLayer("", Map.of());

    private static final String VARIABLES = "ROWAN_";

    /** The properties of a manager, each of which has to be a setting. */
    static SettingLayer ofManager(Properties properties) {
        properties.forEach((name, value) -> {
            // Properties.stringPropertyNames would skip it.
            if (name instanceof String text && text.startsWith(Setting.PREFIX) && !(value instanceof String)) {
                throw new CacheException("the property " + name + " has to be a String, not a "
                        + value.getClass().getName());
            }
        });
        final Map<String, String> texts = withPrefix(properties);
        if (texts.containsKey(URI)) {
            throw new CacheException("the property " + Setting.PREFIX + URI
                    + " has no effect on a manager: pass that URI to getCacheManager, or set it for the system");
        }
        return new SettingLayer(Setting.PREFIX, texts);
    }

    /** The properties of the system, of which others than settings are ignored. */
    static SettingLayer ofSystem(Properties system) {
        final Map<String, String> texts = withPrefix(system);
        texts.keySet()
                .removeIf(name -> !name.startsWith(Templates.PREFIX)
                        && !name.startsWith(STORES)
                        && Setting.ofParameter(name) == null);
        return new SettingLayer(Setting.PREFIX, texts);
    }

    private static Map<String, String> withPrefix(Properties properties) {
        final Map<String, String> texts = new TreeMap<>();
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(Setting.PREFIX)) {
                texts.put(name.substring(Setting.PREFIX.length()), properties.getProperty(name));
            }
        }
        return texts;
    }

    /**
     * The variables of the process: {@code ROWAN_ALLOWED_CLASSES} for {@code allowed-classes}, {@code ROWAN_STORES_SHOP_DIR}
     * for {@code stores.shop.dir}. Empty ones and others are ignored.
     *
     * @param storeName of a named store; or empty
     */
    static SettingLayer ofEnvironment(Map<String, String> environment, String storeName) {
        final Map<String, String> texts = new TreeMap<>();
        for (Setting setting : Setting.values()) {
            put(texts, environment, setting.parameter());
            if (!storeName.isEmpty()) {
                put(texts, environment, STORES + storeName + '.' + setting.parameter());
            }
        }
        if (!storeName.isEmpty()) {
            put(texts, environment, STORES + storeName + '.' + URI);
        }
        return new SettingLayer("", texts);
    }

    private static void put(Map<String, String> texts, Map<String, String> environment, String name) {
        final String text = environment.getOrDefault(variable(name), "");
        if (!text.isEmpty()) {
            texts.put(name, text);
        }
    }

    /** The variable that stands for a setting. */
    static String variable(String name) {
        return VARIABLES + name.toUpperCase(Locale.ROOT).replace('-', '_').replace('.', '_');
    }

    /** The settings of a named store, by the rest of their names. */
    SettingLayer ofStore(String name) {
        final String start = STORES + name + '.';
        final Map<String, String> own = new TreeMap<>();
        texts.forEach((written, text) -> {
            if (written.startsWith(start)) {
                own.put(written.substring(start.length()), text);
            }
        });
        return new SettingLayer(prefix + start, own);
    }

    /** All but those of named stores. */
    SettingLayer general() {
        final Map<String, String> general = new TreeMap<>(texts);
        general.keySet().removeIf(name -> name.startsWith(STORES));
        return new SettingLayer(prefix, general);
    }
}
