package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.RowanCacheManager;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.orm.jpa.HibernatePropertiesCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

final class RowanHibernateAutoConfigurationTest {
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

    @Test
    void shouldLeaveAnotherChoiceAlone() {
        customized(Map.of(), properties -> assertThat(properties).isEmpty());
        customized(
                Map.of("hibernate.cache.region.factory_class", "jcache", "hibernate.javax.cache.uri", "ehcache.xml"),
                properties -> assertThat(properties).hasSize(2));
    }
}
