package org.rowankv.jcache.configuration;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;

/**
 * Reader of configuration files: properties in UTF-8, with the names of settings without prefix, of templates, and of
 * named stores. A file is on the class path, or has a URL on this machine.
 */
final class SettingsFile {
    /** The file that is used without being named, if it is on the class path. */
    static final String NAME = "rowan.properties";

    private static final String CLASS_PATH = "classpath:";
    private static final String ON_CLASS_PATH = CLASS_PATH + NAME;

    private SettingsFile() {}

    /** The URI of the file on the class path; null if there is none. */
    static @Nullable URI find(ClassLoader loader) {
        return locate(NAME, loader) == null ? null : URI.create(ON_CLASS_PATH);
    }

    /** The settings in the file on the class path; none if there is no such file. */
    static SettingLayer readIfPresent(ClassLoader loader) {
        final URI found = find(loader);
        return found == null ? SettingLayer.NONE : read(found, loader);
    }

    static SettingLayer read(URI file, ClassLoader loader) {
        final Properties lines = new Properties();
        try (InputStreamReader in = new InputStreamReader(open(file, loader), StandardCharsets.UTF_8)) {
            lines.load(in);
        } catch (IOException | IllegalArgumentException e) {
            throw new CacheException("the configuration file " + file + " cannot be read: " + e, e);
        }
        final Map<String, String> texts = new TreeMap<>();
        for (String name : lines.stringPropertyNames()) {
            if (name.startsWith(Setting.PREFIX)) {
                throw new CacheException("the configuration file " + file + " has \"" + name
                        + "\"; in a file it is written without " + Setting.PREFIX);
            }
            texts.put(name, lines.getProperty(name).trim());
        }
        return new SettingLayer("", texts);
    }

    private static InputStream open(URI file, ClassLoader loader) throws IOException {
        final String text = file.toString();
        if (text.startsWith(CLASS_PATH)) {
            final URL found = locate(text.substring(CLASS_PATH.length()).replaceFirst("^/+", ""), loader);
            if (found == null) {
                throw new IOException("it is not on the class path");
            }
            return open(found);
        }
        if ("file".equals(file.getScheme())) {
            return Files.newInputStream(Path.of(file)); // refuses the name of another machine
        }
        final URL url = file.toURL();
        if (url.getProtocol().equals("jar") && !url.getPath().matches("(file|nested):.*")) {
            throw new IOException("its archive is not a file of this machine");
        }
        return open(url);
    }

    /** Cached connections would keep an archive open after its application has gone. */
    private static InputStream open(URL url) throws IOException {
        final URLConnection connection = url.openConnection();
        connection.setUseCaches(false);
        return connection.getInputStream();
    }

    private static @Nullable URL locate(String name, ClassLoader loader) {
        final URL found = loader.getResource(name);
        if (found != null) {
            return found;
        }
        final ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
        return ofThread == null ? null : ofThread.getResource(name);
    }
}
