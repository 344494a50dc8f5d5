package org.rowankv.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.List;
import javax.cache.CacheManager;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.runtime.SystemClock;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.cache.CacheAutoConfiguration;
import org.springframework.boot.autoconfigure.cache.CacheManagerCustomizer;
import org.springframework.boot.autoconfigure.cache.CacheManagerCustomizers;
import org.springframework.boot.autoconfigure.cache.CacheProperties;
import org.springframework.boot.autoconfigure.cache.JCacheManagerCustomizer;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.cache.annotation.CachingConfigurer;
import org.springframework.cache.interceptor.CacheAspectSupport;
import org.springframework.cache.interceptor.CacheErrorHandler;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/**
 * The cache managers of an application, JCache's and Spring's, unless it has its own or sets {@code spring.cache.type} to
 * something other than jcache.
 */
@AutoConfiguration(before = CacheAutoConfiguration.class)
@ConditionalOnClass({CacheManager.class, RowanCachingProvider.class})
@ConditionalOnProperty(prefix = "rowan", name = "enabled", matchIfMissing = true)
@ConditionalOnProperty(prefix = "spring.cache", name = "type", havingValue = "jcache", matchIfMissing = true)
@EnableConfigurationProperties({RowanProperties.class, CacheProperties.class})
public class RowanAutoConfiguration {
    /** For the application context. */
    public RowanAutoConfiguration() {}

    @Bean
    ManagerConfiguration rowanManagerConfiguration(
            RowanProperties properties, CacheProperties spring, BeanFactory beans) {
        final List<String> packages =
                AutoConfigurationPackages.has(beans) ? AutoConfigurationPackages.get(beans) : List.of();
        return ManagerConfiguration.of(properties, uriOf(spring), packages);
    }

    private static @Nullable URI uriOf(CacheProperties spring) {
        final Resource config = spring.getJcache().getConfig();
        try {
            return config == null ? null : spring.resolveConfigLocation(config).getURI();
        } catch (IOException e) {
            throw new UncheckedIOException("spring.cache.jcache.config cannot be read", e);
        }
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(CacheManager.class)
    RowanCacheManager jCacheCacheManager(
            ManagerConfiguration configuration,
            ResourceLoader resources,
            ObjectProvider<JCacheManagerCustomizer> customizers) {
        final ClassLoader loader = resources.getClassLoader();
        final RowanCacheManager manager =
                configuration.open(loader == null ? RowanAutoConfiguration.class.getClassLoader() : loader);
        customizers.orderedStream().forEach(each -> each.customize(manager));
        return manager;
    }

    @Bean
    CacheFailures rowanCacheFailures(RowanProperties properties) {
        return new CacheFailures(properties.cacheErrors(), SystemClock.INSTANCE);
    }

    /** A read in this JVM is over at once; one of a cluster may wait for servers. */
    @Bean
    CacheReads rowanCacheReads(ManagerConfiguration configuration) {
        return configuration.isRemote() ? CacheReads.inThreads() : CacheReads.ofTheCaller();
    }

    /** The cache abstraction, where the application enables it. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(CacheAspectSupport.class)
    @ConditionalOnMissingBean(value = org.springframework.cache.CacheManager.class, name = "cacheResolver")
    static class CacheAbstraction {
        @Bean
        RowanSpringCacheManager cacheManager(
                CacheManager manager,
                CacheFailures failures,
                CacheReads reads,
                CacheProperties spring,
                ObjectProvider<CacheManagerCustomizer<?>> customizers,
                ObjectProvider<CacheCreationListener> listeners) {
            final RowanSpringCacheManager created = new RowanSpringCacheManager(
                    manager,
                    failures,
                    reads,
                    spring.getCacheNames(),
                    cache -> listeners.orderedStream().forEach(listener -> listener.created(cache)));
            return new CacheManagerCustomizers(customizers.orderedStream().toList()).customize(created);
        }

        @Bean
        @ConditionalOnMissingBean
        CacheErrorHandler cacheErrorHandler(CacheFailures failures) {
            return new RowanCacheErrorHandler(failures);
        }

        /** Made long before other beans, with the interceptors. */
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        @ConditionalOnMissingBean
        static CachingConfigurer rowanCachingConfigurer(ObjectProvider<CacheErrorHandler> handlers) {
            return new CachingConfigurer() {
                @Override
                public CacheErrorHandler errorHandler() {
                    return new DeferredErrorHandler(handlers::getObject);
                }
            };
        }
    }
}
