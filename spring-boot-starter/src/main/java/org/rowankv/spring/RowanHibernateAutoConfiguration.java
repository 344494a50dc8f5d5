package org.rowankv.spring;

import java.util.Map;
import java.util.Set;
import javax.cache.CacheManager;
import org.hibernate.SessionFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration;
import org.springframework.boot.autoconfigure.orm.jpa.HibernatePropertiesCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.ResourceLoader;

/**
 * The store as Hibernate's second-level cache, where the application sets {@code hibernate.cache.region.factory_class}
 * to {@code jcache} and nothing about the provider. Regions have the prefix {@code hibernate} unless it sets another.
 */
@AutoConfiguration(after = RowanAutoConfiguration.class, before = HibernateJpaAutoConfiguration.class)
@ConditionalOnClass({SessionFactory.class, HibernatePropertiesCustomizer.class})
@ConditionalOnBean(ManagerConfiguration.class)
public class RowanHibernateAutoConfiguration {
    private static final String FACTORY = "hibernate.cache.region.factory_class";
    private static final String MANAGER = "hibernate.javax.cache.cache_manager";
    private static final String PREFIX = "hibernate.cache.region_prefix";
    private static final Set<String> CHOICES =
            Set.of(MANAGER, "hibernate.javax.cache.uri", "hibernate.javax.cache.provider");

    /** For the application context. */
    public RowanHibernateAutoConfiguration() {}

    /** Hibernate closes its manager, so that it needs one of its own; both have the same store. */
    @Bean
    HibernatePropertiesCustomizer rowanHibernateProperties(
            ManagerConfiguration configuration, CacheFailures failures, ResourceLoader resources) {
        return properties -> {
            if (isOurs(properties)) {
                final CacheManager manager = open(configuration.forHibernate(), resources);
                properties.put(
                        MANAGER, configuration.isRemote() ? new HibernateRegions(failures).of(manager) : manager);
                properties.putIfAbsent(PREFIX, "hibernate");
            }
        };
    }

    private static boolean isOurs(Map<String, Object> properties) {
        return String.valueOf(properties.get(FACTORY)).contains("jcache")
                && CHOICES.stream().noneMatch(properties::containsKey);
    }

    private static CacheManager open(ManagerConfiguration configuration, ResourceLoader resources) {
        final ClassLoader loader = resources.getClassLoader();
        return configuration.open(loader == null ? RowanHibernateAutoConfiguration.class.getClassLoader() : loader);
    }
}
