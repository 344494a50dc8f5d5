package org.rowankv.jcache.configuration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes docs/CONFIGURATION.md from the table of settings. {@code main(path)}: writes it to that path. */
public final class ConfigurationDocument {
    private ConfigurationDocument() {}

    public static void main(String[] arguments) throws IOException {
        Files.writeString(Path.of(arguments[0]), text());
    }

    static String text() {
        final StringBuilder text = new StringBuilder("""
                # Configuration

                <!-- Written from the table in org.rowankv.jcache.configuration.Setting, which a test compares with this file. -->

                A setting is a parameter of the cache manager's URI, or, with the prefix `rowan.`, a property given to
                `getCacheManager(uri, classLoader, properties)`, or a system property. The URI goes before the properties, the
                properties before the system. An unknown parameter or `rowan.` property is refused; unknown system
                properties are not looked at.

                ```java
                provider.getCacheManager(URI.create("rowan:embedded?dir=/var/lib/app/cache&capacity=1g"), null);
                ```

                Without a URI it is `rowan:embedded`. Bytes are numbers, or have a unit `k`, `m` or `g` (1024, 1024², 1024³). In
                a URI, characters such as `&`, `%` and spaces are written `%26`, `%25` and `%20`.

                """);
        section(
                text,
                Setting.Scope.STORE,
                "## The store",
                "Managers whose store settings are the same use one store; so do managers with the same `dir`, however it is"
                        + " spelled, and then the other settings must agree. The last of them to close ends it.");
        section(
                text,
                Setting.Scope.MANAGER,
                "## The cache manager",
                "Of one manager, whatever others of the same store have.");
        return text.toString();
    }

    private static void section(StringBuilder text, Setting.Scope scope, String title, String preface) {
        text.append(title).append("\n\n").append(preface).append("\n\n");
        text.append("| setting | written as | default | meaning |\n| --- | --- | --- | --- |\n");
        for (Setting setting : Setting.values()) {
            if (setting.scope() == scope) {
                text.append("| `").append(setting.parameter()).append("` | ");
                text.append(setting.kind().description()).append(" | ");
                text.append(setting.defaultText().isEmpty() ? "none" : '`' + setting.defaultText() + '`');
                text.append(" | ").append(setting.meaning()).append(" |\n");
            }
        }
        text.append('\n');
    }
}
