package org.rowankv.jcache.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.cache.CacheException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Configuration files, named stores, and which source of a setting counts. */
final class SettingsFileTest {
    @TempDir
    private Path temporary;

    private final Properties manager = new Properties();
    private final Properties system = new Properties();
    private final Map<String, String> environment = new HashMap<>();
    private Path file;

    @BeforeEach
    void name() {
        file = temporary.resolve("rowan.properties");
    }

    private void write(String... lines) throws IOException {
        Files.write(file, List.of(lines));
    }

    /** Of an application that has the directory on its class path, and nothing else. */
    private ClassLoader loader() throws IOException {
        return new URLClassLoader(new URL[] {temporary.toUri().toURL()}, null);
    }

    private StoreSettings settings(String uri) throws IOException {
        return settings(URI.create(uri));
    }

    private StoreSettings settings(URI uri) throws IOException {
        return StoreSettings.of(uri, new SettingSources(manager, system, environment, loader()));
    }

    private URI defaultUri() throws IOException {
        return StoreSettings.defaultUri(new SettingSources(manager, system, environment, loader()));
    }

    @Test
    void shouldReadAFileByEachKindOfUri() throws IOException {
        write("# ein Kommentar", "name = größe", "allowed-classes=com.acme.**", "template.books.max-entries = 7");
        final Path jar = temporary.resolve("app.jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out)) {
            entries.putNextEntry(new ZipEntry("conf/rowan.properties"));
            entries.write(Files.readAllBytes(file));
        }
        for (String uri : new String[] {
            file.toUri().toString(),
            "classpath:rowan.properties",
            "classpath:/rowan.properties",
            "jar:" + jar.toUri() + "!/conf/rowan.properties"
        }) {
            final StoreSettings settings = settings(uri);
            assertThat(settings.text(Setting.NAME)).as(uri).isEqualTo("größe");
            assertThat(settings.text(Setting.ALLOWED_CLASSES)).isEqualTo("com.acme.**");
            assertThat(settings.templates().find("books").limit().maxEntries()).isEqualTo(7);
            assertThat(settings.addresses()).isEmpty();
        }
    }

    @Test
    void shouldReadAFileAgainThatHasChanged() throws IOException {
        write("workers = 5");
        assertThat(settings(file.toUri()).count(Setting.WORKERS)).isEqualTo(5);
        write("workers = 6");
        assertThat(settings(file.toUri()).count(Setting.WORKERS)).isEqualTo(6);
    }

    @Test
    void shouldTakeTheStoreOfAFileFromItsUri() throws IOException {
        write("uri = rowan://h1:7;h2:8/?listener-backlog=5", "operation-timeout = 3", "dir = ignored");
        final StoreSettings remote = settings(file.toUri());
        assertThat(remote.addresses()).containsExactly("h1:7", "h2:8");
        assertThat(remote.count(Setting.LISTENER_BACKLOG)).isEqualTo(5);
        assertThat(remote.count(Setting.OPERATION_TIMEOUT)).isEqualTo(3);
        write("uri = rowan:shop", "dir = /of/another", "stores.shop.dir = /of/shop", "stores.shop.workers = 9");
        final StoreSettings named = settings(file.toUri());
        assertThat(named.text(Setting.DIR)).isEqualTo("/of/shop");
        assertThat(named.count(Setting.WORKERS)).isEqualTo(9);
    }

    /** From the source that counts most to the one that counts least. */
    @Test
    void shouldTakeTheUriBeforePropertiesBeforeTheSystemBeforeTheEnvironmentBeforeTheFile() throws IOException {
        write("stores.shop.workers = 5", "workers = 55", "stores.shop.dir = /a");
        assertThat(settings("rowan:shop").count(Setting.WORKERS)).isEqualTo(5);
        environment.put("ROWAN_WORKERS", "44");
        assertThat(settings("rowan:shop").count(Setting.WORKERS))
                .as("what is said of this store counts more")
                .isEqualTo(5);
        environment.put("ROWAN_STORES_SHOP_WORKERS", "4");
        assertThat(settings("rowan:shop").count(Setting.WORKERS)).isEqualTo(4);
        system.setProperty("rowan.stores.shop.workers", "3");
        assertThat(settings("rowan:shop").count(Setting.WORKERS)).isEqualTo(3);
        manager.setProperty("rowan.stores.shop.workers", "2");
        assertThat(settings("rowan:shop").count(Setting.WORKERS)).isEqualTo(2);
        assertThat(settings("rowan:shop?workers=1").count(Setting.WORKERS)).isEqualTo(1);
    }

    @Test
    void shouldTakeTheEnvironmentBeforeTheFileAlone() throws IOException {
        write("allowed-classes = of.file", "store-by-reference = copy", "template.a.create = true");
        environment.put("ROWAN_ALLOWED_CLASSES", "of.environment");
        environment.put("ROWAN_STORE_BY_REFERENCE", "");
        environment.put("ROWAN_UNHEARD_OF", "x");
        StoreSettings settings = settings(file.toUri());
        assertThat(settings.text(Setting.ALLOWED_CLASSES)).isEqualTo("of.environment");
        assertThat(settings.text(Setting.STORE_BY_REFERENCE))
                .as("empty means unset")
                .isEqualTo("copy");
        system.setProperty("rowan.allowed-classes", "of.system");
        system.setProperty("rowan.template.a.create", "false");
        settings = settings(file.toUri());
        assertThat(settings.text(Setting.ALLOWED_CLASSES)).isEqualTo("of.system");
        assertThat(settings.templates().find("a").creates()).isFalse();
        environment.put("ROWAN_WORKERS", "x");
        assertThatThrownBy(() -> settings(file.toUri()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("workers");
    }

    @Test
    void shouldKeepNamedStoresApart() throws IOException {
        write("dir = /general", "capacity = 64m", "stores.a.workers = 4", "stores.b.workers = 4", "stores.c.dir = /c");
        assertThat(settings("rowan:a").directory())
                .as("the general directory is another store's")
                .isNull();
        assertThat(settings("rowan:a").bytes(Setting.CAPACITY)).isEqualTo(64 << 20);
        assertThat(settings("rowan:a").storeIdentity())
                .isEqualTo(settings("rowan:a").storeIdentity())
                .isNotEqualTo(settings("rowan:b").storeIdentity());
        assertThat(settings("rowan:c").directory()).isEqualTo(Path.of("/c"));
        manager.setProperty("rowan.stores.far.uri", "rowan://h:7/?operation-timeout=4");
        assertThat(settings("rowan:far").addresses()).containsExactly("h:7");
        assertThat(settings("rowan:far").count(Setting.OPERATION_TIMEOUT)).isEqualTo(4);
        assertThatThrownBy(() -> settings("rowan:far?dir=/x"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("\"dir\" is a setting of the servers");
    }

    /** A store that an application names in full must not become another one because a file lies on its class path. */
    @Test
    void shouldNotReadAFileForAUriThatNamesNone() throws IOException {
        write("dir = /production", "workers = 5");
        assertThat(settings("rowan:embedded").directory()).isNull();
        assertThat(settings("rowan://h:7/").count(Setting.WORKERS)).isZero();
    }

    @Test
    void shouldFindTheDefaultUriInTheSystemBeforeTheEnvironmentBeforeTheClassPath() throws IOException {
        assertThat(defaultUri()).isEqualTo(StoreSettings.DEFAULT_URI);
        write("workers = 5");
        assertThat(defaultUri()).isEqualTo(URI.create("classpath:rowan.properties"));
        environment.put("ROWAN_URI", "rowan:shop");
        assertThat(defaultUri()).isEqualTo(URI.create("rowan:shop"));
        system.setProperty("rowan.uri", "rowan://h:7/");
        assertThat(defaultUri()).isEqualTo(URI.create("rowan://h:7/"));
    }

    @ParameterizedTest
    @CsvSource({
        "rowan.workers = 5, 'has \"rowan.workers\"; in a file it is written without rowan.'",
        "workres = 5, unknown setting \"workres\"",
        "workers = many, workers",
        "uri = file:/etc/other.properties, names another file",
        "uri = a b, is no URI",
        "uri = rowan:missing, 'no store is called \"missing\"'",
        "template.books.colour = 1, colour"
    })
    void shouldSayWhatIsWrongInAFile(String line, String message) throws IOException {
        write(line);
        assertThatThrownBy(() -> settings(file.toUri()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining(message);
    }

    @Test
    void shouldSayWhatIsWrongWithANamedStore() throws IOException {
        assertThatThrownBy(() -> settings("rowan:shop"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("rowan:shop")
                .hasMessageContaining("rowan.stores.shop.dir");
        system.setProperty("rowan.stores.shop.workres", "5");
        assertThatThrownBy(() -> settings("rowan:shop"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("\"rowan.stores.shop.workres\"");
        assertThat(settings("rowan:embedded")).as("another application's").isNotNull();
        system.setProperty("rowan.stores.loop.uri", "rowan:loop");
        assertThatThrownBy(() -> settings("rowan:loop"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("has to be rowan:embedded or rowan://");
        manager.setProperty("rowan.uri", "rowan://h:7/");
        assertThatThrownBy(() -> settings("rowan:embedded"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("pass that URI to getCacheManager");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "classpath:missing.properties",
                "file:/missing/rowan.properties",
                "file:rowan.properties",
                "file://elsewhere/rowan.properties",
                "jar:http://elsewhere/app.jar!/rowan.properties",
                "jar:file:/missing.jar!/rowan.properties"
            })
    void shouldNameAFileThatCannotBeRead(String uri) {
        assertThatThrownBy(() -> settings(uri))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("the configuration file " + uri + " cannot be read");
    }

    @Test
    void shouldReadUtf8() throws IOException {
        Files.write(file, "name=é".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(settings(file.toUri()).text(Setting.NAME)).as("not Latin-1").isEqualTo("\ufffd");
    }
}
