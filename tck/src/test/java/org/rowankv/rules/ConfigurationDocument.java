package org.rowankv.rules;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rowankv.daemon.ServerOption;
import org.rowankv.jcache.configuration.Setting;
import org.rowankv.jcache.configuration.TemplateEntry;

/** Generator of docs/configuration.md from the tables of settings. {@code main(path)} writes it to that path. */
public final class ConfigurationDocument {
    private ConfigurationDocument() {}

    public static void main(String[] arguments) throws IOException {
        Files.writeString(Path.of(arguments[0]), text());
    }

    static String text() {
        final StringBuilder text = new StringBuilder("""
                # Configuration

                <!-- Written from the tables Setting and TemplateEntry in org.rowankv.jcache.configuration and ServerOption in org.rowankv.daemon, which a test compares with this file. -->

                A setting has one name in all places, and the first of these counts:

                1. the cache manager's URI: `rowan:embedded?allowed-classes=@jdk`
                2. the properties given to `getCacheManager(uri, classLoader, properties)`: `rowan.allowed-classes`
                3. system properties: `rowan.allowed-classes`
                4. the environment: `ROWAN_ALLOWED_CLASSES`
                5. the configuration file: `allowed-classes`

                An unknown name in a URI, a file or a manager's properties is an error; other system properties and variables are
                ignored.

                | URI | store |
                | --- | --- |
                | `rowan:embedded` | Servers in this JVM. |
                | `rowan://host:port;host:port/` | Servers elsewhere: any of a cluster, separated by `;` or `,`. An IPv6 address stands in brackets (among several: `%5B::1%5D`). The settings under "The store" then belong to the servers: in the URI they are an error, elsewhere they are ignored. |
                | `rowan:NAME` | A named store: its settings are written `stores.NAME.dir`, for example, in any of the places 2 to 5 (`ROWAN_STORES_NAME_DIR`), and count more than those without a name. `stores.NAME.uri=rowan://host:port/` makes it remote. |
                | `classpath:rowan.properties`, `file:/etc/app.properties`, `jar:file:/app.jar!/app.properties` | As the configuration file says: its `uri` is one of the above; without it, servers in this JVM. |

                A configuration file has properties in UTF-8. It is read where the URI names it; for `rowan:NAME` it is the
                `rowan.properties` on the class path.

                ```
                uri = rowan:shop
                stores.shop.dir = /var/lib/shop
                stores.shop.capacity = 1g
                stores.offers.uri = rowan://cache1:7171;cache2:7171/
                template.books.expiry = modified:10m
                ```

                Without a URI, the first of these is the URI, for the life of the provider: the system property `rowan.uri`, the
                variable `ROWAN_URI`, `classpath:rowan.properties` if there is one, `rowan:embedded`.

                `getURI` returns the URI as given. Libraries build names of JMX beans from it, where `?`, `=`, `*`, `,` and `"` are
                not legal: Micrometer fails with `rowan:embedded?dir=...` and with `,` between hosts. Use a named store, a file, or
                properties, and `;`. The provider's own beans have legal names in any case.

                Bytes are plain numbers or have a unit `k`, `m` or `g` (1024, 1024², 1024³). In
                a URI, characters such as `&`, `%` and spaces are written `%26`, `%25` and `%20`.

                """);
        section(
                text,
                Setting.Scope.STORE,
                "## The store",
                "Managers with equal store settings share one store; so do managers with the same `dir`, however it is"
                        + " spelled, and then the other settings must agree. The last manager to close closes the store.");
        section(text, Setting.Scope.MANAGER, "## The cache manager", "Per manager, even where managers share a store.");
        templates(text);
        servers(text);
        return text.toString();
    }

    private static void templates(StringBuilder text) {
        text.append("""
                ## Templates of caches

                Templates configure caches by name, for applications and frameworks that do not configure them. Each line is one
                entry of one template, written

                - in the URI as `template.<pattern>.<entry>=<value>`,
                - in the properties of the manager or of the system as `rowan.template.<pattern>.<entry>`,
                - in the configuration file as `template.<pattern>.<entry>`,
                - in the file that the setting `templates` names as `<pattern>.<entry>`.

                ```
                com.acme.*.expiry = modified:10m
                com.acme.*.statistics = true
                com.acme.Country.expiry = eternal
                books.create = true
                books.value-type = com.acme.Book
                ```

                In a pattern `*` stands for any characters or none, every other character for itself. A cache has one template, the
                most specific that matches its name: the one with most characters besides stars; of two such the one with fewer stars,
                then the first by text. Templates are not merged: above, `com.acme.Country` has no statistics. For an entry written in
                several places, the order above holds, and the file of templates comes last. `getCacheManager` reports errors in
                templates.

                A template sets what the application's configuration leaves at the JSR's default. It overrides nothing else, and
                never loaders, writers or listeners. A default that the application set on purpose is indistinguishable: a template
                always applies to the eternal policy, Object types and disabled statistics.

                | entry | written as | meaning |
                | --- | --- | --- |
                """);
        for (TemplateEntry entry : TemplateEntry.values()) {
            text.append("| `").append(entry.key()).append("` | ");
            text.append(entry.writtenAs()).append(" | ").append(entry.meaning()).append(" |\n");
        }
    }

    private static void servers(StringBuilder text) {
        text.append("""

                ## Server processes

                Options of `rowan server`, which runs one server of a cluster. They are given on the command line, in the environment
                (`ROWAN_SCRUB_RATE` for `--scrub-rate`), or in the file that `--options` names (`scrub-rate=4`); the first of these
                wins. Bytes are written as above.

                | option | written as | default | meaning |
                | --- | --- | --- | --- |
                """);
        for (ServerOption option : ServerOption.values()) {
            final String standard = option.defaultText();
            text.append("| `").append(option.flag()).append("` | ");
            text.append(option.written()).append(" | ");
            text.append(standard == null ? "must be given" : standard.isEmpty() ? "none" : '`' + standard + '`');
            text.append(" | ").append(option.meaning()).append(" |\n");
        }
    }

    private static void section(StringBuilder text, Setting.Scope scope, String title, String preface) {
        text.append(title).append("\n\n").append(preface).append("\n\n");
        text.append("| setting | written as | default | meaning |\n| --- | --- | --- | --- |\n");
        for (Setting setting : Setting.values()) {
            if (setting.scope() == scope) {
                text.append("| `").append(setting.parameter()).append("` | ");
                text.append(setting.form().description()).append(" | ");
                text.append(setting.defaultText().isEmpty() ? "none" : '`' + setting.defaultText() + '`');
                text.append(" | ").append(setting.meaning()).append(" |\n");
            }
        }
        text.append('\n');
    }
}
