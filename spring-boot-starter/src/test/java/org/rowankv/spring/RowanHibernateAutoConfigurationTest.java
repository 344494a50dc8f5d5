package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import javax.cache.Cache;
import javax.cache.CacheManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.jcache.RowanCacheManager;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.orm.jpa.HibernatePropertiesCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

final class RowanHibernateAutoConfigurationTest {
    @TempDir
    Path directory;

    private static final String MANAGER = "hibernate.javax.cache.cache_manager";

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(RowanAutoConfiguration.class, RowanHibernateAutoConfiguration.class))
            .withPropertyValues("rowan.settings.capacity=16m", "rowan.settings.name=${random.uuid}");

    private void customized(Map<String, Object> given, Consumer<Map<String, Object>> then) {
        application.run(context -> {
            final Map<String, Object> properties = new HashMap<>(given);
            context.getBean(HibernatePropertiesCustomizer.class).customize(properties);
            then.accept(properties);
        });
    }

    /** Hibernate closes the manager that it is given. */
    @Test
    void shouldGiveHibernateAManagerOfItsOwn() {
        application.run(context -> {
            final Map<String, Object> properties =
                    new HashMap<>(Map.of("hibernate.cache.region.factory_class", "jcache"));
            context.getBean(HibernatePropertiesCustomizer.class).customize(properties);

            assertThat(properties).containsEntry("hibernate.cache.region_prefix", "hibernate");
            ((RowanCacheManager) properties.get(MANAGER)).close();
            assertThat(context.getBean(RowanCacheManager.class).isClosed()).isFalse();
        });
    }

    /** The database may be another one than at the last start. */
    @Test
    void shouldEmptyTheRegionsAtEachStartAndKeepTheCaches() {
        final ApplicationContextRunner kept = application.withPropertyValues("rowan.dir=" + directory);
        for (String expected : new String[] {null, "v"}) {
            kept.run(context -> {
                final Map<String, Object> properties =
                        new HashMap<>(Map.of("hibernate.cache.region.factory_class", "jcache"));
                context.getBean(HibernatePropertiesCustomizer.class).customize(properties);
                try (CacheManager ofHibernate = (CacheManager) properties.get(MANAGER)) {
                    final Cache<String, String> region = ofHibernate.getCache("hibernate.region");
                    assertThat(region.get("k")).as("of a region").isNull();
                    region.put("k", "v");
                }
                final Cache<String, String> books =
                        context.getBean(RowanCacheManager.class).getCache("books");
                assertThat(books.get("k")).as("of a cache").isEqualTo(expected);
                books.put("k", "v");
            });
        }
    }

    /** Without the time of a table's last change Hibernate takes old results of queries for new. */
    @Test
    void shouldNotEvictWhenTablesWereChanged() {
        application.run(context -> {
            final ManagerConfiguration configuration =
                    context.getBean(ManagerConfiguration.class).forHibernate();
            assertThat(configuration.properties())
                    .containsEntry("rowan.template.*.when-full", "evict")
                    .containsEntry("rowan.template.*default-update-timestamps-region.when-full", "refuse");
        });
    }

    @Test
    void shouldLeaveAnotherChoiceAlone() {
        customized(Map.of(), properties -> assertThat(properties).isEmpty());
        customized(
                Map.of("hibernate.cache.region.factory_class", "jcache", "hibernate.javax.cache.uri", "ehcache.xml"),
                properties -> assertThat(properties).hasSize(2));
    }
}
