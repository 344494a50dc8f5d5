package org.rowankv.jcache.configuration;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;

/** Templates of one cache manager, the most specific pattern first. Immutable. */
public final class Templates {
    /** Prefix of template entries in URIs and, after {@link Setting#PREFIX}, in properties. */
    static final String PREFIX = "template.";

    private final List<Template> templates;

    private Templates(List<Template> templates) {
        this.templates = templates;
    }

    /** @param texts by pattern, dot, and the key of an entry */
    static Templates of(Map<String, String> texts) {
        final Map<NamePattern, Map<TemplateEntry, String>> byPattern = new TreeMap<>();
        texts.forEach((written, text) -> {
            final int dot = written.lastIndexOf('.');
            if (dot <= 0) {
                throw new CacheException("the cache template \"" + written
                        + "\" has no pattern; write name.expiry=..., or *.expiry=... for every cache");
            }
            final TemplateEntry entry = TemplateEntry.ofKey(written.substring(dot + 1), written);
            final NamePattern pattern = new NamePattern(written.substring(0, dot));
            byPattern
                    .computeIfAbsent(pattern, p -> new EnumMap<>(TemplateEntry.class))
                    .put(entry, text.trim());
        });
        return new Templates(byPattern.entrySet().stream()
                .map(each -> new Template(each.getKey(), each.getValue()))
                .toList());
    }

    /** The texts of a properties file, which uses the same names without prefix. */
    static Map<String, String> read(Path file) {
        final Properties lines = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            lines.load(in);
        } catch (IOException | IllegalArgumentException e) {
            throw new CacheException("the cache templates in " + file + " cannot be read", e);
        }
        final Map<String, String> texts = new TreeMap<>();
        for (String name : lines.stringPropertyNames()) {
            if (name.startsWith(Setting.PREFIX + PREFIX)) {
                throw new CacheException("the file of cache templates " + file + " has \"" + name
                        + "\"; in a file it is written without " + Setting.PREFIX + PREFIX);
            }
            texts.put(name, lines.getProperty(name));
        }
        return texts;
    }

    /** The matching template with the most specific pattern; or null. */
    public @Nullable Template find(String cacheName) {
        for (Template template : templates) {
            if (template.pattern().matches(cacheName)) {
                return template;
            }
        }
        return null;
    }

    /** The patterns as written, the most specific first. */
    public List<String> patterns() {
        return templates.stream().map(template -> template.pattern().text()).toList();
    }

    /** Whether the template of exactly that pattern has the entry. */
    public boolean isSet(String pattern, TemplateEntry entry) {
        return templates.stream()
                .anyMatch(template -> template.pattern().text().equals(pattern) && template.isSet(entry));
    }

    /** Throws if a template names a type that the class loader cannot load. */
    public void checkTypes(ClassLoader loader) {
        templates.forEach(template -> template.checkTypes(loader));
    }
}
